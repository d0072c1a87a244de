"""What the final IR says of dataflow: what forward and backward compute from what, through regions and their memory."""

from collections.abc import Iterable

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import TANGENT_OF
from dovetail.dialects.reading import Role, argument_fact, body, returned, role, symbol
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.explanation.inputs import tensor_type
from dovetail.explanation.picture_records import Node
from dovetail.explanation.records import Input, Op, Saved
from dovetail.explanation.value_origins import Origins, line
from dovetail.explanation.work import handed_out, is_work, name_of


def nodes(origins: Origins, inputs: tuple[Input, ...], saved: tuple[Saved, ...]) -> tuple[Node, ...]:
    """The ops of `@forward` and `@backward`, and the values at their edges, each after what it is computed from."""
    reader = _Dataflow(origins, [each.name for each in inputs])
    reader.forward(saved)
    if Role.BACKWARD in origins.module:
        reader.backward()
    return tuple(reader.nodes)


def recomputed(found: Iterable[Node]) -> tuple[Op, ...]:
    """What the backward computes from saved values alone: the forward did so before."""
    return tuple(Op(each.name, each.line) for each in found if each.role == "recomputed")


class _Dataflow:
    """Collects nodes in the order of the ops; `of` are the nodes that a value is computed from."""

    def __init__(self, origins: Origins, names: list[str]):
        self.origins, self.names = origins, names
        self.nodes: list[Node] = []
        self.of: dict[ir.Value, tuple[int, ...]] = {}
        self.returned = returned(origins.module.forward)
        self.results: dict[ir.Value, str] = {}
        for value, name in handed_out(origins, self.returned, names):
            self.results.setdefault(value, name)
        self.saved: list[int] = []
        self.half = "forward"

    def forward(self, saved: tuple[Saved, ...]) -> None:
        function_op = self.origins.module.forward
        for name, argument in zip(self.names, function_op.body.blocks[0].arguments, strict=True):
            self.of[argument] = self._add(Node(name, "input", (), _type(argument), ""))
        self._run(function_op)
        kept = len(self.returned) - len(saved)
        for value in self.returned[:kept]:
            self._add(Node(self.results[value], "result", self.of[value], _type(value), self.origins.line(value)))
        for value, each in zip(self.returned[kept:], saved, strict=True):
            self.saved += self._add(Node(each.value, "saved", self.of[value], _type(value), each.line))

    def backward(self) -> None:
        self.half = "backward"
        function_op = self.origins.module.backward
        for number, argument in enumerate(function_op.body.blocks[0].arguments):
            if argument_fact(function_op, number, TANGENT_OF) is None:
                self.of[argument] = (self.saved[number],)
                continue
            facts = ir.DictAttr(function_op.attributes["arg_attrs"][number])
            result = self.returned[ir.IntegerAttr(facts[TANGENT_OF]).value]
            self.of[argument] = self._add(Node(self.results[result], "tangent", (), _type(argument), ""))
        self._run(function_op)
        for name, value in zip(self.names, body(function_op)[-1].operands, strict=True):
            if tensor_info(value.type) is not None:
                self._add(Node(name, "gradient", self.of[value], _type(value), self.origins.line(value)))

    def _run(self, function_op: func.FuncOp) -> None:
        name = symbol(function_op)
        for index, op in enumerate(body(function_op)):
            if isinstance(op.opview, func.CallOp):
                self._call(op)
            elif op.name == "torch.overwrite.tensor.contents":
                self.of[op.operands[1]] = self.of[op.operands[0]]
            else:
                sources = self._sources(op)
                if is_work(op):
                    sources = self._add(self._op(op, sources, f"{name}:{index}", function_op))
                self.of.update(dict.fromkeys(op.results, sources))

    def _call(self, op: ir.Operation) -> None:
        """A region reads its operands, and overwrites some of them."""
        region = self.origins.module.callee(op)
        arguments = list(region.body.blocks[0].arguments)
        self.of.update({inner: self.of[given] for inner, given in zip(arguments, op.operands, strict=True)})
        self._run(region)
        self.of.update({given: self.of[inner] for inner, given in zip(arguments, op.operands, strict=True)})

    def _op(self, op: ir.Operation, sources: tuple[int, ...], at: str, function_op: func.FuncOp) -> Node:
        place = symbol(function_op) if role(function_op) is Role.REGION else "library call"
        type_ = _type(op.results[0]) if len(op.results) else ""
        return Node(name_of(op), self._role(sources), sources, type_, line(op.location), place, at)

    def _role(self, sources: tuple[int, ...]) -> str:
        roles = {self.nodes[each].role for each in sources}
        is_early = self.half == "backward" and roles and roles <= {"saved", "recomputed"}
        return "recomputed" if is_early else self.half

    def _sources(self, op: ir.Operation) -> tuple[int, ...]:
        return tuple(dict.fromkeys(number for value in op.operands for number in self.of[value]))

    def _add(self, node: Node) -> tuple[int]:
        self.nodes.append(node)
        return (len(self.nodes) - 1,)


def _type(value: ir.Value) -> str:
    """A tensor's type as "float32[4, 2]", "" for what is none."""
    info = tensor_type(value.type) or tensor_info(value.type)
    return f"{info.dtype}{list(info.shape)}" if info else ""
