"""What a concatenation joins, and one that is read in another order of its dimensions, built in that order."""

from torch_mlir import ir

from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import made_by, producer, users
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import kind
from dovetail.dialects.torch_facts.reshapes import RESHAPES
from dovetail.dialects.torch_facts.row import IN_REGIONS
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import reordered
from dovetail.dialects.torch_facts.types import tensor_info, torch_type, with_shape
from dovetail.passes.rewriting.constants import constant, integer
from dovetail.passes.rewriting.permutations import permuted
from dovetail.passes.rewriting.rules import create, shape

CAT = "torch.aten.cat"


def parts_of(op: ir.Operation) -> tuple[list[ir.Value], int] | None:
    """The tensors that a `cat` joins, and along which dimension; None if it converts or is not known in full."""
    made, dim, result = made_by(op.operands[0], LIST), integer(op.operands[1]), op.results[0]
    infos = [] if made is None else [tensor_info(value.type) for value in (*made.operands, result)]
    if made is None or dim is None or None in infos:
        return None
    ranks, dtypes = {len(info.shape) for info in infos if info}, {info.dtype for info in infos if info}
    return (list(made.operands), dim % ranks.pop()) if len(ranks) == len(dtypes) == 1 else None


def concatenated(parts: list[ir.Value], dim: int, result: ir.Type) -> ir.Value:
    """Builds the concatenation of `parts` along `dim`."""
    return create(CAT, [create(LIST, parts, torch_type("list<vtensor>")), constant(dim)], result)


def turned(op: ir.Operation) -> ir.Value | None:
    """Builds what a permutation shows of a concatenation that nothing else reads; None where it stays.

    Where parts lie in turns, a library copies them, and whoever wants the rows of another order would copy it all
    again. Rows of the last dimension stay together. What regions compute they write in its place, as it is.
    """
    order, shown = reordered(op), op.operands[0]
    made = made_by(shown, CAT, *RESHAPES)
    is_stack = made is not None and made.name != CAT
    cat = made_by(made.operands[0], CAT) if made is not None and is_stack else made
    found = None if cat is None else parts_of(cat)
    if order is None or cat is None or found is None or len(users(shown)) > 1 or len(users(cat.results[0])) > 1:
        return None
    parts, before = found
    if any(map(_is_computed, parts)) or (is_stack and not _stacks(parts, before, shape(shown))):
        return None
    after, sizes, last = order.index(before), shape(shown), len(order) - 1
    lies_in_turns = all(any(sizes[dim] != 1 for dim in outer) for outer in (range(before), order[:after]))
    if not lies_in_turns or order[last] != last or before == last:
        return None
    shaped = [_with_dimension(part, before) if is_stack else part for part in parts]
    return concatenated([permuted(part, shape(part), order) for part in shaped], after, op.results[0].type)


def _stacks(parts: list[ir.Value], dim: int, sizes: Sizes) -> bool:
    """Whether a concatenation in `sizes` has a dimension for its parts, before the one that they are joined along."""
    part = shape(parts[0])
    is_split = sizes == (*part[:dim], len(parts), *part[dim:])
    return is_split and all(shape(each) == part for each in parts)


def _with_dimension(part: ir.Value, dim: int) -> ir.Value:
    sizes = shape(part)
    type_ = with_shape(part.type, (*sizes[:dim], 1, *sizes[dim:]))
    return create("torch.aten.unsqueeze", [part, constant(dim)], type_)


def _is_computed(part: ir.Value) -> bool:
    """Whether a region may compute `part`."""
    made = producer(memory_root(part))
    return made is not None and kind(made) in IN_REGIONS
