"""Where a value of a host function comes from: the op that computes it, in a region too, and its source line."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FORWARD
from dovetail.dialects.dataflow import follow
from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import COMPUTING, Module, Role, body, of_class, referred, returned, role, symbol

_TORCH = Path(torch.__file__).parent


class Origins:
    """Looks through calls of regions and of `@apply`, and through `dovetail.own`. Reads a module at level `regions`."""

    def __init__(self, module: ir.Module):
        self.module = Module(module)
        self._calls = self.module.calls()
        self._producers: dict[ir.Value, ir.Operation | None] = {}
        for host in self.module.of(Role.CALL, *COMPUTING).values():
            given = [None] * len(host.type.inputs)
            follow(host, given, self.module, _producers, self._producers)

    def forward_call(self) -> func.CallOp:
        """The call in `@call` that computes: of `@apply`, or of `@forward` where there is no backward."""
        ops = (op.opview for op in of_class(body(self.module.call), func.CallOp))
        return next(op for op in ops if role(self.module.callee(op)) in (Role.BORDER, Role.FORWARD))

    def handed_over(self, value: ir.Value) -> ir.Value:
        """What `@forward` returns for `value`, a result of `forward_call`."""
        callee = self.module.callee(value.owner)
        forward = self.module.functions[referred(callee, FORWARD)] if role(callee) is Role.BORDER else callee
        return returned(forward)[ir.OpResult(value).result_number]

    def producer(self, value: ir.Value) -> ir.Operation | None:
        """The op that computes `value`, of a host function or of a region; None if it is given to the program."""
        return self._producers.get(value)

    def argument(self, value: ir.Value) -> int | None:
        """The number of the host function's argument in whose memory `value` lies, None if in none's."""
        root = memory_root(value)
        if not isinstance(root.owner, ir.Block):
            return None
        number = ir.BlockArgument(root).arg_number
        function_op = root.owner.owner.opview
        if role(function_op) is not Role.REGION:
            return number
        return self.argument(self._calls[symbol(function_op)][0].operands[number])

    def line(self, value: ir.Value) -> str:
        """The user's line that computes `value`, as "file.py:12", "" if the IR does not say."""
        op = self.producer(value)
        while op is not None:
            found = line(op.location)
            if found or not op.operands:
                return found
            op = self.producer(op.operands[0])
        return ""


def _producers(op: ir.Operation, operands: Sequence[ir.Operation | None]) -> Iterable[ir.Operation | None]:
    """Who computes the results of `op`: what is owned was computed before."""
    return operands[:1] if op.name == OwnOp.OPERATION_NAME else repeat(op)


def line(location: ir.Location) -> str:
    """A location's line as "file.py:12", see `frame`; "" if there is none."""
    found = frame(location)
    return f"{Path(found.filename).name}:{found.start_line}" if found else ""


def frame(location: ir.Location) -> ir.FileLineColLoc | None:
    """The innermost call outside of PyTorch that a location stands for, else just the innermost; None without any."""
    frames = list(_frames(location))
    of_user = [each for each in frames if not Path(each.filename).is_relative_to(_TORCH)]
    return next(iter(of_user or frames), None)


def _frames(location: ir.Location) -> Iterator[ir.FileLineColLoc]:
    """The calls that a location stands for, innermost first."""
    match location:
        case ir.FileLineColLoc():
            yield location
        case ir.CallSiteLoc():
            yield from _frames(location.callee)
            yield from _frames(location.caller)
        case ir.FusedLoc():
            for part in location.locations:
                yield from _frames(part)
