"""A folder says what lives there and what may not, and what is another project's stands in one place."""

import ast
import functools
import re
from pathlib import Path

import pytest

from test.layering.test_imports import ALLOWED, FOLDERS, imported_modules

HOMES = {
    "iree.compiler": ("backends/worker/",),
    "iree.runtime": ("backends/compiling/output_check.py", "runtime/launches/iree_executable.py"),
    "cuda": ("runtime/cuda/",),
    "torch._functorch": (
        "frontend/capture.py",
        "frontend/described.py",
        "frontend/trace/open_tangents.py",
        "frontend/program_key/process.py",
        "runtime/autograd/batched.py",
    ),
    "torch._C._dynamo": (
        "backends/python/memory.py",
        "dovetail/untraced.py",
        "frontend/program_key/process.py",
        "runtime/checks/alike.py",
        "runtime/cuda/torch_streams.py",
    ),
    "ortools": ("passes/partition/", "passes/memory/"),
}
"""Which files alone use a library, or a private part of PyTorch."""


def packages(root: Path) -> list[Path]:
    """The folders of the compiler's own packages."""
    return sorted(path for folder in (*ALLOWED, "dovetail") for path in (root / folder).rglob("__init__.py"))


def test_each_folder_says_what_lives_there(repository: Path) -> None:
    """Catches a folder of which a reader has to guess what belongs into it, and what does not."""
    for path in packages(repository):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        sentences = re.findall(r"[.](?=\s|$)", text)
        assert len(sentences) >= 2, f"{path.relative_to(repository)}: expected two sentences, got {text!r}"


@functools.cache
def imports(root: Path) -> dict[str, list[str]]:
    """What each file of the compiler imports, by its path from `root`."""
    paths = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py"))
    return {path.relative_to(root).as_posix(): [name for _, name in imported_modules(path, root)] for path in paths}


@pytest.mark.parametrize("library", HOMES)
def test_libraries_stand_in_one_place(repository: Path, library: str) -> None:
    """Catches a second place that has to follow a library, or one that loads it where it should not be needed."""
    found = [
        path
        for path, modules in imports(repository).items()
        if any(module == library or module.startswith(f"{library}.") for module in modules)
    ]
    assert found
    assert not [path for path in found if not path.startswith(HOMES[library])]
