"""A placed function as lists of numbers, so that forming regions asks the bindings once about each op."""

from dataclasses import dataclass, field

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PLACEMENT, SHOWS_ROWS
from dovetail.dialects.dovetail import OwnOp, ReadOp
from dovetail.dialects.reading import body
from dovetail.dialects.sizes.expected import expected_bytes, expected_info
from dovetail.dialects.sizes.symbols import is_open_op
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.names import LIST, UNPACK
from dovetail.dialects.torch_facts.ops import is_constant, row
from dovetail.passes.base import fail
from dovetail.passes.placement.joins import is_read_in_wide_numbers
from dovetail.passes.placement.open_sizes import may_move
from dovetail.passes.placement.scattered_views import is_scattered
from dovetail.passes.rewriting.pointwise import converts

_SMALL = 1 << 18
"""Bytes that take a GPU less time than a launch, which early conversions share."""

_QUICK = 1 << 24
"""Bytes that take a GPU a few microseconds: conversions that wait for others share launches, but hold memory."""

_UNPLACED = {ReadOp.OPERATION_NAME: "read", OwnOp.OPERATION_NAME: "own", func.ReturnOp.OPERATION_NAME: "end"}


@dataclass
class PlacedGraph:
    """The operations of a function, by their number in order.

    Attributes:
        placement: "region", "host" (a library call), "view", "constant", "read", "own" or "end".
        is_pinned: whether its result is computed once, for all to read.
        is_effect: whether it is a library call from the start, which keeps its order.
        enters: whether it is a view that can move into a region.
        is_early: whether it converts, on a GPU, a small tensor that the function is given, for library calls alone.
        is_late: whether it converts or lays out, on a GPU, what a library call gives, for the function's caller alone.
        is_joined: whether it lists tensors for regions, which take those that lie in memory and compute the others.
        producers, users: the numbers of the ops that compute its operands, and of those that use its results.
        operands, results: its values.
        made_by: for a value, the number of the op that computes it.
        consumers: for a value, the numbers of its users.
    """

    ops: list[ir.Operation]
    placement: list[str] = field(default_factory=list)
    is_pinned: list[bool] = field(default_factory=list)
    is_effect: list[bool] = field(default_factory=list)
    enters: list[bool] = field(default_factory=list)
    is_early: list[bool] = field(default_factory=list)
    is_late: list[bool] = field(default_factory=list)
    is_joined: list[bool] = field(default_factory=list)
    producers: list[list[int]] = field(default_factory=list)
    users: list[list[int]] = field(default_factory=list)
    operands: list[list[ir.Value]] = field(default_factory=list)
    results: list[list[ir.Value]] = field(default_factory=list)
    made_by: dict[ir.Value, int] = field(default_factory=dict)
    consumers: dict[ir.Value, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, function_op: func.FuncOp) -> "PlacedGraph":
        """Reads `function_op`; raises PassError at an op without a placement."""
        graph = cls(body(function_op))
        made_by, device = graph.made_by, device_type(function_op.operation.parent)
        for number, op in enumerate(graph.ops):
            operands, results = list(op.operands), list(op.results)
            graph.is_pinned.append(is_pinned(op))
            graph.is_effect.append(is_extern(op))
            graph.placement.append("host" if graph.is_effect[-1] else _placement(op))
            # A list that a library call returns is unpacked on the host.
            is_unpacked = op.name == UNPACK and graph.placement[made_by[operands[0]]] == "host"
            graph.enters.append(graph.placement[-1] == "view" and not is_unpacked and _may_enter(op, device))
            graph.is_early.append(device != "cpu" and graph._converts_given(op))
            graph.is_late.append(device != "cpu" and graph._converts_called(op))
            graph.operands.append(operands)
            graph.results.append(results)
            given = dict.fromkeys(operands)
            producers = dict.fromkeys([made_by.get(value) for value in given])
            graph.producers.append([each for each in producers if each is not None])
            graph.users.append([])
            for producer in graph.producers[-1]:
                graph.users[producer].append(number)
            for value in given:
                graph.consumers.setdefault(value, []).append(number)
            for value in results:
                made_by[value] = number
        for op, users in zip(graph.ops, graph.users, strict=True):
            number = len(graph.is_joined)
            graph.is_early[number] = graph.is_early[number] and graph._is_for_calls(number)
            graph.is_late[number] = graph.is_late[number] and graph._is_for_caller(number)
            is_list = bool(users) and op.name == LIST
            graph.is_joined.append(is_list and all(graph.placement[user] == "region" for user in users))
        return graph

    def _converts_given(self, op: ir.Operation) -> bool:
        made = self.made_by.get(op.operands[0]) if converts(op) and not is_open_op(op) else None
        return made is not None and self.placement[made] == "read" and expected_bytes(op.operands[:1]) <= _SMALL

    def _converts_called(self, op: ir.Operation) -> bool:
        lays_out = row(op).is_identity and row(op).format_at is not None
        if not (converts(op) or lays_out) or is_open_op(op) or expected_bytes(op.results) > _QUICK:
            return False
        made = self.made_by.get(op.operands[0])
        while made is not None and self.placement[made] == "view":
            made = self.made_by.get(self.operands[made][0])
        return made is not None and self.placement[made] == "host"

    def _is_for_caller(self, number: int) -> bool:
        """Whether what op `number` computes is returned, itself or a view of it, and nothing else takes it."""
        return bool(self.users[number]) and all(
            self.placement[user] == "end" or (self.placement[user] == "view" and self._is_for_caller(user))
            for user in self.users[number]
        )

    def _is_for_calls(self, number: int) -> bool:
        """Whether no region takes what op `number` computes, directly or through views."""
        return all(
            self._is_for_calls(user) if self.placement[user] == "view" else self.placement[user] != "region"
            for user in self.users[number]
        )

    def is_constant(self, value: ir.Value) -> bool:
        """Whether `value` is a Python value, which is cloned to where it is used."""
        number = self.made_by.get(value)
        return number is not None and self.placement[number] == "constant"

    def __len__(self) -> int:
        return len(self.ops)


def placement_of(op: ir.Operation) -> str:
    """Where `op` was said to run; "" where nothing is said."""
    return ir.StringAttr(op.attributes[PLACEMENT]).value if PLACEMENT in op.attributes else ""


def _may_enter(view: ir.Operation, device: str) -> bool:
    if view.name == "torch.operator" or SHOWS_ROWS in view.attributes:
        return False
    tensors = [expected_info(value) for value in (*view.operands, *view.results)]
    if any(refused.holds(view.name, tensors, device) for refused in row(view).refused):
        return False
    if is_scattered(view, device) and not (device == "cpu" and is_read_in_wide_numbers(view)):
        return False
    return may_move(view, device) or not is_open_op(view)


def _placement(op: ir.Operation) -> str:
    if is_constant(op):
        return "constant"
    if tagged := placement_of(op):
        return "host" if tagged in ("library", "fallback") else tagged
    if op.name in _UNPLACED:
        return _UNPLACED[op.name]
    raise fail(op, f"has no '{PLACEMENT}', run 'place-ops' first")
