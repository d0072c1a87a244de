"""What launch plans do to the memory of their regions: whoever made them, there is no other evidence.

The pass `verify-launches` asks it of what was compiled, and whoever loads an artifact of what stands there.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLAN
from dovetail.dialects.dovetail import CopyBufferOp, DispatchOp, FillBufferOp, ReuseOp, SubspanOp
from dovetail.dialects.dovetail.ops.subspan import bytes_of
from dovetail.dialects.memory.handed_on import handed_on
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.memory.touches import Touch, is_in_one_loop, is_read_first
from dovetail.dialects.reading import Module, Role, arguments, body, made_by, referred, symbol, users
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.types import is_memory

Broken = tuple[ir.Operation, str]


def shared_arguments(module: Module) -> dict[str, list[tuple[int, int]]]:
    """By each region of which a result lies where an operand dies: the numbers of the operand and of the result."""
    found = {name: [pair for call in calls for pair in _shared_by(call)] for name, calls in module.calls().items()}
    return {name: list(dict.fromkeys(pairs)) for name, pairs in found.items() if pairs}


def _shared_by(call: func.CallOp) -> list[tuple[int, int]]:
    values = list(call.operands)
    made = {index: made_by(value, ReuseOp.OPERATION_NAME) for index, value in enumerate(values)}
    shared = {op.opview.dead: index for index, op in made.items() if op is not None and op.opview.is_shared}
    roots = {index: memory_root(value) for index, value in enumerate(values)} if shared else {}
    return [(index, shared[root]) for index, root in roots.items() if root in shared]


def broken_plans(module: Module) -> Iterator[Broken]:
    """Each plan, or region without one, that does not do to memory what the region's callers count on, and how.

    A plan takes what its region takes, and launches take ranges of memory alone. Sets of bindings of one launch have no
    memory in common. It overwrites results alone, and touches each, but those that the region reads, too, whose old
    value may be the new one: once, in one launch, where others take the new value. One launch alone reads an operand
    where a result lies, too, and nothing writes there before. What must be touched so has no other way to run. Of what
    compiled code does with the memory that it is given, a plan says nothing.
    """
    plans = {referred(plan, PLAN): plan for plan in module.of(Role.PLAN).values()}
    shared = shared_arguments(module)
    for name, region in module.regions.items():
        updated = [ir.BlockArgument(memory).arg_number for memory in handed_on(region).values()]
        pairs, plan = shared.get(name, []), plans.get(name)
        if plan is not None:
            yield from _broken_plan(plan, region, updated, pairs)
            continue
        if updated:
            message = f"'@{name}' has no plan, but takes new values of arguments that it updates in one loop alone"
            yield region.operation, message
        for read, written in pairs:
            message = f"'@{name}' has no plan, but argument {written}, a result, lies where it reads argument {read}"
            yield region.operation, message


def _broken_plan(
    plan: func.FuncOp, region: func.FuncOp, updated: Sequence[int], shared: Sequence[tuple[int, int]]
) -> Iterator[Broken]:
    op, name, of = plan.operation, f"'@{symbol(plan)}'", f"of '@{symbol(region)}'"
    if plan.type != region.type:
        yield op, f"{name} takes {plan.type}, its region '@{symbol(region)}' takes {region.type}"
        return
    if without_range := [step for step in body(plan) if not all(map(_is_range, _bound(step)))]:
        yield without_range[0], f"takes other memory than the results of '{SubspanOp.OPERATION_NAME}'"
        return
    yield from _bound_twice(plan)
    yield from _overwritten(plan)
    touches, overwritten = _touches(plan), _written(plan)
    given = arguments(plan)
    for index, argument in enumerate(arguments(region)):
        if not is_memory(argument) or given[index] in overwritten:
            continue
        is_held = any(user.name == LOAD for user in users(argument))
        if not is_held and bytes_of(argument) != 0:
            yield op, f"{name} never writes argument {index} {of}, a result"
    for index in updated:
        touching = touches[given[index]]
        if not is_in_one_loop(touching):
            yield op, f"{name} touches argument {index} {of} {len(touching)} times, whose new value others take"
    for read, written in shared:
        if not is_read_first(touches[given[read]], touches[given[written]]):
            where = f"argument {read} {of}, where argument {written} lies, too"
            yield op, f"{name} does not read {where}, in one launch before others write there"


def memory_of(value: ir.Value) -> ir.Value:
    """The argument, transient or constant that a launch touches through `value`, a range of it."""
    return value.owner.opview.memory


def _is_range(value: ir.Value) -> bool:
    return made_by(value, SubspanOp.OPERATION_NAME) is not None


def _bound(op: ir.Operation) -> Sequence[ir.Value]:
    """What a launch takes, or a copy or a fill; nothing for what is none."""
    step = op.opview
    if isinstance(step, DispatchOp):
        return list(step.bindings)
    return list(op.operands) if isinstance(step, CopyBufferOp | FillBufferOp) else []


def _bound_twice(plan: func.FuncOp) -> Iterator[Broken]:
    """Launches of which two sets bind one memory: they run at the same time, and pass for one launch."""
    for op in body(plan):
        launch = op.opview
        if not isinstance(launch, DispatchOp) or not launch.set_count:
            continue
        bound = list(map(memory_of, launch.bindings))
        size = len(bound) // int(launch.counts[1])
        sets = [set(bound[start : start + size]) for start in range(0, len(bound), size)]
        if sum(map(len, sets)) > len(set(bound)):
            yield op, "binds the same memory in several sets"


def _overwritten(plan: func.FuncOp) -> Iterator[Broken]:
    """What fills and copies write to, and must not."""
    for op in body(plan):
        step = op.opview
        memory = memory_of(step.target) if isinstance(step, CopyBufferOp | FillBufferOp) else None
        if memory is not None and isinstance(memory.owner, ir.Block) and not is_memory(memory):
            number = ir.BlockArgument(memory).arg_number
            yield op, f"overwrites argument {number}, a value of type '{memory.type}'"


def _touches(plan: func.FuncOp) -> defaultdict[ir.Value, list[Touch]]:
    """By memory, the steps of `plan` that touch it, in order."""
    found = defaultdict[ir.Value, list[Touch]](list)
    for number, op in enumerate(body(plan)):
        for memory in dict.fromkeys(map(memory_of, _bound(op))):
            found[memory].append((number, isinstance(op.opview, DispatchOp)))
    return found


def _written(plan: func.FuncOp) -> set[ir.Value]:
    """The memory that launches of `plan` take, which may write it, and that its copies and fills write."""
    found: set[ir.Value] = set()
    for op in body(plan):
        match op.opview:
            case DispatchOp() as launch:
                found.update(map(memory_of, launch.bindings))
            case CopyBufferOp() | FillBufferOp() as step:
                found.add(memory_of(step.target))
    return found
