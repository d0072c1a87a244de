"""What the verifiers of our ops check: what all have in common, and rules that several share.

Each rule says what is wrong, in MLIR's words, or "" where it is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from inspect import get_annotations
from typing import Any, get_args, get_origin

from torch_mlir import ir

from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.types import DEVICE, OPEN, RefType
from dovetail.dialects.torch_facts.types import is_memory_type, is_torch_type, shaped_info

# What the hint of operands without a number is.
_MANY: tuple[Any, ...] = (Sequence,)

_DEVICE = '"cpu" or a device with its number, such as "cuda:0"'


def value_of(name: str, otherwise: Any = None) -> Any:
    """For the body of an op's class: the word, the number or the truth that the attribute `name` is, if it is there."""
    return property(lambda op: op.attributes[name].value if name in op.attributes else otherwise)


class VerifiedOp(Dovetail.Operation):
    """Of each op it is verified that its refs are sound and no attribute is misspelt, which IRDL would let pass."""

    # Attributes that may be there, besides those that are declared and those of other dialects.
    optional = tuple[str, ...]()

    def __init_subclass__(cls, **options):
        """Operands by their positions: those without a number come last, the bindings want to be told where.

        Of several groups without a number, `operandSegmentSizes` tells.
        """
        super().__init_subclass__(**options)
        hints = get_annotations(cls)
        names = [name for name, hint in hints.items() if get_origin(hint) in (ir.Value, *_MANY)]
        if sum(get_origin(hints[name]) in _MANY for name in names) != 1:
            return  # of several, the op itself says how many there are of each
        for index, name in enumerate(names[:-1]):
            setattr(cls, name, property(partial(lambda index, op: op.operands[index], index)))
        setattr(cls, names[-1], property(lambda op: list(op.operands)[len(names) - 1 :]))

    @classmethod
    def build(cls, operands: Sequence = (), results: Sequence[ir.Type] = (), **attributes: ir.Attribute) -> Any:
        """Creates the op from its parts: generated constructors take `false`, 0 and `[]` for a missing attribute."""
        return ir.Operation.create(cls.OPERATION_NAME, list(results), list(operands), attributes).opview

    def problem(self) -> str:
        """What is wrong with an op of which all is there that is declared; "" if nothing is."""
        return ""

    def verify_invariants(self) -> bool:
        types = [value.type for value in self.operands] + [value.type for value in self.results]
        declared = _declared(type(self))  # type: ignore[arg-type]  # a class of ops is hashable
        if not _is_as_declared(self, types, declared):
            return True  # IRDL's own check, which runs after ours, rejects it and says why
        names = (*declared.attributes, *self.optional)
        others = (name for name in self.attributes if name not in names and "." not in name)
        unknown = next((name for name in others if not name.endswith("SegmentSizes")), "")
        problem = f"has no attribute '{unknown}', expected {_listed(names)}" if unknown else ""
        problem = problem or _unsound_ref(types) or self.problem()
        if problem:
            self.location.emit_error(f"'{self.OPERATION_NAME}' op {problem}")
        return not problem


@dataclass(frozen=True)
class _Declared:
    """The kinds of an op's operands and results, of attributes by name, and of groups of operands without a number."""

    operands: list
    results: list
    attributes: dict[str, Any]
    variadic: list


@cache
def _declared(op_class: type[VerifiedOp]) -> _Declared:
    """Remembered, since each op is verified after each pass."""
    hints = op_class.__annotations__
    operands = [get_args(hint)[0] for hint in hints.values() if get_origin(hint) is ir.Value]
    results = [get_args(hint)[0] for hint in hints.values() if get_origin(hint) is ir.OpResult]
    attributes = {name: hint for name, hint in hints.items() if get_origin(hint) is None}
    variadic = [get_args(get_args(hint)[0])[0] for hint in hints.values() if get_origin(hint) in _MANY]
    return _Declared(operands, results, attributes, variadic)


def _is_as_declared(op: VerifiedOp, types: Sequence[ir.Type], declared: _Declared) -> bool:
    """Whether operands and results, of these `types`, and attributes are of the declared number and kinds."""
    operands, results, given = declared.operands, declared.results, op.attributes
    if declared.variadic:  # which of several kinds each is of, IRDL checks
        kind = declared.variadic[0] if len(declared.variadic) == 1 else Any
        operands = [*operands, *[kind] * (len(op.operands) - len(operands))]
    if len(op.operands) != len(operands) or len(op.results) != len(results):
        return False
    is_typed = all(map(_is_a, types, [*operands, *results]))
    return is_typed and all(name in given and _is_a(given[name], kind) for name, kind in declared.attributes.items())


