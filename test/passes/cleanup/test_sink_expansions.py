"""What sinking an expansion erases is not read again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import body
from dovetail.passes.cleanup import sink_expansions


class _Unread(list):
    """Ops of a block, none of which may be read once it is erased."""

    def __iter__(self) -> Iterator[ir.Operation]:
        block = self[0].block
        for each in super().__iter__():
            assert any(each == op.operation for op in block.operations), "reads an op that the pass has erased"
            yield each


def test_reads_nothing_that_it_erased(monkeypatch: pytest.MonkeyPatch):
    """Catches a list of ops that the pass goes over while it erases some that stand behind: the process crashed, where
    their memory held something else by then."""
    monkeypatch.setattr(sink_expansions, "body", lambda function: _Unread(body(function)))
    text = Path(__file__).with_name("sink_expansions.mlir").read_text(encoding="utf-8")
    module = parse_module(text, make_context())
    with module.context, ir.Location.unknown():
        assert sink_expansions.SinkExpansionsPass().run(module)
