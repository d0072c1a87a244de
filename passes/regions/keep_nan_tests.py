"""Pass `keep-nan-tests`: a value compared with itself, in a form that no canonicalization takes for true."""

from torch_mlir import ir

from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.rules import apply_rules, create


class KeepNanTestsPass(Pass, name="keep-nan-tests", runs_at="program"):
    """Asks `x >= x` for `x == x` where x may be NaN: torch-mlir folds an `eq` of one value to true, whatever its type.

    It does so when IREE takes a region in. `isfinite` and every `x == x` in a program are such tests.

    Before:  `%1 = torch.aten.eq.Tensor %0, %0`
    After:   `%1 = torch.aten.ge.Tensor %0, %0`
    """

    def run(self, module: ir.Module) -> bool:
        return apply_rules(module, {"torch.aten.eq.Tensor": _ordered}, takes_open=True)


def _ordered(op: ir.Operation) -> ir.Value | None:
    left, right = op.operands
    if left != right or not require_shaped_info(left.type).is_floating_point:
        return None
    return create("torch.aten.ge.Tensor", [left, right], op.results[0].type)
