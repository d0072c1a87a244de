"""Pass `unify-sums`: sums and means of the same numbers, however they are written, come from one sum."""

from dataclasses import dataclass, field
from math import inf, prod

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE
from dovetail.dialects.reading import Module, copy_attributes
from dovetail.dialects.statements.recompute import recompute_policy
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.types import tensor_info, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import constant, integer, integer_list, is_none
from dovetail.passes.rewriting.rules import create, shape
from dovetail.passes.rewriting.sums import MEANS, SUM, SUMS, reduced_dims

_DIVIDED = ("float32", "float64")

_Key = tuple[object, ...]


class UnifySumsPass(Pass, name="unify-sums", runs_at="joint"):
    """Makes one sum of those that add up the same dimensions of one value, written in several ways.

    `x.sum()`, `x.sum(0)` and `x.sum(-1, keepdim=True)` of a row have the same bits in eager, and a comparison may ask
    for them: then they have to be one computation, which only equal ops become. So they become views of one sum, and a
    mean of float32 or float64 becomes what ATen makes of it: a quotient, on a GPU a product by 1/n. A sum that no other
    one equals stays as it is, and so does one of open sizes, or of which the user's checkpointing says something else.

    Before:  `%1 = torch.aten.sum %0, %none; %2 = torch.aten.mean.dim %0, [-1], %true, %none` of `[8]`
    After:   `%1 = torch.aten.sum.dim_IntList %0, [0], %false, %none; %2 = torch.aten.div.Scalar %3, 8` of a view `%3`
    """

    def run(self, module: ir.Module) -> bool:
        divides, is_changed = device_type(module) == "cpu", False
        for ops in Module(module).bodies.values():
            sums = _Sums(divides)
            for op in ops:
                if op.name in (*SUMS, *MEANS):
                    sums.offer(op)
            is_changed |= bool(sums.totals)
        return is_changed


@dataclass
class _Sums:
    """The sums of one body: `first` met of each key, and, of those met again, `totals` without the dimensions.

    A mean `divides` its sum by how many numbers it is of, or is its product by the inverse of that.
    """

    divides: bool
    first: dict[_Key, ir.Operation] = field(default_factory=dict)
    totals: dict[_Key, ir.Value] = field(default_factory=dict)

    def offer(self, op: ir.Operation) -> None:
        """Replaces `op`, and the first of its key, if there is another one."""
        key = self._key(op)
        first = op if key is None else self.first.setdefault(key, op)
        if key is None or first is op:
            return
        if key not in self.totals:
            with ir.InsertionPoint(first), first.location:
                self.totals[key] = _total(first)
            self._replace(first, self.totals[key])
        self._replace(op, self.totals[key])

    def _key(self, op: ir.Operation) -> _Key | None:
        source, result = op.operands[0], tensor_info(op.results[0].type)
        info, dims, dtype = tensor_info(source.type), reduced_dims(op), op.operands[len(op.operands) - 1]
        if info is None or result is None or not dims or not result.is_floating_point or result.is_complex:
            return None
        if op.name in MEANS and result.dtype not in _DIVIDED:
            return None
        return source, tuple(dims), None if is_none(dtype) else integer(dtype), result.dtype, recompute_policy(op)

    def _replace(self, op: ir.Operation, total: ir.Value) -> None:
        """Puts what `total` says in the place of `op`."""
        result, dims = op.results[0], reduced_dims(op)
        assert dims is not None
        with ir.InsertionPoint(op), op.location:
            if total.type != result.type:
                total = _with_policy(op, create("torch.aten.view", [total, integer_list(shape(result))], result.type))
            if op.name in MEANS:
                count = prod(shape(op.operands[0])[dim] for dim in dims)
                name, number = ("div", count) if self.divides else ("mul", 1 / count if count else inf)
                total = _with_policy(op, create(f"torch.aten.{name}.Scalar", [total, constant(number)], result.type))
        result.replace_all_uses_with(total)
        op.erase()


def _total(op: ir.Operation) -> ir.Value:
    """The sum that `op` is, or divides, without the dimensions that it takes in."""
    source, dims = op.operands[0], reduced_dims(op)
    assert dims is not None
    kept = [size for dim, size in enumerate(shape(source)) if dim not in dims]
    operands = [source, integer_list(dims), constant(False), op.operands[len(op.operands) - 1]]
    return _with_policy(op, create(SUM, operands, with_shape(op.results[0].type, kept)))


def _with_policy(op: ir.Operation, value: ir.Value) -> ir.Value:
    copy_attributes(op, value.owner, RECOMPUTE)
    return value
