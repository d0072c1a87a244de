"""Pass `verify-launches`: a plan does to its region's arguments what a launch may do."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.target import ALIGNMENT
from dovetail.dialects.attributes import CODE, PLAN
from dovetail.dialects.dovetail import (
    BarrierOp,
    ConstantOp,
    CopyBufferOp,
    DispatchOp,
    FillBufferOp,
    SubspanOp,
    TransientOp,
)
from dovetail.dialects.dovetail.ops.subspan import bytes_of
from dovetail.dialects.reading import Module, Role, body, made_by, referred, symbol
from dovetail.dialects.target import device_of
from dovetail.dialects.torch_facts.types import is_memory
from dovetail.passes.base import Pass, fail

_KNOWN = (BarrierOp, ConstantOp, CopyBufferOp, DispatchOp, FillBufferOp, SubspanOp, TransientOp, func.ReturnOp)


@dataclass(frozen=True)
class VerifyLaunchesPass(Pass, name="verify-launches", runs_at="launches", is_check=True):
    """Checks each plan of a module at level `launches` against the region that it runs. Changes nothing.

    It takes what the region takes; its bindings are aligned; it overwrites no value and no constant; it copies from no
    transient that nothing has touched yet; it touches each of the region's results; on a GPU, and there alone, its
    launches say how many threads a workgroup has. That every binding lies inside of its buffer, `dovetail.subspan`
    verifies itself.
    """

    def run(self, module: ir.Module) -> None:
        found = Module(module).regions
        is_gpu = device_of(module) != "cpu"
        seen: set[str] = set()
        for plan in Module(module).of(Role.PLAN).values():
            name = referred(plan, PLAN)
            if name not in found:
                known = ", ".join(f"@{each}" for each in found) or "none"
                raise fail(plan, self.name, f"'@{symbol(plan)}' is for '@{name}', the regions are: {known}")
            if name in seen:
                raise fail(plan, self.name, f"'@{symbol(plan)}' is a second plan for '@{name}'")
            seen.add(name)
            self._check_signature(plan, found[name])
            self._check_steps(plan, is_gpu)

    def _check_signature(self, plan: func.FuncOp, region: func.FuncOp) -> None:
        if plan.type != region.type:
            message = f"'@{symbol(plan)}' takes {plan.type}, its region '@{symbol(region)}' takes {region.type}"
            raise fail(plan, self.name, message)
        if CODE not in plan.attributes or not isinstance(plan.attributes[CODE], ir.StringAttr):
            raise fail(plan, self.name, f"'@{symbol(plan)}' expects '{CODE}' to be the digest of its code")

    def _check_steps(self, plan: func.FuncOp, is_gpu: bool) -> None:
        touched: set[ir.Value] = set()
        for op in body(plan):
            if not isinstance(op.opview, (*_KNOWN,)):
                expected = ", ".join(f"'{each.OPERATION_NAME}'" for each in _KNOWN)
                raise fail(op, self.name, f"has no place in a plan, expected one of {expected}")
            match op.opview:
                case DispatchOp() as launch:
                    self._check_bindings(op)
                    if bool(launch.threads) != is_gpu:
                        expected = "expects 'workgroup_size' on a GPU" if is_gpu else "has a 'workgroup_size' on a CPU"
                        raise fail(op, self.name, expected)
                    touched |= {_memory(value) for value in op.operands}
                case CopyBufferOp() as copy:
                    self._check_copy(copy, touched)
                    touched.add(_memory(copy.target))
                case FillBufferOp() as fill:
                    self._check_target(fill, fill.target)
                    if _span(fill.target).size % fill.width:
                        raise fail(op, self.name, f"fills {_span(fill.target).size} bytes by {fill.width}")
                    touched.add(_memory(fill.target))
        for place, argument in enumerate(plan.arguments):
            if is_memory(argument) and argument not in touched and bytes_of(argument):
                raise fail(plan, self.name, f"'@{symbol(plan)}' never touches argument {place}, a result")

    def _check_bindings(self, op: ir.Operation) -> None:
        for value in op.operands:
            if _span(value).start % ALIGNMENT:
                raise fail(op, self.name, f"binds memory from byte {_span(value).start}, expected one of {ALIGNMENT}")

    def _check_copy(self, copy: CopyBufferOp, touched: set[ir.Value]) -> None:
        source, target = _span(copy.source), _span(copy.target)
        if source.size != target.size:
            raise fail(copy, self.name, f"copies {source.size} bytes to {target.size}")
        apart = source.start + source.size <= target.start or target.start + target.size <= source.start
        if source.memory == target.memory and not apart:
            raise fail(copy, self.name, "copies between bytes that overlap")
        if made_by(source.memory, TransientOp.OPERATION_NAME) and source.memory not in touched:
            raise fail(copy, self.name, "reads a transient that nothing has written")
        self._check_target(copy, copy.target)

    def _check_target(self, op: ir.OpView, target: ir.Value) -> None:
        memory = _memory(target)
        if isinstance(memory.owner, ir.Block) and not is_memory(memory):
            raise fail(op, self.name, f"overwrites a value of type '{memory.type}'")
        if made_by(memory, ConstantOp.OPERATION_NAME):
            raise fail(op, self.name, "overwrites a constant")


def _span(value: ir.Value) -> SubspanOp:
    made = None if isinstance(value.owner, ir.Block) else value.owner.operation.opview
    if not isinstance(made, SubspanOp):
        raise fail(value.owner, "verify-launches", "launches take the results of 'dovetail.subspan' alone")
    return made


def _memory(value: ir.Value) -> ir.Value:
    """The argument or the transient that a launch touches through `value`."""
    return _span(value).memory
