"""Numbers that Dynamo leaves open, as the IR says them: the symbols, what sizes are by them, and values for both."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any

import sympy  # type: ignore[import-untyped]  # it has no stubs
import torch
from torch.fx.experimental.symbolic_shapes import ShapeEnv, free_unbacked_symbols
from torch.utils._sympy import functions as by_torch
from torch_mlir import ir
from torch_mlir.extras.fx_importer import ContextCache

from dovetail.dialects.attributes import HINTS, RANGE, SIZES, STRIDES, SYMBOL
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.sizes.size_expressions import evaluated, materialise, used_symbols_of
from dovetail.dialects.sizes.symbols import sizes_map
from dovetail.dialects.statements.operand_strides import Stated
from dovetail.dialects.torch_facts.sizes import LARGEST, print_sizes
from dovetail.dialects.torch_facts.types import is_torch_type
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import expected, is_open_value, known
from dovetail.frontend.records import CapturedArgument
from dovetail.frontend.to_ir.affine import LARGEST_OF, affine
from dovetail.frontend.to_ir.number_nodes import float_of


class OpenTypes(ContextCache):
    """Types in which a number is known that became so after tensors of its size were made."""

    __slots__ = ()

    def format_asm_shape(self, shape) -> str:
        return print_sizes(None if is_open_value(size) else known(size) for size in shape)


class OpenNumbers:
    """The symbols of a captured graph by number, in the order of its arguments; `values` are the arguments.

    After these come the numbers that only data tells, as library calls make them.
    """

    def __init__(self, inputs: Sequence[CapturedArgument], values: Sequence[ir.Value] = ()):
        opened = [(index, argument.symbol) for index, argument in enumerate(inputs) if argument.symbol is not None]
        self._symbols: dict[sympy.Symbol, int] = {}
        self._floats: dict[sympy.Expr, ir.Value] = {}
        self._positions: dict[int, int] = {}
        self._hints: list[int] = []
        for index, each in opened:
            expression = each.node.expr
            if isinstance(expression, sympy.Symbol) and expression not in self._symbols:
                self._positions[index] = self._symbols[expression] = len(self._symbols)
                self._hints.append(expected(each))
        self._values = {number: values[index] for index, number in self._positions.items()} if values else {}

    def facts(self, index: int, argument: CapturedArgument) -> dict[str, ir.Attribute]:
        """What is known of argument `index` where it is a symbol."""
        return self.taken(argument.symbol) if index in self._positions else {}

    def inside(self, given: Iterable[tuple[Any, ir.Value]]) -> "OpenNumbers":
        """Those of a function that takes values, each beside what looks like it; symbols keep their numbers."""
        inner = copy(self)
        opened = {number.node.expr: value for number, value in given if is_open_value(number)}
        inner._values = {self._symbols[each]: value for each, value in opened.items() if each in self._symbols}
        inner._floats = {expression: value for expression, value in opened.items() if expression in self._floats}
        return inner

    def at(self, values: Mapping[int, ir.Value]) -> "OpenNumbers":
        """Those of a function that takes these `values` of symbols."""
        inner = copy(self)
        inner._values = dict(values)
        return inner

    def entering(self, numbers: Iterable) -> list[int]:
        """The symbols that `numbers` are made of; raises UnsupportedError for one that is no argument's."""
        found = {symbol for number in numbers for symbol in used_symbols_of(self._affine(number))}
        if not found <= set(self._positions.values()):
            raise UnsupportedError("operands in the backward lie as gradients do of sizes that only data tells")
        return sorted(found)

    def taken(self, value: Any) -> dict[str, ir.Attribute]:
        """What is known of an argument that looks like `value`: that it is a symbol, or its sizes."""
        if isinstance(value, torch.SymInt) and value.node.expr in self._symbols:
            return {SYMBOL: i64(self._symbols[value.node.expr]), RANGE: _range(value)}
        sizes = self.sizes(value)
        return {} if sizes is None else {SIZES: sizes}

    def hint(self, module: ir.Module) -> None:
        """States the values of now."""
        if self._hints:
            module.operation.attributes[HINTS] = ir.DenseI64ArrayAttr.get(self._hints)

    def value(self, number) -> Any:
        """The value of the IR that is an open number, built at the insertion point; another number as it is."""
        if isinstance(number, torch.SymFloat):
            return self._float(number)
        if not is_open_value(number):
            return known(number)
        for part in sorted(number.node.expr.atoms(sympy.Abs, *LARGEST_OF), key=sympy.count_ops):
            self._define_larger(part, number.node.shape_env)
        said = self._affine(number)
        if not used_symbols_of(said) <= self._values.keys():
            raise UnsupportedError(f"the number {number} can't be open: it is computed in another function alone")
        return materialise(said, self._values)

    def _float(self, number: torch.SymFloat) -> ir.Value:
        """The value that is a number of floating point; raises UnsupportedError for one that is computed of others."""
        expression = number.node.expr
        if expression in self._floats:
            return self._floats[expression]
        if isinstance(expression, by_torch.ToFloat):
            whole = affine(expression.args[0], self._symbols, number.node.shape_env)
            return float_of(materialise(whole, self._values))
        raise UnsupportedError(f"the number {expression} can't be open: it is computed where the graph does not say so")

    def check_given(self, what: str, numbers: Iterable) -> None:
        """Raises UnsupportedError for open numbers that only data tells: `@forward` has them, and `@call` has not."""
        given = set(self._positions.values())
        if any(self._symbols.get(each) not in given for number in numbers for each in number.node.expr.free_symbols):
            raise UnsupportedError(f"{what} by a number that only data tells is not supported yet")

    def is_affine(self, number) -> bool:
        """Whether an expression of the symbols that have values here says a number."""
        try:
            return used_symbols_of(self._affine(number)) <= self._values.keys()
        except UnsupportedError:
            return False

    def define(self, number: torch.SymInt | torch.SymFloat, value: ir.Value) -> None:
        """Says which value an open number is that is no argument: what a library call made."""
        if isinstance(number, torch.SymFloat):
            self._floats[number.node.expr] = value
            return
        self._state(number.node.expr, value, expected(number), _range(number))

    def _state(self, expression: sympy.Expr, value: ir.Value, expected: int, allowed: ir.Attribute) -> None:
        if expression not in self._symbols:  # else another function has defined it for itself
            self._symbols[expression] = len(self._symbols)
            self._hints.append(expected)
        position = self._symbols[expression]
        self._values[position] = value
        value.owner.attributes[SYMBOL] = i64(position)
        value.owner.attributes[RANGE] = allowed

    def is_new(self, number) -> bool:
        """Whether a number is open, and a symbol or one of floating point that nothing has defined yet."""
        if isinstance(number, torch.SymFloat):
            return number.node.expr not in self._floats
        expression = number.node.expr if is_open_value(number) else None
        return isinstance(expression, sympy.Symbol) and expression not in self._symbols

    def values(self, numbers: Iterable) -> list:
        """Like `value`, of each."""
        return [self.value(number) for number in numbers]

    def sizes(self, tensor: object) -> ir.Attribute | None:
        """`dovetail.sizes` of what looks like `tensor`; None where all are known."""
        if not isinstance(tensor, torch.Tensor) or not any(map(is_open_value, tensor.size())):
            return None
        return sizes_map([self._affine(size) for size in tensor.size()])

    def lying(self, tensor: object) -> dict[str, ir.Attribute]:
        """What is known of an argument that looks like `tensor`: its sizes, and strides that the symbols say."""
        sizes = self.sizes(tensor)
        known = {} if sizes is None else {SIZES: sizes}
        steps: Sequence[Any] = tensor.stride() if isinstance(tensor, torch.Tensor) else ()
        used = {symbol for step in steps if is_open_value(step) for symbol in step.node.expr.free_symbols}
        if used and used <= self._symbols.keys():
            known[STRIDES] = sizes_map([self._affine(step) for step in steps])
        return known

    def strides(self, stated: Stated) -> Stated:
        """What is stated of an operand, by maps where numbers in it are open."""
        if not isinstance(stated, tuple):
            return stated
        if any(map(is_open_value, stated)):
            return sizes_map([self._affine(size) for size in stated])
        return tuple(self.strides(part) if isinstance(part, tuple) else known(part) for part in stated)

    def state(self, op: ir.Operation, results: object) -> None:
        """Says of the results of `op` what is known of their sizes; `results` look like them."""
        each = results if isinstance(results, list | tuple) else [results]
        found = [self.sizes(tensor) for tensor in each]
        is_list = any(is_torch_type(value.type, "list<vtensor>") for value in op.results)  # which may be of one tensor
        if any(found) and len(found) == len(op.results) and not is_list:
            op.attributes[SIZES] = ir.ArrayAttr.get([ir.UnitAttr.get() if one is None else one for one in found])

    def state_sizes(self, op: ir.Operation, sizes: Iterable) -> None:
        """Says which sizes the result of `op` has."""
        op.attributes[SIZES] = ir.ArrayAttr.get([sizes_map([self._affine(size) for size in sizes])])

    def said(self, number) -> Any:
        """A number, or an expression of symbols among the arguments; raises UnsupportedError for one that none says."""
        if not is_open_value(number):
            return known(number)
        self.check_given("a tensor subclass", [number])
        return self._affine(number)

    def _affine(self, number) -> ir.AffineExpr:
        if not is_open_value(number):
            return ir.AffineExpr.get_constant(known(number))
        return affine(number.node.expr, self._symbols, number.node.shape_env)

    def _define_larger(self, expression: sympy.Expr, environment: ShapeEnv) -> None:
        """Makes an absolute value a symbol of its own, and the largest of numbers that only data tells."""
        is_absolute = isinstance(expression, sympy.Abs)
        is_defined = self._symbols.get(expression) in self._values
        if is_defined or not (is_absolute or free_unbacked_symbols(expression)):
            return
        compared = (expression.args[0], -expression.args[0]) if is_absolute else expression.args
        sizes = [affine(operand, self._symbols, environment) for operand in compared]
        first, *others = (materialise(size, self._values) for size in sizes)
        for other in others:
            first = ir.Operation.create("torch.prim.max.int", results=[first.type], operands=[first, other]).result
        hint = max(evaluated(size, dict(enumerate(self._hints))) for size in sizes)
        self._state(expression, first, hint, _range_of(expression, environment))


def _range(number: torch.SymInt) -> ir.Attribute:
    return _range_of(number.node.expr, number.node.shape_env)


def _range_of(expression: sympy.Expr, environment: ShapeEnv) -> ir.Attribute:
    """The least and the largest number that guards and checks of the graph's allow."""
    allowed = environment.bound_sympy(expression)
    return ir.DenseI64ArrayAttr.get([_within(allowed.lower), _within(allowed.upper)])


def _within(bound: sympy.Expr) -> int:
    """A bound, which may be infinite, as a number of 64 bits."""
    if not bound.is_Integer:
        return -LARGEST - 1 if bound < 0 else LARGEST
    return max(-LARGEST - 1, min(LARGEST, int(bound)))
