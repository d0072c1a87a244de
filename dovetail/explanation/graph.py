"""What the final IR says of dataflow: what forward and backward compute from what, through regions and their memory."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dataflow import follow
from dovetail.dialects.reading import Role, arguments, returned
from dovetail.dialects.statements.calls import made
from dovetail.dialects.statements.saved import tangent_results
from dovetail.dialects.torch_facts.sizes import print_sizes
from dovetail.dialects.torch_facts.types import shaped_info
from dovetail.explanation.inputs import tensor_type
from dovetail.explanation.picture_records import Node
from dovetail.explanation.records import Input, Op, Saved
from dovetail.explanation.value_origins import Origins, line
from dovetail.explanation.work import computes, name_of, names_of_owned


def nodes(origins: Origins, inputs: tuple[Input, ...], saved: tuple[Saved, ...]) -> tuple[Node, ...]:
    """The ops of `@forward` and `@backward`, and the values at their edges, each after what it is computed from."""
    reader = _Dataflow(origins, [argument.name for argument in inputs])
    reader.forward(saved)
    if Role.BACKWARD in origins.module:
        reader.backward()
    return tuple(reader.nodes)


def recomputed(found: Iterable[Node]) -> tuple[Op, ...]:
    """What the backward computes from saved values alone: the forward did so before."""
    return tuple(Op(node.name, node.line) for node in found if node.role == "recomputed")


class _Dataflow:
    """Collects nodes in the order of the ops."""

    def __init__(self, origins: Origins, names: list[str]):
        self.origins, self.names = origins, names
        self.nodes: list[Node] = []
        bodies = origins.module.bodies.items()
        self.positions = {op: (name, index) for name, ops in bodies for index, op in enumerate(ops)}
        self.returned = returned(origins.module.forward)
        self.results = names_of_owned(origins, self.returned, names)
        self.saved: list[int] = []
        self.half = Role.FORWARD

    def forward(self, saved: tuple[Saved, ...]) -> None:
        forward = self.origins.module.forward
        given = [
            self._add(Node(name, "input", (), _type(argument), ""))
            for name, argument in zip(self.names, arguments(forward), strict=True)
        ]
        sources, kept = self._follow(forward, given), len(self.returned) - len(saved)
        for value, of in zip(self.returned[:kept], sources[:kept], strict=True):
            self._add(Node(self.results[value], "result", of, _type(value), self.origins.line(value)))
        for value, of, each in zip(self.returned[kept:], sources[kept:], saved, strict=True):
            self.saved += self._add(Node(each.value, "saved", of, _type(value), each.line))

    def backward(self) -> None:
        self.half = Role.BACKWARD
        backward = self.origins.module.backward
        given: list[tuple[int, ...]] = [(number,) for number in self.saved]
        for argument, result in zip(arguments(backward)[len(given) :], tangent_results(backward), strict=True):
            given.append(self._add(Node(self.results[self.returned[result]], "tangent", (), _type(argument), "")))
        for name, value, of in zip(self.names, returned(backward), self._follow(backward, given), strict=True):
            if shaped_info(value.type) is not None:
                self._add(Node(name, "gradient", of, _type(value), self.origins.line(value)))

    def _follow(self, function_op: func.FuncOp, given: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The nodes that each of a function's results is computed from."""
        return [sources or () for sources in follow(function_op, given, self.origins.module, self._compute)]

    def _compute(self, op: ir.Operation, operands: Sequence[tuple[int, ...] | None]) -> Iterator[tuple[int, ...]]:
        sources = tuple(dict.fromkeys(number for operand in operands for number in operand or ()))
        if computes(op):
            sources = self._add(self._op(op, sources))
        return repeat(sources)

    def _op(self, op: ir.Operation, sources: tuple[int, ...]) -> Node:
        name, index = self.positions[op]
        placement = name if name in self.origins.module.regions else "library call"
        type_ = _type(made(op)[0]) if made(op) else ""
        return Node(name_of(op), self._role(sources), sources, type_, line(op.location), placement, f"{name}:{index}")

    def _role(self, sources: tuple[int, ...]) -> str:
        roles = {self.nodes[source].role for source in sources}
        is_early = self.half is Role.BACKWARD and roles and roles <= {"saved", "recomputed"}
        return "recomputed" if is_early else self.half.value

    def _add(self, node: Node) -> tuple[int]:
        self.nodes.append(node)
        return (len(self.nodes) - 1,)


def _type(value: ir.Value) -> str:
    """A tensor's type as "float32[4, 2]", "" for what is none."""
    info = tensor_type(value.type) or shaped_info(value.type)
    return f"{info.dtype}[{print_sizes(info.shape, ', ')}]" if info else ""
