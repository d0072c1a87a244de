"""Every pass can be asked for by its name."""

import re
from pathlib import Path

from dovetail.passes import pipeline  # noqa: F401 (registers all passes)
from dovetail.passes.base import registry

NAMED = re.compile(r'^class \w+\(Pass, name="([a-z-]+)"', re.MULTILINE)


def test_every_pass_is_registered(repository: Path) -> None:
    """Catches a pass that nothing imports: `dovetail-opt` would not know its name."""
    texts = [path.read_text(encoding="utf-8") for path in (repository / "passes").glob("*/*.py")]
    named = {name for text in texts for name in NAMED.findall(text)}
    assert named
    assert named <= set(registry()), f"passes/pipeline.py imports no file of {named - set(registry())}"
