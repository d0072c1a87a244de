"""Pass `prove-in-place`: regions write mutated arguments' memory themselves, where that is proved to be safe."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_PLACE, NOT_IN_PLACE
from dovetail.dialects.by_key import by_key
from dovetail.dialects.dovetail import AllocOp, ReadOp, WriteOp
from dovetail.dialects.dovetail.ops.destination import destination
from dovetail.dialects.memory.argument_names import argument_name
from dovetail.dialects.memory.copied_writes import are_independent, is_copied
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, Role, body, is_used, of_class, terminator, users
from dovetail.dialects.sizes.symbols import state_sizes
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.passes.base import Pass
from dovetail.passes.in_place.candidates import Beside, Candidates, Mutation, Update
from dovetail.passes.in_place.cones import Cone, is_own
from dovetail.passes.in_place.plan import UpdatePlan, plan_updates
from dovetail.passes.in_place.update_regions import SourceRegion, UpdateBuilder, build_rest


class ProveInPlacePass(Pass, name="prove-in-place", runs_at="regions"):
    """Moves what computes a mutated argument's new value, where it is pointwise, to a region that updates the argument.

    Such regions come last in `@forward`, one a stage: what else reads the old value has run by then, and nothing that
    can fail comes after the first of them. Each `write` says by which proof its value lies in place already, or why
    not. On a GPU such a region makes results of new values, too, for one launch less. What is proved, and what was
    measured, is in docs/decisions/0012-in-place-proofs.md.

    Before:  `%d = alloc; call @forward_region_0(%x, %g, %d)`, then `write %r, %x`
    After:   `%d = destination %x {proof = "pointwise"}; call @forward_update_0(%g, %d)`, then
             `write %r, %x {dovetail.in_place = "pointwise"}`
    """

    def run(self, module: ir.Module) -> bool:
        found = Module(module)
        if Role.CALL not in found or Role.FORWARD not in found:
            return False
        candidates = Candidates(found)
        writes = [op.opview for op in of_class(found.ops(found.call), WriteOp)]
        answers = [candidates.find(write) for write in writes]
        calls = [(op, found.callee(op)) for op in candidates.region_calls]
        updates = [answer for answer in answers if isinstance(answer, Mutation)]
        # On a GPU a launch costs more than what it computes again; on a CPU it costs nothing.
        results = candidates.results(updates) if device_type(module) == "cuda" else []
        plan = plan_updates([*updates, *results], calls)
        for write, answer in zip(writes, answers, strict=True):
            reason = plan.refused.get(answer) if isinstance(answer, Mutation) else answer
            if reason is not None:
                write.attributes[NOT_IN_PLACE] = ir.StringAttr.get(reason)
        if plan.stages:
            _rewrite(module, found.forward, plan)
        _put_copies_last(found.call, writes)
        return bool(writes or plan.stages)


def _put_copies_last(caller: func.FuncOp, writes: Sequence[WriteOp]) -> None:
    """Writes of whole numbers that are copied come behind those beside them: one call copies all of them."""
    beside = {write.operation for write in writes}
    for is_write, run in groupby(body(caller), beside.__contains__):
        ops = [op.opview for op in run] if is_write else []
        copied = [op.operation for op in ops if is_copied(op)]
        if len(copied) > 1 and are_independent(caller, ops):
            behind = ops[-1].operation
            for op in copied:
                if op != behind:
                    op.move_after(behind)
                    behind = op


def in_place_remarks(module: ir.Module) -> Iterator[str]:
    """For each write that the pass has seen: its location, its argument, and the proof or the reason against it."""
    for caller in Module(module).of(Role.CALL).values():
        for op in of_class(body(caller), WriteOp):
            written = ir.BlockArgument(memory_root(op.opview.ref))
            name = argument_name(written) or f"%arg{written.arg_number}"
            for proof, what in ((IN_PLACE, "is written in place"), (NOT_IN_PLACE, "is copied to")):
                if proof in op.attributes:
                    yield f"{op.location}: remark: {name} {what}: {ir.StringAttr(op.attributes[proof]).value}"


def _rewrite(module: ir.Module, forward: func.FuncOp, plan: UpdatePlan) -> None:
    """Builds the regions anew, without the updates, then those of the updates, and drops what these stand for."""
    end = terminator(forward)
    sources = _sources(plan)
    known: dict[ir.Value, ir.Value] = {}
    for source in sources:
        known |= build_rest(source, end)
    memory = {update: _destination(update, cone, end) for update, cone in plan.updates.items()}
    builder = UpdateBuilder(module, end, memory, known, {})
    for number, stage in enumerate(plan.stages):
        builder.build(f"forward_update_{number}", stage)
    for update, value in builder.updated.items():
        update.own.operands[0] = value
        update.own.move_before(end)
        if isinstance(update, Beside):
            update.known_as.owner.erase()
    for source in sources:
        source.call.erase()
        source.region.operation.erase()
    _drop_unused(forward)


def _sources(plan: UpdatePlan) -> list[SourceRegion]:
    """The regions that compute the updates."""
    found = by_key((update.region, update) for update in plan.updates)
    return [
        SourceRegion(
            region,
            updates[0].call,
            frozenset(update.position for update in updates if update not in plan.kept),
            tuple(value for update in updates for value in plan.updates[update].starts),
        )
        for region, updates in found.items()
    ]


def _destination(update: Update, cone: Cone, end: ir.Operation) -> ir.Value:
    """States the proof of an update, and builds the memory that it is made in; a result's is there."""
    if not isinstance(update, Mutation):
        return update.argument
    proof = "pointwise" if any(is_own(update, value) for value in cone.starts) else "not read"
    update.write.attributes[IN_PLACE] = ir.StringAttr.get(proof)
    with update.write.location, ir.InsertionPoint(end):
        return state_sizes(destination(update.argument, proof).memory, update.value)


def _drop_unused(forward: func.FuncOp) -> None:
    """Erases what only the old calls used."""
    for op in reversed(of_class(body(forward), AllocOp, ReadOp)):
        loads = users(*op.results)
        if all(load.name == LOAD and not is_used(load.results[0]) for load in loads):
            for unused in (*loads, op):
                unused.erase()
