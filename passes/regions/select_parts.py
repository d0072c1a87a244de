"""Pass `select-parts`: short parts that are joined are chosen from element by element."""

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.dialects.statements.devices import home
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.types import with_dtype, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.placement.joins import selects_parts
from dovetail.passes.rewriting.constants import constant, counting, integer, integer_list
from dovetail.passes.rewriting.rules import apply_rules, create, shape
from dovetail.passes.rewriting.sums import with_sizes


class SelectPartsPass(Pass, name="select-parts", runs_at="program"):
    """Makes a concatenation of a few short parts of one size a choice between them by elements' positions.

    A loop over the elements computes what is joined, joins it and goes on with the result: one kernel, where writing
    the parts and joining them are two at least. Rotary embeddings and their gradients are such. Each element is
    computed for every part; the others are not chosen, whatever they are.

    Before:  `%1 = cat [%a, %b], 1` of `[8, 32]` each, `[8, 64]`
    After:   `%1 = view (where (arange 2) == 0, (unsqueeze %a, 1), (unsqueeze %b, 1)), [8, 64]`
    """

    def run(self, module: ir.Module) -> bool:
        type_, device = device_type(module), home(module)

        def rule(op: ir.Operation) -> ir.Value | None:
            return _selected(op, device) if selects_parts(op, type_) else None

        return apply_rules(module, {"torch.aten.cat": rule})


def _selected(op: ir.Operation, device: str) -> ir.Value:
    listed, dim, result = made_by(op.operands[0], LIST), integer(op.operands[1]), op.results[0]
    assert listed is not None
    assert dim is not None
    parts = list(listed.operands)
    sizes = shape(parts[0])
    dim %= len(sizes)
    along = [len(parts), *(1 for _ in sizes[dim:])]
    # Of 32 bits, since a kernel's vectors are of as many numbers as its widest ones allow.
    index = with_sizes(counting(len(parts), "int32", device), along)
    among = with_shape(result.type, (*sizes[:dim], len(parts), *sizes[dim:]))
    alone = [with_sizes(part, (*sizes[:dim], 1, *sizes[dim:])) for part in parts]
    chosen = alone[-1]
    for number in reversed(range(len(parts) - 1)):
        is_here = create("torch.aten.eq.Scalar", [index, constant(number)], with_dtype(index.type, "bool"))
        chosen = create("torch.aten.where.self", [is_here, alone[number], chosen], among)
    return create("torch.aten.view", [chosen, integer_list(shape(result))], result.type)
