"""Pass `sink-gathers`: what is gathered is computed of gathered elements, not gathered from what was computed."""

from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.building.cloning import erase_unused
from dovetail.dialects.reading import Module, body, users
from dovetail.dialects.sizes.symbols import KnownSize, known_sizes
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.torch_facts.ops import Kind
from dovetail.dialects.torch_facts.types import require_shaped_info, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import integer
from dovetail.passes.rewriting.pointwise import is_whole, of_others, op_of_elements, pointwise_op, with_known_sizes
from dovetail.passes.rewriting.rules import create

_GATHER = "torch.aten.gather"

_FEWER = 4
"""How many times fewer elements a gather must give than there are."""


class SinkGathersPass(Pass, name="sink-gathers", runs_at="joint"):
    """Gathers few elements from a pointwise op's operand, and computes the op of them alone.

    The loss of a classifier takes one logarithm of each row's; all of them would be computed and written to memory.
    Only where nobody else needs the op's result but pointwise ops, which take it along the way, and one tensor has to
    be gathered from. The other operands are single numbers, or have one element where the gather chooses. Before the
    cut, which would save for the backward what is in memory for the gather.

    Before:  `%1 = sub %x, %max; %2 = gather %1, 1, %index`
    After:   `%1 = gather %x, 1, %index; %2 = sub %1, %max`
    """

    def run(self, module: ir.Module) -> bool:
        gathers = [op for op in body(Module(module).joint) if op.name == _GATHER]
        for op in gathers:
            gather = _Gather.of(op)
            if gather is not None:
                gather.sink()
        return bool(gathers)


@dataclass(frozen=True)
class _Gather:
    """A gather that may sink: `op`, along dimension `dim` of a tensor of `sizes`, which gives `chosen` sizes."""

    op: ir.Operation
    dim: int
    sizes: tuple[KnownSize, ...]
    chosen: tuple[KnownSize, ...]

    @classmethod
    def of(cls, op: ir.Operation) -> "_Gather | None":
        source, dim, index = op.operands[0], integer(op.operands[1]), op.operands[2]
        sizes, chosen = known_sizes(source), known_sizes(index)
        others = [user for user in users(source) if user != op]
        in_memory = not all(any(map(pointwise_op, user.results)) for user in others)
        if dim is None or not sizes or chosen is None or in_memory:
            return None
        gather = cls(op, dim % len(sizes), sizes, chosen)
        is_whole = gather._without_dim(sizes) == gather._without_dim(chosen)
        size, count = sizes[gather.dim], chosen[gather.dim]
        # One element is much fewer than an open number of them.
        is_fewer = count * _FEWER <= size if isinstance(count, int) and isinstance(size, int) else count == 1
        return gather if is_whole and is_fewer else None

    def sink(self) -> None:
        source = self.op.operands[0]
        leaves = self._leaves(source)
        if len(leaves) != 1 or source in leaves:
            return
        with self.op.location, ir.InsertionPoint(self.op):
            result = self._gathered(source, {})
        self.op.results[0].replace_all_uses_with(result)
        self.op.erase()
        erase_unused(source, (Kind.POINTWISE,))

    def _leaves(self, value: ir.Value) -> set[ir.Value]:
        """The tensors that have to be gathered from for `value`."""
        if not self._computes(value):
            return {value}
        return set().union(*(self._leaves(each) for each in value.owner.operands if is_whole(each, self.sizes)))

    def _gathered(self, value: ir.Value, known: dict[ir.Value, ir.Value]) -> ir.Value:
        """Builds the gathered elements of `value`, of all `sizes`."""
        if value not in known:
            type_ = with_shape(value.type, require_shaped_info(self.op.operands[2].type).shape)
            if self._computes(value):
                op = value.owner.operation
                operands = [self._gathered(each, known) if is_whole(each, self.sizes) else each for each in op.operands]
                known[value] = of_others(op, operands, type_, self.chosen)
            else:
                gathered = create(_GATHER, [value, *list(self.op.operands)[1:]], type_)
                known[value] = with_known_sizes(gathered, self.chosen)
        return known[value]

    def _computes(self, value: ir.Value) -> bool:
        """Whether a pointwise op computes `value`, of which each operand can be gathered from or is as it should be."""
        op = op_of_elements(value, self.sizes, self._is_shared)
        return op is not None and not is_pinned(op)

    def _is_shared(self, tensor: ir.Value) -> bool:
        """Whether each element that is gathered meets one element of `tensor`."""
        sizes = known_sizes(tensor)
        if sizes is None:
            return False
        is_one = len(sizes) == len(self.sizes) and sizes[self.dim] == 1
        return not sizes or (is_one and self._without_dim(sizes) == self._without_dim(self.sizes))

    def _without_dim(self, sizes: tuple[KnownSize, ...]) -> tuple[KnownSize, ...]:
        return sizes[: self.dim] + sizes[self.dim + 1 :]
