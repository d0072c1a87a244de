"""What `verify-level` asks of `@layouts`: that it tells how operands lie, for tangents that the backward has."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FOLLOWED, STRIDES, SYMBOL, TANGENT_OF
from dovetail.dialects.building.cloning import FROM_PYTHON
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import OwnOp, ReadOp, RefType, TangentOp
from dovetail.dialects.reading import Module, Role, argument_fact, argument_facts, of_class, role, symbol
from dovetail.dialects.statements.layouts import layouts_of
from dovetail.dialects.statements.operand_strides import followed
from dovetail.dialects.statements.saved import tangent_results
from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import aten_name, is_constant
from dovetail.dialects.torch_facts.types import is_value_type
from dovetail.passes.base import fail

_CALL, _PASSED = "torch.operator", (ReadOp.OPERATION_NAME, func.ReturnOp.OPERATION_NAME, LIST, *FROM_PYTHON)
_FOLLOWING = (Role.JOINT, Role.BACKWARD)


def check_layouts(module: Module) -> None:
    """Raises PassError where an operand would lie as nothing tells, or where nobody knows of which tangent."""
    layouts = layouts_of(module)
    told = 0 if layouts is None else len(layouts.type.results)
    for name, ops in module.bodies.items():
        is_following = role(module.functions[name]) in _FOLLOWING
        for op in (op for op in ops if STRIDES in op.attributes):
            numbers = followed(op)
            if numbers and not is_following:
                raise fail(op, f"in '@{name}' expects '{STRIDES}' without numbers, which are for the backward")
            if any(number >= told for number in numbers):
                raise fail(op, f"expects '{STRIDES}' to number some of {told} layouts, got {sorted(numbers)}")
    if layouts is not None:
        _check(layouts, module)
    _check_followed(module, [] if layouts is None else tangent_results(layouts))


def _check(layouts: func.FuncOp, module: Module) -> None:
    types = dict(_tangents(module))
    for index, type_ in enumerate(layouts.type.inputs):
        if not isinstance(type_, RefType) and argument_fact(layouts, index, SYMBOL) is None:
            raise fail(layouts, f"expects argument {index} to be a ref or a symbol, got '{type_}'")
        stated = argument_fact(layouts, index, TANGENT_OF)
        number = stated.value if isinstance(stated, ir.IntegerAttr) else -1
        if stated is not None and types.get(number) != type_:
            expected = f"expects argument {index} to be of a tangent's type where it has '{TANGENT_OF}'"
            raise fail(layouts, f"{expected}, got '{type_}' for {stated}")
    for type_ in layouts.type.results:
        if not is_value_type(type_):
            raise fail(layouts, f"expects to return values, got '{type_}'")
    for op in module.ops(layouts):
        is_called = op.name == _CALL and aten_name(op) is not None and not control_flow_name(op)
        if not (is_called or op.name in (*_PASSED, *ARITHMETIC) or is_constant(op)):
            raise fail(op, f"has no place in '@{symbol(layouts)}', expected a '{_CALL}' that calls one op")


def _tangents(module: Module) -> list[tuple[int, ir.Type]]:
    """The types of the tangents by the numbers of the owned results."""
    for backward in module.of(Role.BACKWARD).values():
        facts = zip(backward.type.inputs, argument_facts(backward), strict=True)
        return [(ir.IntegerAttr(fact[TANGENT_OF]).value, type_) for type_, fact in facts if TANGENT_OF in fact]
    ops = [op for name in module.of(Role.JOINT) for op in module.bodies[name]]
    refs = [op.results[0] for op in of_class(ops, OwnOp)]
    return [(refs.index(op.operands[0]), op.results[0].type) for op in of_class(ops, TangentOp)]


def _check_followed(module: Module, told: list[int]) -> None:
    for backward in module.of(Role.BACKWARD).values():
        for index, facts in enumerate(argument_facts(backward)):
            is_told = TANGENT_OF in facts and ir.IntegerAttr(facts[TANGENT_OF]).value in told
            if is_told != (FOLLOWED in facts):
                expected = f"expects '{FOLLOWED}' of argument {index} exactly where '@layouts' takes that tangent"
                raise fail(backward, f"{expected}, got it {'nowhere' if is_told else 'elsewhere'}")
