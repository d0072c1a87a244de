"""Pass `verify-launches`: a plan does to its region's arguments what a launch may do."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, func

from dovetail.backends.target import ALIGNMENT
from dovetail.dialects.attributes import CODE, PLAN
from dovetail.dialects.dovetail import ConstantOp, CopyBufferOp, DispatchOp, FillBufferOp, SubspanOp, TransientOp
from dovetail.dialects.dovetail.ops.subspan import bytes_of
from dovetail.dialects.memory.handed_on import handed_on
from dovetail.dialects.memory.touches import Touch, is_in_one_loop, is_read_first
from dovetail.dialects.reading import Module, Role, arguments, body, made_by, referred, symbol, users
from dovetail.dialects.statements.target import device_of
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.types import is_memory
from dovetail.passes.base import Pass, fail
from dovetail.passes.launches.plan_numbers import ARITHMETIC, PREDICATES
from dovetail.passes.memory.shared import shared_arguments

_OURS = "barrier check_equal check_range constant copy_buffer dispatch fill_buffer size subspan transient"
_KNOWN = (*(f"dovetail.{name}" for name in _OURS.split()), func.ReturnOp.OPERATION_NAME)
_NUMBERS = (arith.ConstantOp, arith.CmpIOp, *ARITHMETIC.values())


class VerifyLaunchesPass(Pass, name="verify-launches", runs_at="launches"):
    """Checks each plan of a module at level `launches` against the region that it runs. Changes nothing.

    It takes what the region takes; its bindings are aligned; it overwrites no value and no constant; it copies from no
    transient that nothing has touched yet; it touches each of the region's results but those that the region reads,
    too, whose old value may be the new one, and once where others take their new value; one launch alone reads an
    operand where a result lies, too, and nothing writes there before; sets of bindings of one launch have no memory in
    common; on a GPU, and there alone, launches say how many threads a workgroup has. That every binding lies inside of
    its buffer, `dovetail.subspan` verifies itself. What must be touched once has no other way to run.
    """

    def run(self, module: ir.Module) -> bool:
        found, shared = Module(module).regions, shared_arguments(Module(module))
        is_gpu = device_of(module) != "cpu"
        seen: set[str] = set()
        for plan in Module(module).of(Role.PLAN).values():
            name = referred(plan, PLAN)
            if name not in found:
                known = ", ".join(f"@{name}" for name in found) or "none"
                raise fail(plan, f"'@{symbol(plan)}' is for '@{name}', the regions are: {known}")
            if name in seen:
                raise fail(plan, f"'@{symbol(plan)}' is a second plan for '@{name}'")
            seen.add(name)
            self._check_signature(plan, found[name])
            self._check_steps(plan, found[name], is_gpu)
            self._check_one_loop(plan, found[name])
            self._check_shared(plan, found[name], shared.get(name, ()))
        for name in found.keys() - seen:
            if handed_on(found[name]):
                message = f"'@{name}' has no plan, but takes new values of arguments that it updates in one loop alone"
                raise fail(found[name], message)
            for read, written in shared.get(name, ()):
                message = (
                    f"'@{name}' has no plan, but argument {written}, a result, lies where it reads argument {read}"
                )
                raise fail(found[name], message)
        return False

    def _check_signature(self, plan: func.FuncOp, region: func.FuncOp) -> None:
        if plan.type != region.type:
            message = f"'@{symbol(plan)}' takes {plan.type}, its region '@{symbol(region)}' takes {region.type}"
            raise fail(plan, message)
        if CODE not in plan.attributes or not isinstance(plan.attributes[CODE], ir.StringAttr):
            raise fail(plan, f"'@{symbol(plan)}' expects '{CODE}' to be the digest of its code")

    def _check_steps(self, plan: func.FuncOp, region: func.FuncOp, is_gpu: bool) -> None:
        touched: set[ir.Value] = set()
        for op in body(plan):
            if op.name not in _KNOWN and not isinstance(op.opview, _NUMBERS):
                expected = ", ".join(f"'{name}'" for name in _KNOWN)
                raise fail(op, f"has no place in a plan, expected one of {expected}")
            self._check_number(op)
            match op.opview:
                case DispatchOp() as launch:
                    starts = (_span(value).start for value in launch.bindings)
                    for start in (each for each in starts if isinstance(each, int) and each % ALIGNMENT):
                        raise fail(launch, f"binds memory from byte {start}, expected one of {ALIGNMENT}")
                    if bool(launch.threads) != is_gpu:
                        expected = "expects 'workgroup_size' on a GPU" if is_gpu else "has a 'workgroup_size' on a CPU"
                        raise fail(op, expected)
                    self._check_sets(launch)
                    touched |= {_memory_of(value) for value in launch.bindings}
                case CopyBufferOp() as copy:
                    self._check_copy(copy, touched)
                    touched.add(_memory_of(copy.target))
                case FillBufferOp() as fill:
                    self._check_target(fill, fill.target)
                    size = _span(fill.target).size
                    if isinstance(size, int) and size % fill.width:
                        raise fail(op, f"fills {size} bytes by {fill.width}")
                    touched.add(_memory_of(fill.target))
        held = [any(user.name == LOAD for user in users(argument)) for argument in arguments(region)]
        for index, argument in enumerate(arguments(plan)):
            if is_memory(argument) and argument not in touched and not held[index] and bytes_of(argument) != 0:
                raise fail(plan, f"'@{symbol(plan)}' never touches argument {index}, a result")

    def _check_sets(self, launch: DispatchOp) -> None:
        """Sets run at the same time, and pass for one launch where others take new values."""
        if not launch.set_count:
            return
        bound = [_memory_of(value) for value in launch.bindings]
        size = len(bound) // int(launch.counts[1])
        sets = [set(bound[start : start + size]) for start in range(0, len(bound), size)]
        if sum(map(len, sets)) > len(set(bound)):
            raise fail(launch, "binds the same memory in several sets")

    def _check_one_loop(self, plan: func.FuncOp, region: func.FuncOp) -> None:
        for memory in handed_on(region).values():
            index = ir.BlockArgument(memory).arg_number
            touching = _touching(plan, index)
            if not is_in_one_loop(touching):
                times = f"touches argument {index} {len(touching)} times"
                raise fail(plan, f"'@{symbol(plan)}' {times}, whose new value others take")

    def _check_shared(self, plan: func.FuncOp, region: func.FuncOp, shared: Sequence[tuple[int, int]]) -> None:
        for read, written in shared:
            if not is_read_first(_touching(plan, read), _touching(plan, written)):
                where = f"argument {read} of '@{symbol(region)}', where argument {written} lies, too"
                raise fail(plan, f"'@{symbol(plan)}' does not read {where}, in one launch before others write there")

    def _check_number(self, op: ir.Operation) -> None:
        if not isinstance(op.opview, _NUMBERS):
            return
        truth = ir.IntegerType.get_signless(1)
        expected = truth if isinstance(op.opview, arith.CmpIOp) else ir.IndexType.get()
        if op.results[0].type != expected:
            raise fail(op, f"computes with '{op.results[0].type}', expected numbers of type '{expected}'")
        if isinstance(op.opview, arith.CmpIOp) and ir.IntegerAttr(op.opview.predicate).value >= len(PREDICATES):
            raise fail(op, f"compares without signs, expected one of {', '.join(PREDICATES)}")

    def _check_copy(self, copy: CopyBufferOp, touched: set[ir.Value]) -> None:
        source, target = _span(copy.source), _span(copy.target)
        numbers = [each for each in (source.start, source.size, target.start, target.size) if isinstance(each, int)]
        if len(numbers) == 4:
            start, size, first, room = numbers
            if size != room:
                raise fail(copy, f"copies {size} bytes to {room}")
            if source.memory == target.memory and start < first + room and first < start + size:
                raise fail(copy, "copies between bytes that overlap")
        if made_by(source.memory, TransientOp.OPERATION_NAME) and source.memory not in touched:
            raise fail(copy, "reads a transient that nothing has written")
        self._check_target(copy, copy.target)

    def _check_target(self, op: ir.OpView, target: ir.Value) -> None:
        memory = _memory_of(target)
        if isinstance(memory.owner, ir.Block) and not is_memory(memory):
            raise fail(op, f"overwrites a value of type '{memory.type}'")
        if made_by(memory, ConstantOp.OPERATION_NAME):
            raise fail(op, "overwrites a constant")


def _span(value: ir.Value) -> SubspanOp:
    made = None if isinstance(value.owner, ir.Block) else value.owner.operation.opview
    if not isinstance(made, SubspanOp):
        raise fail(value.owner, f"launches take the results of '{SubspanOp.OPERATION_NAME}' alone")
    return made


def _touching(plan: func.FuncOp, argument: int) -> list[Touch]:
    """The steps of `plan` that touch an argument, by number."""
    memory, found = arguments(plan)[argument], list[Touch]()
    for number, op in enumerate(body(plan)):
        step = op.opview
        is_launch = isinstance(step, DispatchOp)
        moved = list(op.operands) if isinstance(step, CopyBufferOp | FillBufferOp) else []
        bound = step.bindings if isinstance(step, DispatchOp) else moved
        found += [(number, is_launch)] if memory in map(_memory_of, bound) else []
    return found


def _memory_of(value: ir.Value) -> ir.Value:
    """The argument or the transient that a launch touches through `value`."""
    return _span(value).memory