def _is_a(given: ir.Type | ir.Attribute, kind: Any) -> bool:
    return kind is Any or isinstance(given, kind)


def _unsound_ref(types: Sequence[ir.Type]) -> str:
    """IRDL can't say of a ref's type that it is of a ranked tensor, with one stride for each dimension."""
    for type_ in types:
        if isinstance(type_, RefType) and not type_.is_sound:
            return f"expects {RefType.SOUND}, got '{type_}'"
        if isinstance(type_, RefType) and type_.device and not DEVICE.fullmatch(type_.device):
            return f"expects the device of '{type_}' to be {_DEVICE}"
    return ""


def no_bool(op: ir.OpView, name: str) -> str:
    """What is said by true or false is said by nothing else, which the bindings can't demand; it may be missing."""
    if name not in op.attributes or isinstance(op.attributes[name], ir.BoolAttr):
        return ""
    return f"expects '{name}' to be true or false, got {op.attributes[name]}"


def none_of(op: ir.OpView, name: str, valid: tuple[str, ...]) -> str:
    """A string attribute is one of the words that it may hold."""
    given = ir.StringAttr(op.attributes[name]).value
    return "" if given in valid else f"expects '{name}' to be {_listed(valid)}, got '{given}'"


def no_integers(op: ir.OpView, name: str, may_be_open: bool = False) -> str:
    """An array attribute holds integers, none negative: sizes, or strides in elements; some ops leave some open."""
    for each in ir.ArrayAttr(op.attributes[name]):
        if not isinstance(each, ir.IntegerAttr) or (each.value < 0 and not (may_be_open and each.value == OPEN)):
            return f"expects '{name}' to hold integers from 0 up, got {each}"
    return ""


def no_count(op: ir.OpView, name: str, least: int = 0, may_be_open: bool = False) -> str:
    """An attribute that counts bytes or versions is an integer, not too small; it may be missing, of some ops open."""
    given = op.attributes.get(name, None)
    is_number = isinstance(given, ir.IntegerAttr) and (given.value >= least or (may_be_open and given.value == OPEN))
    if given is None or is_number:
        return ""
    stated = given.value if isinstance(given, ir.IntegerAttr) and not least else given
    return f"expects '{name}' to be an integer from {least} up, got {stated}"


def no_device(op: ir.OpView, name: str) -> str:
    """Memory that does not lie on the module's target says by torch's word where it does."""
    stated = op.attributes.get(name, None)
    if stated is None or (isinstance(stated, ir.StringAttr) and DEVICE.fullmatch(stated.value)):
        return ""
    return f"expects '{name}' to be {_DEVICE}, got {stated}"


def another_device(one: ir.Value, other: ir.Value) -> str:
    """Two refs are to memory on one device."""
    if one.type.device == other.type.device:
        return ""
    return f"expects refs to memory on one device, got '{one.type}' and '{other.type}'"


def no_memory(type_: ir.Type) -> str:
    """A result is memory that is overwritten as a whole."""
    if is_memory_type(type_) and shaped_info(type_) is not None:
        return ""
    return f"expects a result of type '!torch.tensor', ranked, got '{type_}'"


def no_floats(op: ir.OpView) -> str:
    """All that an op takes and returns is a `!torch.float`."""
    types = (value.type for value in (*op.operands, *op.results) if not is_torch_type(value.type, "float"))
    return next((f"expects a '!torch.float', got '{type_}'" for type_ in types), "")


def missing_numbers(numbers: Sequence[ir.Value], wanted: int, what: str) -> str:
    """One number, a `!torch.int`, is given for each open position of `what`."""
    other = next((number.type for number in numbers if not is_torch_type(number.type, "int")), None)
    missing = too_few(numbers, wanted, what)
    return missing or ("" if other is None else f"expects numbers of type '!torch.int', got '{other}'")


def too_few(numbers: Sequence[ir.Value], wanted: int, what: str) -> str:
    """One number is given for each open position of `what`."""
    if len(numbers) == wanted:
        return ""
    return f"expects a number for each of the {wanted} open {what}, got {len(numbers)}"


def another_type(result: ir.Value, expected: ir.Type, what: str = "result type") -> str:
    """A result is of the type that the operands say."""
    return "" if result.type == expected else f"expects {what} '{expected}', got '{result.type}'"


def another_tensor(value: ir.Value, ref: ir.Value) -> str:
    """`value` (a value or a ref) has the shape and element type of the tensor that `ref` refers to."""
    given, type_ = value.type, ref.type
    if (given.tensor_type if isinstance(given, RefType) else given) == type_.tensor_type:
        return ""
    return f"expects a value of type '{type_.tensor_type}' to match '{type_}', got '{given}'"


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}" if quoted else "none"
