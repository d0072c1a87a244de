"""Pass `save-in-branches`: a branch hands its backward what that would compute again."""

from collections import Counter
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_BACKWARD, SIZES
from dovetail.dialects.building.cloning import set_signature
from dovetail.dialects.control_flow import COND, PARTS, called_subgraphs, control_flow_name
from dovetail.dialects.reading import Module, arguments, body, is_used, referred, terminator
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.passes.base import Pass
from dovetail.passes.partition.branch_repeats import Pair, worth_saving
from dovetail.passes.rewriting.constants import constant, full


class SaveInBranchesPass(Pass, name="save-in-branches", runs_at="joint"):
    """Partitions branches: work that the backward of a `cond` would do again is handed over by the forward's branch.

    PyTorch traces the backward of a branch with the branch's forward inside. What of that both compute alike, and no
    cheap op gives, the forward's branch returns, for the backward's to take; in its place, the other branch returns
    zeros, none of them where sizes are open. Random numbers are drawn again, as eager's backward draws them.
    Functions that several ops run stay as they are, and so do branches in branches.

    Before:  `%1 = cond(%p, %x) {then = @f}; ...; %2 = cond(%p, %x, %g) {then = @b}`, both with `torch.aten.mm %x, %x`
    After:   `%1:2 = cond(%p, %x) {then = @f}; ...; %2 = cond(%p, %x, %g, %1#1) {then = @b}`, `@f` returns its product
    """

    def run(self, module: ir.Module) -> bool:
        found = Module(module)
        runs = Counter(name for ops in found.bodies.values() for op in ops for name in called_subgraphs(op))
        conds = [op for op in found.ops(found.joint) if control_flow_name(op) == COND]
        conds = [op for op in conds if all(runs[name] == 1 for name in called_subgraphs(op))]
        backward = [op for op in conds if IN_BACKWARD in op.attributes]
        for op in conds:
            twin = next((other for other in backward if op not in backward and _continues(other, op)), None)
            if twin is not None:
                backward.remove(twin)
                _share(op, twin, found.functions)
        return bool(conds)


def _continues(backward: ir.Operation, forward: ir.Operation) -> bool:
    operands = list(backward.operands)
    return operands[0] == forward.operands[0] and all(value in operands for value in forward.operands)


def _share(forward: ir.Operation, backward: ir.Operation, found: dict[str, func.FuncOp]) -> None:
    """Rewrites both calls and their branches, if there is something to save."""
    slots: list[ir.Type] = []
    assigned = {part: _assigned(_pairs(forward, backward, part, found), slots) for part in PARTS[COND]}
    if not slots:
        return
    for part, pairs in assigned.items():
        by_slot = [pairs.get(number) for number in range(len(slots))]
        return_too(found[referred(forward.opview, part)], [pair and pair.forward for pair in by_slot], slots)
        take_too(found[referred(backward.opview, part)], [pair and pair.backward for pair in by_slot], slots)
    made = _replaced(forward, list(forward.operands), [*(value.type for value in forward.results), *slots])
    extra = list(made.results)[-len(slots) :]
    _replaced(backward, [*backward.operands, *extra], [value.type for value in backward.results])


def _pairs(forward: ir.Operation, backward: ir.Operation, part: str, found: dict[str, func.FuncOp]) -> list[Pair]:
    first, second = (found[referred(op.opview, part)] for op in (forward, backward))
    given = dict(zip(list(forward.operands)[1:], arguments(first), strict=True))
    taken = zip(list(backward.operands)[1:], arguments(second), strict=True)
    return worth_saving(first, second, {argument: given[value] for value, argument in taken if value in given})


def _assigned(saved: Sequence[Pair], slots: list[ir.Type]) -> dict[int, Pair]:
    """By the number of a slot, what a branch hands over in it; `slots`, the types of all, get further ones.

    As only one branch runs, both use the same slots where types allow.
    """
    assigned: dict[int, Pair] = {}
    for pair in saved:
        type_ = pair.forward.type
        free = (number for number, slot in enumerate(slots) if slot == type_ and number not in assigned)
        number = next(free, len(slots))
        assigned[number] = pair
        slots += [type_] if number == len(slots) else []
    return assigned


def _replaced(op: ir.Operation, operands: list[ir.Value], results: list[ir.Type]) -> ir.Operation:
    """A call like `op` in its place, of which the first results are `op`'s."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    if SIZES in attributes:
        more = [ir.UnitAttr.get()] * (len(results) - len(op.results))
        attributes[SIZES] = ir.ArrayAttr.get([*ir.ArrayAttr(attributes[SIZES]), *more])
    with op.location, ir.InsertionPoint(op):
        made = ir.Operation.create(op.name, results=results, operands=operands, attributes=attributes)
    for old, new in zip(op.results, made.results, strict=False):
        old.replace_all_uses_with(new)
    op.erase()
    return made


def return_too(branch: func.FuncOp, values: Sequence[ir.Value | None], types: Sequence[ir.Type]) -> None:
    """Makes `branch` return `values` besides; zeros of `types` in place of each None."""
    end = terminator(branch)
    with end.location, ir.InsertionPoint(end):
        more = [_zeros(type_) if value is None else value for value, type_ in zip(values, types, strict=True)]
        results = [*end.operands, *more]
        func.ReturnOp(results)
    end.erase()
    set_signature(branch, [value.type for value in results])


def _zeros(type_: ir.Type) -> ir.Value:
    """What nothing reads, of size 0 where a size is open."""
    return full(type_, constant(0), sizes=[size or 0 for size in require_shaped_info(type_).shape])


def take_too(branch: func.FuncOp, values: Sequence[ir.Value | None], types: Sequence[ir.Type]) -> None:
    """Gives `branch` arguments of `types` besides, in place of its `values`, and drops what nothing uses any more."""
    block = branch.body.blocks[0]
    if "arg_attrs" in branch.attributes:
        stated = [*ir.ArrayAttr(branch.attributes["arg_attrs"]), *[ir.DictAttr.get({})] * len(types)]
        branch.attributes["arg_attrs"] = ir.ArrayAttr.get(stated)
    for value, type_ in zip(values, types, strict=True):
        argument = block.add_argument(type_, branch.location)
        if value is not None:
            value.replace_all_uses_with(argument)
    *ops, end = body(branch)
    set_signature(branch, [value.type for value in end.operands])
    for op in reversed(ops):
        if not is_extern(op) and not is_used(*op.results):
            op.erase()
