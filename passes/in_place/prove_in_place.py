"""Pass `prove-in-place`: regions write mutated arguments' memory themselves, where that is proved to be safe."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_PLACE, NAME, NOT_IN_PLACE
from dovetail.dialects.calls import referred, symbol
from dovetail.dialects.dovetail import ReadOp, WriteOp
from dovetail.dialects.dovetail.ops.destination import destination
from dovetail.passes.base import Pass
from dovetail.passes.in_place.candidates import Candidates, Update
from dovetail.passes.in_place.cones import is_own
from dovetail.passes.in_place.plan import Plan, plan_updates
from dovetail.passes.in_place.update_regions import Source, make_update
from dovetail.passes.rewriting.cloning import alias_root, bodies, body, functions, of_class


@dataclass(frozen=True)
class ProveInPlacePass(Pass, name="prove-in-place", runs_at="regions"):
    """Moves what computes a mutated argument's new value, where it is pointwise, to a region that updates the argument.

    Such regions come last in `@forward`, one a stage: what else reads the old value has run by then, and nothing that
    can fail comes after the first of them. Each `write` says by which proof its value lies in place already, or why
    not. What is proved, and what was measured, is in docs/decisions/0012-in-place-proofs.md.

    Before:  `%d = alloc; call @forward_region_0(%x, %g, %d)`, then `write %r, %x`
    After:   `%d = destination %x {proof = "pointwise"}; call @forward_update_0(%g, %d)`, then
             `write %r, %x {dovetail.in_place = "pointwise"}`
    """

    def run(self, module: ir.Module) -> None:
        found = functions(module)
        if "call" not in found or "forward" not in found:
            return
        ops = bodies({name: found[name] for name in ("call", "forward")})
        candidates = Candidates(found, ops)
        writes = [op.opview for op in of_class(ops["call"], WriteOp)]
        answers = [candidates.find(write) for write in writes]
        calls = [(op, found[referred(op.opview, "callee")]) for op in candidates.region_calls]
        plan = plan_updates([answer for answer in answers if isinstance(answer, Update)], calls)
        for write, answer in zip(writes, answers, strict=True):
            reason = plan.refused.get(answer) if isinstance(answer, Update) else answer
            if reason is not None:
                write.attributes[NOT_IN_PLACE] = ir.StringAttr.get(reason)
        if plan.stages:
            _rewrite(module, found["forward"], plan)


def in_place_remarks(module: ir.Module) -> Iterator[str]:
    """For each write that the pass has looked at: its place, its argument, and the proof or the reason against it."""
    caller = functions(module).get("call")
    for op in of_class(body(caller), WriteOp) if caller is not None else ():
        if IN_PLACE in op.attributes:
            yield _remark(caller, op, f"is written in place: {ir.StringAttr(op.attributes[IN_PLACE]).value}")
        elif NOT_IN_PLACE in op.attributes:
            yield _remark(caller, op, f"is copied to: {ir.StringAttr(op.attributes[NOT_IN_PLACE]).value}")


def _remark(caller: func.FuncOp, write: ir.Operation, what: str) -> str:
    number = ir.BlockArgument(alias_root(write.opview.ref)).arg_number
    facts = ir.DictAttr(caller.attributes["arg_attrs"][number]) if "arg_attrs" in caller.attributes else {}
    name = ir.StringAttr(facts[NAME]).value if NAME in facts else f"%arg{number}"
    return f"{write.location}: remark: {name} {what}"


def _regions(updates: Iterable[Update]) -> dict[str, tuple[func.FuncOp, ir.Operation]]:
    """The regions that updates are taken out of, and their calls, by name."""
    return {symbol(each.region): (each.region, each.call) for each in updates}


def _rewrite(module: ir.Module, forward: func.FuncOp, plan: Plan) -> None:
    """Takes the updates out of the regions that compute them, and builds those that make them in place."""
    updates = {each: cone for stage in plan.stages for each, cone in stage.items()}
    end = body(forward)[-1]
    sources = {name: Source(region, call, end) for name, (region, call) in _regions(updates).items()}
    for each in updates.keys() - plan.kept:
        sources[symbol(each.region)].taken.add(each.place)
    for each, cone in updates.items():
        sources[symbol(each.region)].hand_out(cone.inputs)
    memory: dict[Update, ir.Value] = {}
    with ir.InsertionPoint(end):
        for each, cone in updates.items():
            proof = "pointwise" if any(is_own(each, value) for value in cone.inputs) else "not read"
            each.write.attributes[IN_PLACE] = ir.StringAttr.get(proof)
            with each.write.location:
                memory[each] = destination(each.argument, proof).memory
    updated: dict[Update, ir.Value] = {}
    for number, stage in enumerate(plan.stages):
        make_update(module, f"forward_update_{number}", stage, end, sources, memory, updated)
    for each in updates:
        each.own.operands[0] = updated[each]
        each.own.move_before(end)
    host = body(forward)
    # The last one first: it may have used what an earlier one then has no need to make.
    for source in sorted(sources.values(), key=lambda each: host.index(each.call), reverse=True):
        source.prune()
    for op in of_class(body(forward), ReadOp):
        if not any(True for _ in op.results[0].uses):
            op.erase()
