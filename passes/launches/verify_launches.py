"""Pass `verify-launches`: a plan does to its region's arguments what a launch may do."""

from torch_mlir import ir
from torch_mlir.dialects import arith, func

from dovetail.backends.target import ALIGNMENT
from dovetail.dialects.attributes import CODE, PLAN
from dovetail.dialects.dovetail import ConstantOp, CopyBufferOp, DispatchOp, FillBufferOp, SubspanOp, TransientOp
from dovetail.dialects.memory.planned_memory import broken_plans, memory_of
from dovetail.dialects.reading import Module, Role, body, made_by, referred, symbol
from dovetail.dialects.statements.target import device_of
from dovetail.passes.base import Pass, fail
from dovetail.passes.launches.plan_numbers import ARITHMETIC, PREDICATES

_OURS = "barrier check_equal check_range constant copy_buffer dispatch fill_buffer size subspan transient"
_KNOWN = (*(f"dovetail.{name}" for name in _OURS.split()), func.ReturnOp.OPERATION_NAME)
_NUMBERS = (arith.ConstantOp, arith.CmpIOp, *ARITHMETIC.values())


class VerifyLaunchesPass(Pass, name="verify-launches", runs_at="launches"):
    """Checks each plan of a module at level `launches` against the region that it runs. Changes nothing.

    Its bindings are aligned; it overwrites no constant; it copies from no transient that nothing has touched yet; on a
    GPU, and there alone, launches say how many threads a workgroup has. What it does to memory, and to the region's
    arguments, `dialects/memory/planned_memory.py` says. That every binding lies inside of its buffer,
    `dovetail.subspan` verifies itself.
    """

    def run(self, module: ir.Module) -> bool:
        found = Module(module).regions
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
            if CODE not in plan.attributes or not isinstance(plan.attributes[CODE], ir.StringAttr):
                raise fail(plan, f"'@{symbol(plan)}' expects '{CODE}' to be the digest of its code")
            self._check_ops(plan)
        for op, broken in broken_plans(Module(module)):
            raise fail(op, broken)
        for plan in Module(module).of(Role.PLAN).values():
            self._check_steps(plan, is_gpu)
        return False

    def _check_ops(self, plan: func.FuncOp) -> None:
        for op in body(plan):
            if op.name not in _KNOWN and not isinstance(op.opview, _NUMBERS):
                expected = ", ".join(f"'{name}'" for name in _KNOWN)
                raise fail(op, f"has no place in a plan, expected one of {expected}")
            self._check_number(op)

    def _check_steps(self, plan: func.FuncOp, is_gpu: bool) -> None:
        touched: set[ir.Value] = set()
        for op in body(plan):
            match op.opview:
                case DispatchOp() as launch:
                    starts = (_span(value).start for value in launch.bindings)
                    for start in (each for each in starts if isinstance(each, int) and each % ALIGNMENT):
                        raise fail(launch, f"binds memory from byte {start}, expected one of {ALIGNMENT}")
                    if bool(launch.threads) != is_gpu:
                        expected = "expects 'workgroup_size' on a GPU" if is_gpu else "has a 'workgroup_size' on a CPU"
                        raise fail(op, expected)
                    touched |= {memory_of(value) for value in launch.bindings}
                case CopyBufferOp() as copy:
                    self._check_copy(copy, touched)
                    touched.add(memory_of(copy.target))
                case FillBufferOp() as fill:
                    self._check_target(fill, fill.target)
                    size = _span(fill.target).size
                    if isinstance(size, int) and size % fill.width:
                        raise fail(op, f"fills {size} bytes by {fill.width}")
                    touched.add(memory_of(fill.target))

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
        if made_by(memory_of(target), ConstantOp.OPERATION_NAME):
            raise fail(op, "overwrites a constant")


def _span(value: ir.Value) -> SubspanOp:
    """What a launch takes, as `broken_plans` has checked."""
    return value.owner.opview
