"""`@joint` by numbers: what a partition asks of each op and value again and again, asked of the bindings once."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import RECOMPUTE
from dovetail.dialects.building.cloning import clone
from dovetail.dialects.memory.roots import is_view, memory_roots
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import arguments, body, drop_attributes
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.recompute import RECOMPUTED_POLICIES, SAVED_POLICIES, is_pinned, recompute_policy
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.in_regions import may_stand_in_regions
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.passes.partition.min_cut import Graph, OpNode


@dataclass(slots=True, eq=False)
class JointNode(OpNode):
    """One op; what `is_once` is never computed again.

    Attributes:
        is_apart: it is no part of a region, so that what it takes and gives stands in memory.
    """

    view: ir.OpView
    kind: Kind
    policy: str | None
    is_view: bool
    is_extern: bool
    is_once: bool
    is_apart: bool

    @property
    def is_constant(self) -> bool:
        return self.kind is Kind.CONSTANT

    @property
    def is_recomputed(self) -> bool:
        """Whether the user wants the backward to compute its results anew, and that is possible."""
        return self.policy in RECOMPUTED_POLICIES and not self.is_extern and not self.is_once

    @property
    def is_saved(self) -> bool:
        """Whether the user wants its results saved."""
        return self.policy in SAVED_POLICIES


class JointGraph(Graph[JointNode]):
    """The nodes of `@joint` in order, and its values: the arguments, then each node's results."""

    def __init__(self, joint: func.FuncOp):
        self.joint = joint
        self.device = device_type(joint.operation.parent)
        self.arguments = arguments(joint)
        self.values: list[ir.Value] = list(self.arguments)
        self.producers: list[int | None] = [None] * len(self.arguments)  # the node that computes a value, by number
        self.numbers = {value: number for number, value in enumerate(self.values)}
        self.nodes = [self._node(index, op) for index, op in enumerate(body(joint))]
        self._by_class: defaultdict[type, list[int]] = defaultdict(list)
        for index, node in enumerate(self.nodes):
            self._by_class[type(node.view)].append(index)
        # By value: whose memory it lies in.
        roots = memory_roots(node.op for node in self.nodes)
        self.roots = [self.numbers[roots.get(value, value)] for value in self.values]

    def _node(self, index: int, op: ir.Operation) -> JointNode:
        operands = tuple(self.numbers[value] for value in op.operands)
        first = len(self.values)
        for value in op.results:
            self.numbers[value] = len(self.values)
            self.values.append(value)
            self.producers.append(index)
        results = tuple(range(first, len(self.values)))
        policy, once, apart = recompute_policy(op), is_pinned(op), not may_stand_in_regions(op, self.device)
        return JointNode(op, operands, results, op.opview, kind(op), policy, is_view(op), is_extern(op), once, apart)

    def of(self, *classes: type) -> list[int]:
        """The nodes whose ops are of one of `classes`, in order."""
        return sorted(index for each in classes for index in self._by_class[each])

    def ancestors(self, roots: Iterable[int]) -> set[int]:
        """The nodes `roots` and every node that they need."""
        return reachable(roots, self.operand_nodes)

    def clone(self, indices: Iterable[int], values: dict[ir.Value, ir.Value]) -> None:
        """Clones nodes, in the order given, at the insertion point; `values` goes from the joint's to the clone's.

        Constants are cloned along where they are used. `dovetail.recompute` has done its work, and stays behind.
        """
        for index in indices:
            node = self.nodes[index]
            if node.is_constant:
                continue
            with node.op.location:
                drop_attributes(clone(node.op, values), RECOMPUTE)
