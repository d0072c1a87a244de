"""Pass `pin-compared-values`: what is compared with what comes from it is computed once."""

from torch_mlir import ir

from dovetail.dialects.memory.roots import is_view
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.recompute import pin
from dovetail.passes.base import Pass
from dovetail.passes.exactness.value_flow import ValueFlow, flows
from dovetail.passes.exactness.ways import ways


class PinComparedValuesPass(Pass, name="pin-compared-values", runs_at="joint"):
    """Says `dovetail.pinned` of ops whose result an exact comparison meets in two ways.

    The gradient of `amax` asks which elements equal the maximum. If the maximum is of one computation of the elements
    and the comparison of another, of which a last bit differs, none does, and the gradient is NaN. So where a
    comparison, a rounding, an index or an order comes from one value by two ways, that value is computed once: the
    partition saves it, or what was decided, and regions end with it. Values whose bits are the same wherever they are
    computed are not pinned. Two ways end where many numbers are blended into one, by a sum or a product: nothing needs
    to be equal any more. docs/decisions/0025-compared-values-are-computed-once.md has the rest.

    Before:  `%1 = torch.aten.tanh %0; %2 = torch.aten.amax %1, ...; %3 = torch.aten.eq.Tensor %1, %2`
    After:   `%1 = torch.aten.tanh %0 {dovetail.pinned}; ...`
    """

    def run(self, module: ir.Module) -> bool:
        is_changed = False
        for flow in flows(module):
            for index, step in enumerate(flow.steps):
                found = ways(flow, index, is_once=lambda _: True) if step.decided_by else {}
                for each in (each for each, by in found.items() if len(by) > 1):
                    _pin(flow, each)
                    is_changed = True
        return is_changed


def _pin(flow: ValueFlow, index: int) -> None:
    """Pins what computes the memory that step `index` shows."""
    op, operands = flow.steps[index].op, flow.steps[index].comes_from
    if op is None or is_extern(op):
        return  # memory already
    if not is_view(op):
        pin(op)
        return
    for operand in operands:
        if flow.steps[operand].varies:
            _pin(flow, operand)
