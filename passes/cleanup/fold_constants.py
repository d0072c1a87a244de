"""Pass `fold-constants`: what is known of the graph alone is computed once, now."""

from functools import partial

import numpy
from torch_mlir import ir

from dovetail.dialects.dovetail import TangentOp
from dovetail.dialects.reading import Module, of_class
from dovetail.dialects.torch_facts.names import LITERAL
from dovetail.dialects.torch_facts.types import TensorInfo, tensor_info
from dovetail.errors import OptionError
from dovetail.passes.base import Pass
from dovetail.passes.cleanup.constant_arrays import COMPUTATIONS, CREATIONS, DTYPES, computed, created
from dovetail.passes.rewriting.constants import constant, full
from dovetail.passes.rewriting.rules import apply_rules

Arrays = dict[ir.Value, numpy.ndarray]


class FoldConstantsPass(Pass, name="fold-constants", runs_at="joint"):
    """Computes ops whose operands are known: a `full` where all elements are one number, else a literal.

    `full_like` is `full`, so that it needs no tensor, but for what is made like a tangent, one of several: what leaves
    out absent ones (`runtime/replaying/absent_tangents.py`) sees whose zeros these are. Of tensors that are not one
    number throughout, only those of at most `elements` elements are known: a literal is part of the program. Random
    numbers are library calls, hence never known; nor is what numpy would compute otherwise than ATen, see
    `passes/cleanup/constant_arrays.py`.

    Before:  `%0 = torch.aten.full_like %x, %two; %1 = torch.aten.mul.Scalar %0, %three`
    After:   `%1 = torch.aten.full %sizes, %six`
    """

    elements: int = 16

    def __post_init__(self):
        if self.elements < 0:
            raise OptionError(f"pass 'fold-constants': option 'elements' expects 0 or more, got {self.elements}")

    def run(self, module: ir.Module) -> bool:
        arrays, tied = dict[ir.Value, numpy.ndarray](), _tied(module)
        rules = dict.fromkeys(CREATIONS, partial(self._note, arrays))
        rules |= dict.fromkeys(COMPUTATIONS, partial(self._compute, arrays))
        return apply_rules(module, rules | {"torch.aten.full_like": partial(self._fill, arrays, tied)})

    def _note(self, arrays: Arrays, op: ir.Operation) -> None:
        info = _known_info(op)
        array = None if info is None else created(op, info, self.elements)
        if array is not None:
            arrays[op.results[0]] = array

    def _fill(self, arrays: Arrays, tied: set[ir.Value], op: ir.Operation) -> ir.Value | None:
        if op.operands[0] in tied:
            return None
        value = full(op.results[0].type, op.operands[1], op.operands[4])
        self._note(arrays, value.owner.operation)
        return value

    def _compute(self, arrays: Arrays, op: ir.Operation) -> ir.Value | None:
        info = _known_info(op) if any(operand in arrays for operand in op.operands) else None
        array = None if info is None else computed(op, info, arrays, self.elements)
        if array is None or info is None:
            return None
        # An expanded view of one number needs no memory; a tensor full of it does.
        value = None if op.name == "torch.aten.expand" else self._made(array, op.results[0].type, info)
        arrays[op.results[0] if value is None else value] = array
        return value

    def _made(self, array: numpy.ndarray, type_: ir.Type, info: TensorInfo) -> ir.Value | None:
        """Builds the tensor of `array`'s elements, None if they are too many to list."""
        first = array[(0,) * array.ndim]
        if array.tobytes() == first.tobytes() * array.size:
            return full(type_, constant(float(first) if info.is_floating_point else int(first)))
        if info.numel > self.elements:
            return None
        elements = numpy.ascontiguousarray(numpy.broadcast_to(array, info.shape))
        return ir.Operation.create(LITERAL, results=[type_], attributes={"value": _dense(elements)}).result


def _tied(module: ir.Module) -> set[ir.Value]:
    """What depends on a tangent, where there are several."""
    tied = set[ir.Value]()
    for ops in Module(module).bodies.values():
        if len(of_class(ops, TangentOp)) > 1:
            for op in ops:
                if op.name == TangentOp.OPERATION_NAME or any(operand in tied for operand in op.operands):
                    tied.update(op.results)
    return tied


def _known_info(op: ir.Operation) -> TensorInfo | None:
    info = tensor_info(op.results[0].type)
    return info if info is not None and info.dtype in DTYPES and info.numel else None


def _dense(elements: numpy.ndarray) -> ir.Attribute:
    if elements.dtype.kind == "f":
        return ir.DenseElementsAttr.get(elements)
    bits = 8 * elements.dtype.itemsize
    types = {"b": ir.IntegerType.get_signless(1), "u": ir.IntegerType.get_unsigned(bits)}
    return ir.DenseElementsAttr.get(elements, type=types.get(elements.dtype.kind, ir.IntegerType.get_signed(bits)))
