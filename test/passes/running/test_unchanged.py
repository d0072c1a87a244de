"""What passes say of a module that they left as it was."""

import re
from collections.abc import Iterator
from pathlib import Path

from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import DovetailError
from dovetail.passes.base import Pass
from dovetail.passes.running.parse import parse_pipeline

_RUN = re.compile(r"dovetail-opt %s.* --pass-pipeline='?([a-z-]+)[' ]")  # of one pass
_FILES = sorted(Path(__file__).parents[1].rglob("*.mlir"))


def _said_to_be_unchanged(text: str, pipeline: str) -> Iterator[tuple[str, bool]]:
    """The passes of `pipeline` that say so, up to the first that refuses the module, and whether it is."""
    try:
        module = parse_module(text, make_context())
        with module.context, ir.Location.unknown():
            for each in parse_pipeline(pipeline, module.context):
                before = str(module)
                if each.run(module) is False and isinstance(each, Pass):
                    yield each.name, str(module) == before
    except (DovetailError, ir.MLIRError):
        return


def test_a_module_said_to_be_unchanged_is():
    """A pass that rewrites a module and says that it did not: what it made is not verified."""
    said = [
        said
        for text in (path.read_text(encoding="utf-8") for path in _FILES)
        for pipeline in _RUN.findall(text)
        for part in text.split("// -----\n")
        for said in _said_to_be_unchanged(part, pipeline)
    ]
    assert {name for name, is_so in said if not is_so} == set()
    assert len({name for name, _ in said}) > 20  # passes
