"""`lit -v .` from the repository's root runs every lit test, and nothing else."""

import subprocess
import sys
from pathlib import Path


def _listed(repository: Path, where: str) -> set[str]:
    lit = Path(sys.executable).with_name("lit")
    done = subprocess.run([lit, "--show-tests", where], cwd=repository, capture_output=True, text=True, check=True)
    return {line.partition(" :: ")[2] for line in done.stdout.splitlines() if " :: " in line}


def test_lit_finds_every_test_from_the_root(repository: Path) -> None:
    """Would catch a test that lit leaves out, or files of the environment or a build that it takes for tests."""
    folder = repository / "test"
    files = {path for path in folder.rglob("*.mlir") if "Inputs" not in path.parts and "semantics" not in path.parts}
    python = {path for path in folder.rglob("*.py") if path.read_text(encoding="utf-8").startswith("# RUN:")}
    assert _listed(repository, ".") == {str(path.relative_to(repository)) for path in files | python}
    assert _listed(repository, ".") == _listed(repository, "test")
