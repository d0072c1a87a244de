"""Which passes lit runs on tensors of open sizes."""

import re

import pytest

from dovetail.passes import pipeline  # noqa: F401 (registers all passes)
from dovetail.passes.base import registry

OPEN = re.compile(r"tensor<\[[\d,]*\?")
# In a pipeline or as an option of its own, but not the option of a pass.
NAME = re.compile(r"(?<![a-z=])[a-z]+(?:-[a-z]+)*(?![a-z=-])")


@pytest.mark.parametrize("name", [name for name in registry() if not name.startswith("test-")])
def test_pass_is_run_on_open_sizes(name, repository):
    """A pass takes a size that is a value for a number, and no lit test shows it a module that has one."""
    texts = (path.read_text(encoding="utf-8") for path in (repository / "test").rglob("*.mlir"))
    runs = (line for text in texts if OPEN.search(text) for line in text.splitlines() if "RUN:" in line)
    is_run = any(name in NAME.findall(line) for line in runs)
    assert is_run, (
        f"no lit test runs {name} on a tensor of open sizes: add one, as in test/passes/cleanup/open_sizes.mlir"
    )
