"""What library calls do besides giving results, as the IR states it and PyTorch knows it."""

import pytest
import torch
from torch_mlir import ir

from dovetail.backends.python.emitter import Emitter
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import Module, Role
from dovetail.dialects.statements.effects import Effect, effect_of
from dovetail.errors import ModuleError

KNOWN = {
    torch.ops.aten.bernoulli.p: Effect.DRAWS,
    torch.ops.aten.relu_.default: Effect.WRITES,
    torch.ops.aten.bernoulli_.float: Effect.WRITES,
    torch.ops.aten._assert_async.default: Effect.OTHER,
    torch.ops.aten.mm.default: None,
}


@pytest.mark.parametrize("target", KNOWN, ids=str)
def test_what_pytorch_says(target):
    """Catches an effect that is repeated, or left out, in a replay of a gradient."""
    assert effect_of(target) is KNOWN[target]


@pytest.mark.parametrize(
    "stated", ["", 'dovetail.effect = "writes", ', 'dovetail.effect = "dances", ', "dovetail.effect, "]
)
def test_text_that_hides_an_effect(stated):
    """Catches a module from elsewhere whose random numbers a replay would draw anew: it states no such effect."""
    module = ir.Module.parse(
        f"""
        func.func @call(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> attributes {{dovetail.role = "call"}} {{
          %none = torch.constant.none
          %0 = torch.operator "torch.aten.bernoulli"(%x, %none) {{{stated}dovetail.reason = "effect"}}
              : (!torch.vtensor<[4],f32>, !torch.none) -> !torch.vtensor<[4],f32>
          return %0 : !torch.vtensor<[4],f32>
        }}""",
        make_context(),
    )
    with pytest.raises(ModuleError, match=r"'dovetail.effect' (to be \"draws\"|expects one of \"draws\", \"writes\")"):
        Emitter(Module(module).the(Role.CALL), {}).emit()
