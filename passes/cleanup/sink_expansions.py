"""Pass `sink-expansions`: ops that compute elements broadcast by themselves what is expanded to open sizes."""

from torch_mlir import ir

from dovetail.dialects.reading import Module, body, is_used, users
from dovetail.dialects.sizes.symbols import known_sizes, state_sizes
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.torch_facts.types import is_open_type, require_shaped_info, shaped_info, with_dtype
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.pointwise import of_others, pointwise_op
from dovetail.passes.rewriting.rules import create

_EXPAND = "torch.aten.expand"


class SinkExpansionsPass(Pass, name="sink-expansions", runs_at="joint"):
    """Has pointwise ops read a tensor that is expanded to open sizes as it was before, where another has these sizes.

    A region can't make open sizes: what is expanded on the host would be copied for it. The gradient of a mean is
    expanded, divided and multiplied: ops of the expanded tensor alone are computed before it is expanded.

    Before:  `%1 = expand %x, [%n, %m]; %2 = div %1, 8; %3 = mul %2, %y` with `%y` of `[?,?]` and `%x` of `[?,1]`
    After:   `%2 = div %x, 8; %3 = mul %2, %y`
    """

    def run(self, module: ir.Module) -> bool:
        ops = body(Module(module).joint)
        waiting = [op for op in ops if op.name == _EXPAND and is_open_type(op.results[0].type)]
        for expansion in waiting:  # what is erased on the way is not read again
            waiting += _sink(expansion)
        return bool(waiting)


def _sink(expansion: ir.Operation) -> list[ir.Operation]:
    """Gives the expansions that stand behind what is now computed before this one."""
    expanded, own = expansion.results[0], expansion.operands[0]
    if known_sizes(own) is None or known_sizes(expanded) is None:
        return []
    following: list[ir.Operation] = []
    for user in dict.fromkeys(users(expanded)):
        if not _computes_elements(user) or is_pinned(user) or not _keeps_type(user, expanded, own):
            continue
        operands = [own if operand == expanded else operand for operand in user.operands]
        others = [operand for operand in user.operands if operand != expanded and shaped_info(operand.type) is not None]
        sizes = known_sizes(user.results[0])
        if sizes is not None and any(known_sizes(other) == sizes for other in others):
            for index, operand in enumerate(operands):
                user.operands[index] = operand
        elif not any(require_shaped_info(operand.type).shape for operand in others):
            following += _compute_before(user, operands, expansion)
    if not is_used(expanded):
        expansion.erase()
    return following


def _compute_before(op: ir.Operation, operands: list[ir.Value], expansion: ir.Operation) -> list[ir.Operation]:
    """Expands what `op` computes of `operands`, where only ops on elements take it: its memory may be observed."""
    result, own = op.results[0], expansion.operands[0]
    if not all(map(_computes_elements, users(result))):
        return []
    with op.location, ir.InsertionPoint(op):
        type_ = with_dtype(own.type, require_shaped_info(result.type).dtype)
        made = of_others(op, operands, type_, known_sizes(own) or ())
        expanded = state_sizes(create(_EXPAND, [made, *list(expansion.operands)[1:]], result.type), result)
    result.replace_all_uses_with(expanded)
    op.erase()
    return [expanded.owner]


def _computes_elements(op: ir.Operation) -> bool:
    return len(op.results) == 1 and pointwise_op(op.results[0]) is not None


def _keeps_type(op: ir.Operation, expanded: ir.Value, own: ir.Value) -> bool:
    """Whether the type of `op`'s result is the same of `own`: one without dimensions gives way to those of others."""
    infos = [shaped_info(operand.type) for operand in op.operands]
    dtypes = {info.dtype for info in infos if info is not None}
    return bool(require_shaped_info(own.type).shape) or len(dtypes) == 1
