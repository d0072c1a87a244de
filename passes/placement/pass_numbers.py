"""Pass `pass-numbers`: regions take open numbers in tensors."""

from torch_mlir import ir

from dovetail.dialects.reading import COMPUTING, Module, body
from dovetail.dialects.sizes.symbols import is_open_number, known_sizes
from dovetail.dialects.statements.devices import NUMBER
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.types import require_shaped_info, torch_type, with_dtype, with_shape
from dovetail.passes.base import Pass

_REVERSED = "torch.aten.rsub.Scalar"
# By an op that takes a number: the one that takes a tensor.
_OF_TENSORS = {f"torch.aten.{name}.Scalar": f"torch.aten.{name}.Tensor" for name in ("mul", "div", "add", "sub")}
_OF_TENSORS[_REVERSED] = "torch.aten.sub.Tensor"


class PassNumbersPass(Pass, name="pass-numbers", runs_at="split"):
    """Gives arithmetic of a tensor and an open number a tensor for the number, which a region can take.

    On the CPU, of float32 and float64: ATen computes with the same number, whichever of both it is given.

    Before:  `%1 = div.Scalar %x, %n`, with `%n` an argument
    After:   `%0 = NumToTensor.Scalar %n; %1 = div.Tensor %x, %0`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) != "cpu":
            return False
        is_changed = False
        for function_op in Module(module).of(*COMPUTING).values():
            made: dict[ir.Value, ir.Value] = {}
            for op in body(function_op):
                if op.name in _OF_TENSORS and _is_exact(op):
                    _rewrite(op, made)
            is_changed |= bool(made)
        return is_changed


def _is_exact(op: ir.Operation) -> bool:
    """Whether the number is open, what it is multiplied by is not, and both ways round it once."""
    dtypes = {require_shaped_info(each.type).dtype for each in (op.operands[0], op.results[0])}
    is_scaled = any(number(alpha) is None for alpha in list(op.operands)[2:])
    is_taken = known_sizes(op.results[0]) is not None and not is_scaled
    return is_taken and is_open_number(op.operands[1]) and len(dtypes) == 1 and dtypes <= {"float32", "float64"}


def _rewrite(op: ir.Operation, made: dict[ir.Value, ir.Value]) -> None:
    value, given, *others = op.operands
    with op.location, ir.InsertionPoint(op):
        if given not in made:
            dtype = "int64" if given.type == torch_type("int") else "float64"
            type_ = with_dtype(with_shape(op.results[0].type, ()), dtype)
            made[given] = ir.Operation.create(NUMBER, results=[type_], operands=[given]).result
        pair = (made[given], value) if op.name == _REVERSED else (value, made[given])
        attributes = {each: op.attributes[each] for each in op.attributes}
        name = _OF_TENSORS[op.name]
        new = ir.Operation.create(name, results=[op.results[0].type], operands=[*pair, *others], attributes=attributes)
    op.results[0].replace_all_uses_with(new.result)
    op.erase()
