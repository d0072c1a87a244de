"""Pass `repeat-in-regions`: regions compute what others would write for them, where this costs less."""

from collections.abc import Iterable, Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module, Role, arguments, is_used, role
from dovetail.dialects.sizes.expected import expected_bytes, expected_infos
from dovetail.dialects.sizes.symbols import is_open_op
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.exactness import deciding_operands
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.row import Rounding
from dovetail.passes.base import Pass
from dovetail.passes.costs.cost_model import FUNCTION_BYTES, CostModel, costs_of
from dovetail.passes.partition.min_cut import Cost, Graph, OpNode, RecomputeNetwork
from dovetail.passes.placement.placed_graph import PlacedGraph
from dovetail.passes.placement.region_levels import Level, region_levels
from dovetail.passes.rewriting.pointwise import converts

_REPEATED = (Kind.POINTWISE, Kind.CREATION, Kind.VIEW)


class RepeatInRegionsPass(Pass, name="repeat-in-regions", runs_at="split"):
    """Computes cheap ops of the backward in each region that needs them, where passing their results costs more.

    The gradient of a GELU needs five numbers of each element, and all follow from one. A region that computes GELU
    again for a product of matrices would write four of them for the region after that product. What a region reads is
    the cheapest cut between what lies in memory and what the region computes, by the target's costs
    (`passes/costs/cost_model.py`): bytes read and written, arguments, and what is computed once more. Nothing that
    decides by last bits is repeated, nor what is pinned. What the forward computes for several regions it mostly saves,
    and reading arguments late would keep updates from their memory: there, on a GPU, regions repeat conversions to
    wider numbers alone, of what is no argument, and what is made of constants.

    Before:  `%1 = tanh %x {region}; %2 = mm(%1, %w) {library}; %3 = mul(%2, %1) {region}`
    After:   `%1 = tanh %x {region}; %2 = mm(%1, %w) {library}; %4 = tanh %x {region}; %3 = mul(%2, %4) {region}`
    """

    def run(self, module: ir.Module) -> None:
        roles = [Role.BACKWARD] if device_type(module) == "cpu" else [Role.FORWARD, Role.BACKWARD]
        for function_op in Module(module).of(*roles).values():
            _Repeater(function_op, costs_of(module)).run()


