"""Facts of open sizes, where no text is read: `size_facts_invalid.mlir` has those of texts."""

import pytest
from torch_mlir import ir

from dovetail.dialects.attributes import HINTS
from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import PassError
from dovetail.passes.levels.verify_level import VerifyLevelPass


def test_passes_are_checked_too():
    """Catches a pass that leaves facts which no reader expects: `verify-level` follows it."""
    text = """
module attributes {dovetail.level = "joint"} {
  func.func @joint() attributes {dovetail.role = "joint"} {
    return
  }
}
"""
    module = parse_module(text, make_context())
    VerifyLevelPass().run(module)
    with module.context:
        module.operation.attributes[HINTS] = ir.UnitAttr.get()
    with pytest.raises(PassError, match=r"expects 'dovetail\.hints' to be an array of numbers, got unit"):
        VerifyLevelPass().run(module)
