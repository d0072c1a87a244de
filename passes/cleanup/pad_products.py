"""Pass `pad-products`: large products of 16-bit floats on GPUs have sizes that the library's fast kernels take."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from torch_mlir import ir

from dovetail.dialects.reading import made_by, producer
from dovetail.dialects.sizes.expected import expected_bytes
from dovetail.dialects.statements.devices import home
from dovetail.dialects.statements.recompute import SAVED_POLICIES, recompute_policy
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.sizes import static
from dovetail.dialects.torch_facts.types import (
    is_open_type,
    is_tensor,
    require_tensor_info,
    tensor_type,
    torch_type,
    with_shape,
)
from dovetail.passes.base import Pass
from dovetail.passes.cleanup.fold_indices import counted
from dovetail.passes.costs.cost_model import CostModel, costs_of
from dovetail.passes.rewriting.constants import ARANGE, constant, counting, full, integer_list, integers, named
from dovetail.passes.rewriting.permutations import PERMUTE
from dovetail.passes.rewriting.pointwise import of_others, pointwise_op
from dovetail.passes.rewriting.rules import apply_rules, create, shape
from dovetail.passes.rewriting.slices import Slice, slice_of
from dovetail.passes.rewriting.sums import SUM, reduced_dims

_ALIGNED = 8
"""Numbers of 16 bits between the starts of neighbouring rows, for tensor cores to read them fast."""
_BETTER = (1024, 64)
"""What our own kernels of rows like: whole vectors for all threads of a workgroup, if not much is added for it."""
_MUCH = 0.02

_NEUTRAL = {"torch.aten.amax": -inf, "torch.aten.amin": inf, SUM: 0.0}


class PadProductsPass(Pass, name="pad-products", runs_at="joint"):
    """Gives large products of bfloat16 or float16 rows of a length that 8 divides, on GPUs.

    The sizes of vocabularies are odd, and cuBLAS multiplies matrices whose rows start at odd addresses at a sixth of
    the speed. Operands get zeros behind their rows, and what a result has too much is sliced off. Pointwise ops go
    along over the longer rows: zeros replace what they made of the end where another product reads it, and what is
    neutral where a reduction does. So nothing is copied. Where padding costs more than it saves, products stay.

    Before:  `%1 = mm %x, %w; %2 = exp %1; %3 = sum %2, [1]` of `[4096,768]` and `[768,50257]`
    After:   `%1 = mm %x, (cat [%w, 0.0], 1); %2 = exp %1; %3 = sum (where (arange 51200) < 50257, %2, 0.0), [1]`
    """

    def run(self, module: ir.Module) -> bool:
        costs = costs_of(module)
        if not costs.odd_product:
            return False
        padding = _Padding(home(module), costs)
        products = dict.fromkeys(("torch.aten.mm", "torch.aten.addmm"), padding.product)
        return apply_rules(module, products | dict.fromkeys(_NEUTRAL, padding.reduction))


@dataclass
class _Padding:
    """The rules. What is `wide` has anything behind it, up to a size along a dimension, which counts from the last.

    `read` is remembered: how many wide products a value would be computed of, None where it can't be computed wide. So
    is what was `filled` up.
    """

    device: str
    costs: CostModel
    read: dict[tuple[ir.Value, int, int], int | None] = field(default_factory=dict)
    filled: dict[tuple[ir.Value, int, int], ir.Value] = field(default_factory=dict)

    def product(self, op: ir.Operation) -> ir.Value | None:
        *added, first, second = list(op.operands)[: 3 if op.name == "torch.aten.addmm" else 2]
        if require_tensor_info(op.results[0].type).itemsize != 2 or any(len(shape(each)) != 1 for each in added):
            return None
        sizes = (*shape(first), shape(second)[1])
        # Of rows, inner size and columns, those between the starts of neighbouring rows of a matrix in memory.
        pitches = {2, _pitch(first, 0, 1), _pitch(second, 1, 2)}
        rows, inner, columns = (_padded(size) if dim in pitches else size for dim, size in enumerate(sizes))
        if (rows, inner, columns) == sizes or not self._pays(op, sizes):
            return None
        operands = [
            *(self._filled(value, -1, columns) for value in added),
            self._filled(self._filled(first, -2, rows), -1, inner),
            self._filled(self._filled(second, -2, inner), -1, columns),
            *list(op.operands)[len(added) + 2 :],
        ]
        made = _like(op, operands, with_shape(op.results[0].type, (rows, columns)))
        return Slice(Slice(made, 0, 0, sizes[0], 1).build(), 1, 0, sizes[2], 1).build()

    def _pays(self, op: ir.Operation, sizes: tuple[int, ...]) -> bool:
        """Whether the product gains more than a copy of all its matrices costs, which few need."""
        moved = 2 * expected_bytes([*op.operands, *op.results])
        rows, inner, columns = sizes
        return rows * inner * columns * self.costs.odd_product > self.costs.launch + moved * self.costs.byte

    def reduction(self, op: ir.Operation) -> ir.Value | None:
        value, dims = op.operands[0], reduced_dims(op)
        if not shape(value) or not dims or not require_tensor_info(value.type).is_floating_point:
            return None
        count = shape(value)[-1]
        size = _padded(count)
        if not self._reads(value, -1, size):
            return None
        if dims == [len(shape(value)) - 1]:
            masked = self._masked(self._wide(value, -1, size), -1, count, _NEUTRAL[op.name])
            return _like(op, [masked, *list(op.operands)[1:]], op.results[0].type)
        if dims[-1] == len(shape(value)) - 1:
            return None
        made = _like(op, [self._wide(value, -1, size), *list(op.operands)[1:]], _resized(op.results[0].type, -1, size))
        return Slice(made, len(shape(made)) - 1, 0, count, 1).build()

    def _filled(self, value: ir.Value, dim: int, size: int) -> ir.Value:
        """`value` with zeros behind it."""
        count, permuted = shape(value)[dim], made_by(value, PERMUTE)
        order = None if permuted is None else integers(permuted.operands[1])
        if count == size:
            return value
        if permuted is not None and order is not None:
            source = self._filled(permuted.operands[0], order[dim] % 2 - 2, size)
            return create(PERMUTE, [source, permuted.operands[1]], _resized(value.type, dim, size))
        reads = self._reads(value, dim, size)
        key = (self._wide(value, dim, size) if reads else value, dim, size)
        if key not in self.filled:
            self.filled[key] = self._masked(key[0], dim, count, 0.0) if reads else self._joined(value, dim, size)
        return self.filled[key]

    def _joined(self, value: ir.Value, dim: int, size: int) -> ir.Value:
        rest = _resized(value.type, dim, size - shape(value)[dim])
        zeros = full(rest, constant(0.0), named(self.device))
        listed = create(LIST, [value, zeros], torch_type("list<vtensor>"))
        return create("torch.aten.cat", [listed, constant(dim)], _resized(value.type, dim, size))

    def _reads(self, value: ir.Value, dim: int, size: int) -> int | None:
        sizes = shape(value)
        if len(sizes) < -dim or sizes[dim] == 1:
            return 0
        key = (value, dim, size)
        if key not in self.read:
            self.read[key] = self._counted(value, dim, size)
        return self.read[key]

    def _counted(self, value: ir.Value, dim: int, size: int) -> int | None:
        sliced, op = slice_of(value), pointwise_op(value)
        if sliced is not None:
            is_start = (sliced.dim - len(shape(value)), sliced.start, sliced.step) == (dim, 0, 1)
            return 1 if is_start and shape(sliced.base)[dim] == size else None
        if made_by(value, ARANGE) is not None:
            return None if counted(value) is None else 0
        if op is None or recompute_policy(op) in SAVED_POLICIES or any(is_open_type(each.type) for each in op.operands):
            return None
        found = [self._reads(operand, dim, size) for operand in op.operands if is_tensor(operand.type)]
        known = [each for each in found if each is not None]
        return sum(known) if found and len(known) == len(found) else None

    def _wide(self, value: ir.Value, dim: int, size: int) -> ir.Value:
        """`value` wide, computed where it was; what else reads it gets a slice of that, so that it is computed once."""
        sizes, sliced = shape(value), slice_of(value)
        if len(sizes) < -dim or sizes[dim] == 1:
            return value
        if sliced is not None:
            return sliced.base
        op = producer(value)
        assert op is not None
        with op.location, ir.InsertionPoint(op):
            if op.name == ARANGE:
                return counting(size, require_tensor_info(value.type).dtype, self.device)
            operands = [self._wide(each, dim, size) if is_tensor(each.type) else each for each in op.operands]
            wide = _like(op, operands, _resized(value.type, dim, size))
            value.replace_all_uses_with(Slice(wide, len(sizes) + dim, 0, sizes[dim], 1).build())
            return wide

    def _masked(self, wide: ir.Value, dim: int, count: int, number: float) -> ir.Value:
        """`wide` with `number` behind the first `count`."""
        sizes = shape(wide)
        # Of 32 bits, since a kernel's vectors are of as many numbers as its widest ones allow.
        index = counting(sizes[dim], "int32", self.device)
        inside = create("torch.aten.lt.Scalar", [index, constant(count)], tensor_type([sizes[dim]], "bool"))
        if dim != -1:
            across = (sizes[dim], *(1 for _ in sizes[dim + 1 :]))
            inside = create("torch.aten.view", [inside, integer_list(across)], with_shape(inside.type, across))
        other = full(with_shape(wide.type, ()), constant(number), named(self.device))
        return create("torch.aten.where.self", [inside, wide, other], wide.type)


def _pitch(value: ir.Value, rows: int, columns: int) -> int:
    """Which of its sizes is between the starts of neighbouring rows of a matrix in memory."""
    return columns if made_by(value, PERMUTE) is None else rows


def _like(op: ir.Operation, operands: Sequence[ir.Value], result: ir.Type) -> ir.Value:
    return of_others(op, operands, result, static(require_tensor_info(result).shape))


def _resized(type_: ir.Type, dim: int, size: int) -> ir.Type:
    sizes = list(require_tensor_info(type_).shape)
    sizes[dim] = size
    return with_shape(type_, sizes)


def _padded(size: int) -> int:
    """`size`, if it is aligned, or a larger one that is."""
    if size % _ALIGNED == 0:
        return size
    found = [-(-size // multiple) * multiple for multiple in (*_BETTER, _ALIGNED)]
    return next((padded for padded in found[:-1] if padded <= size * (1 + _MUCH)), found[-1])