class _Repeater(Graph[OpNode]):
    """Repeats ops of one function, and is the graph that the network asks.

    Attributes:
        nodes: the ops, numbered as in `graph`, then the arguments.
        prices: by node, what computing it once more costs; None where it can't be, or all its results lie in memory.
        stored: by value, whether it lies in memory whatever is repeated from here on.
        reads: by value, what reading it costs, and writing it for that; None of what is no memory.
    """

    def __init__(self, function_op: func.FuncOp, costs: CostModel):
        self.costs = costs
        self.graph = graph = PlacedGraph.of(function_op)
        self.is_backward = role(function_op) is Role.BACKWARD
        self.levels = region_levels(graph, is_backward=self.is_backward)
        results = [*graph.results, *([argument] for argument in arguments(function_op))]
        values = [value for each in results for value in each]
        self.producers = [index for index, made in enumerate(results) for _ in made]
        numbers = {value: number for number, value in enumerate(values)}
        self.nodes = [
            OpNode(
                graph.ops[index] if index < len(graph) else function_op.operation,
                tuple(numbers[each] for each in self._tensors(index)),
                tuple(numbers[each] for each in made),
            )
            for index, made in enumerate(results)
        ]
        self.prices = [self._price(index) for index in range(len(self.nodes))]
        self.stored = [self._is_stored(value, *self.nodes_of([number])) for number, value in enumerate(values)]
        self.reads = [self._cost(number, value) for number, value in enumerate(values)]
        for index in range(len(self.graph)):
            self._stop_at(index)

    def run(self) -> None:
        for level in self.levels:
            if level.region:
                self._repeat(level)
        for op in reversed(self.graph.ops):
            if row(op).kind in _REPEATED and not is_used(*op.results):
                op.erase()

    def _repeat(self, level: Level) -> None:
        needed = self._needed(set(level.region))
        if all(self.stored[value] for value in needed):
            return
        read = RecomputeNetwork(self, needed, self.prices).cut(self.reads, self.prices)
        for value in read:
            if not self.stored[value]:
                # Writing it costs nothing more.
                cost = self.reads[value]
                self.stored[value], self.reads[value] = True, None if cost is None else cost // 2
                self._stop_at(*self.nodes_of([value]))
        self._clone(self._between(set(read), needed), level.region)

    def _needed(self, computed: set[int]) -> list[int]:
        """The values that a region which computes these ops takes from elsewhere."""

        def shown(number: int) -> list[int]:
            return self.operand_nodes(number) if self._is_inside_view(number) else []

        used = dict.fromkeys(value for number in sorted(computed) for value in self.nodes[number].operands)
        own = {value for value in used if reachable(self.nodes_of([value]), shown) & computed}
        return [value for value in used if value not in own]

    def _between(self, read: set[int], needed: Iterable[int]) -> list[int]:
        """The ops that compute what is `needed` from what is `read`, in order; none that only shows it."""

        def unread(values: Iterable[int]) -> list[int]:
            return self.nodes_of(value for value in values if value not in read)

        def before(number: int) -> list[int]:
            return unread(self.nodes[number].operands)

        computed: set[int] = set()
        for number in sorted(reachable(unread(needed), before)):
            if not self._is_inside_view(number) or not computed.isdisjoint(self.operand_nodes(number)):
                computed.add(number)
        return sorted(computed)

    def _clone(self, again: Iterable[int], computed: Iterable[int]) -> None:
        """Computes the ops `again` a second time, for those that a region computes."""
        made: dict[ir.Value, ir.Value] = {}
        for number in again:
            op = self.graph.ops[number]
            with ir.InsertionPoint(op):
                copy = op.clone()
            _use(copy, made)
            made.update(zip(op.results, copy.results, strict=True))
        for number in computed:
            _use(self.graph.ops[number], made)

    def _tensors(self, index: int) -> list[ir.Value]:
        operands = self.graph.operands[index] if index < len(self.graph) else []
        return [value for value in operands if not self.graph.is_constant(value)]

    def _is_stored(self, value: ir.Value, producer: int) -> bool:
        """Whether no region computes `value`, or somebody else needs it too, directly or through views."""
        if producer >= len(self.graph) or self.graph.placement[producer] not in ("region", "view"):
            return True
        return any(
            any(self._is_stored(result, user) for result in self.graph.results[user])
            if self._is_inside_view(user)
            else self.graph.placement[user] != "region"
            for user in self.graph.consumers.get(value, ())
        )

    def _cost(self, number: int, value: ir.Value) -> Cost:
        if any(map(self._is_inside_view, self.nodes_of([number]))):
            return None
        nbytes = expected_bytes([value]) + round(self.costs.argument / self.costs.byte)
        return nbytes if self.stored[number] else 2 * nbytes

    def _stop_at(self, index: int) -> None:
        """Prices a node no more whose results all lie in memory, else each region would look at all before it."""
        if not self._is_inside_view(index) and all(self.stored[value] for value in self.nodes[index].results):
            self.prices[index] = None

    def _is_inside_view(self, number: int) -> bool:
        return number < len(self.graph) and self.graph.enters[number]

    def _price(self, index: int) -> Cost:
        if self._is_inside_view(index):
            return 0
        if index >= len(self.graph) or self.graph.placement[index] != "region" or self.graph.is_pinned[index]:
            return None
        op, facts = self.graph.ops[index], row(self.graph.ops[index])
        is_by_position = facts.is_by_position and not converts(op)
        if facts.kind not in _REPEATED or is_by_position or deciding_operands(op) or is_open_op(op):
            return None
        if not (self.is_backward or facts.kind is Kind.CREATION or self._widens(index)):
            return None
        is_function = facts.rounding is Rounding.OFTEN and not facts.multiplies
        return facts.flops(op, expected_infos) * (FUNCTION_BYTES if is_function else 1)

    def _widens(self, index: int) -> bool:
        """Whether an op converts what is no argument to more bytes."""
        op = self.graph.ops[index]
        if not converts(op):
            return False
        made = self.graph.made_by.get(op.operands[0])
        while made is not None and self.graph.placement[made] == "view":
            made = self.graph.made_by.get(self.graph.operands[made][0])
        is_argument = made is None or self.graph.placement[made] == "read"
        return not is_argument and expected_bytes(op.results) > expected_bytes([op.operands[0]])


def _use(op: ir.Operation, made: Mapping[ir.Value, ir.Value]) -> None:
    """Has `op` read the copies where there are any."""
    operands = op.operands
    for index, operand in enumerate(list(operands)):
        if operand in made:
            operands[index] = made[operand]
