"""The one builder of regions, and of calls that give them new memory for their results."""

from collections.abc import Iterable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.building.cloning import clone, set_signature, state_facts
from dovetail.dialects.dovetail.ops.alloc import alloc
from dovetail.dialects.memory.contents import load, store
from dovetail.dialects.reading import Role, set_role
from dovetail.dialects.sizes.symbols import facts_of, open_numbers, state_sizes
from dovetail.dialects.torch_facts.types import memory_type


class RegionBuilder:
    """A region in the making. It stands at the current insertion point; what is added to it gets the current location.

    Args:
        name: its symbol.
        operands: what it takes, as known to the code that its ops are cloned from: values, and memory.
        stored: the values, of this code too, for which it takes further memory.

    Attributes:
        function: the region.
        values: what operands, and results of ops since added, are inside.
        memory: the arguments for the further memory.
    """

    def __init__(self, name: str, operands: Sequence[ir.Value], stored: Sequence[ir.Value] = ()):
        types = [*(value.type for value in operands), *(memory_type(value.type) for value in stored)]
        self.function = func.FuncOp(name, ir.FunctionType.get(types, []), visibility="private")
        set_role(self.function, Role.REGION)
        state_facts(self.function, "arg_attrs", dict(enumerate(map(facts_of, [*operands, *stored]))))
        arguments = list(self.function.add_entry_block().arguments)
        self.values: dict[ir.Value, ir.Value] = dict(zip(operands, arguments, strict=False))
        self.memory = arguments[len(operands) :]

    @property
    def end(self) -> ir.InsertionPoint:
        """Where the next op goes."""
        return ir.InsertionPoint(self.function.body.blocks[0])

    def compute(self, ops: Iterable[ir.Operation], values: dict[ir.Value, ir.Value] | None = None) -> None:
        """Clones `ops`, with the constants that they use, through `values`, which gets their results."""
        with self.end:
            for op in ops:
                with op.location:
                    clone(op, self.values if values is None else values)

    def load(self, memory: ir.Value) -> ir.Value:
        """Builds the value that `memory`, one of the region's arguments, holds."""
        with self.end:
            return load(memory)

    def store(self, value: ir.Value, memory: ir.Value) -> None:
        """Stores `value` in `memory`; both are the region's."""
        with self.end:
            store(value, memory)

    def finish(self, results: Sequence[ir.Value] = ()) -> None:
        """Ends the region, which returns what `results` are inside."""
        returned = [self.values[value] for value in results]
        with self.end:
            func.ReturnOp(returned)
        set_signature(self.function, [value.type for value in returned])
        state_facts(self.function, "res_attrs", {index: facts_of(value) for index, value in enumerate(results)})


def new_memory(value: ir.Value) -> ir.Value:
    """Builds memory that can hold `value`, and says the sizes that are known of it.

    Raises:
        KeyError: for open sizes that the symbols of the calling function do not say.
    """
    return state_sizes(alloc(memory_type(value.type), open_numbers(value)).memory, value)


def call_with_new_memory(name: str, operands: Sequence[ir.Value], results: Sequence[ir.Value]) -> list[ir.Value]:
    """Builds a call of the lowered region `name` that stores the values `results` in new memory; returns what it holds.

    Raises:
        KeyError: as `new_memory`.
    """
    held = call_with_memory(name, operands, [new_memory(value) for value in results])
    return [state_sizes(made, value) for made, value in zip(held, results, strict=True)]


def call_with_memory(name: str, operands: Sequence[ir.Value], into: Sequence[ir.Value]) -> list[ir.Value]:
    """Builds a call of the lowered region `name` that stores its results `into` memory; returns what that holds."""
    func.CallOp([], name, [*operands, *into])
    return [load(memory) for memory in into]
