"""How a module is read: its functions by role, a function's operations, and what is said of arguments and results.

Names of functions are for readers; nothing depends on them. What a function is for, its `dovetail.role` says.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cached_property
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import ROLE
from dovetail.dialects.by_key import by_key
from dovetail.dialects.statements.stated import named, stated
from dovetail.errors import ModuleError


class Role(Enum):
    """What a function of the IR is for; the values are the words of `dovetail.role`."""

    JOINT = "joint"  # forward and backward as one, what the frontend makes
    CALL = "call"  # what the user calls: all that touches the user's memory
    FORWARD = "forward"  # computes what the call hands out, then what is saved
    BACKWARD = "backward"  # from saved values and tangents to one gradient, or none, for each argument of the forward
    BORDER = "border"  # declares a call of forward and backward that is one node of autograd's graph
    GUARD = "guard"  # declares a check, before anything else runs, that arguments lie in memory as is assumed
    REGION = "region"  # compiled as one unit
    SUBGRAPH = "subgraph"  # a branch, a condition or a loop's body, which control flow runs
    PLAN = "plan"  # what a region launches
    LAYOUTS = "layouts"  # how operands of the backward lie, by how tangents do: run on tensors without memory


COMPUTING = (Role.FORWARD, Role.BACKWARD, Role.SUBGRAPH)
"""Roles of functions that compute: their ops are placed, and from then on the host schedules them."""

_ROLES = {each.value: each for each in Role}

_ADVANCE, _SKIP = ir.WalkResult.ADVANCE, ir.WalkResult.SKIP

Facts: TypeAlias = ir.DictAttr
"""The attributes of an argument or a result, by name."""


class Module:
    """The functions of a module when this was made; what a pass adds or erases later is not seen.

    Attributes:
        operation: the module itself.
        functions: all of them, by symbol, in order.
    """

    def __init__(self, module: ir.Module | ir.Operation):
        self.operation = module.operation
        functions = (op for op in self.operation.opview.body.operations if isinstance(op, func.FuncOp))
        self.functions: dict[str, func.FuncOp] = {symbol(op): op for op in functions}
        self._ops: dict[str, list[ir.Operation]] = {}
        self._by_role: defaultdict[Role, dict[str, func.FuncOp]] = defaultdict(dict)
        for name, op in self.functions.items():
            stated = role(op)
            if stated is not None:
                self._by_role[stated][name] = op

    def __contains__(self, wanted: Role) -> bool:
        """Whether some function has this role."""
        return bool(self._by_role[wanted])

    def of(self, *roles: Role) -> dict[str, func.FuncOp]:
        """The functions that have one of `roles`, by symbol, in the order of the module."""
        if len(roles) == 1:
            return dict(self._by_role[roles[0]])
        return {name: op for name, op in self.functions.items() if role(op) in roles}

    def the(self, wanted: Role) -> func.FuncOp:
        """The first function that has this role.

        Raises:
            ModuleError: if there is none, naming the functions that exist.
        """
        if wanted not in self:
            names = ", ".join(f"@{function}" for function in self.functions) or "none"
            raise ModuleError(f"expected a function of '{ROLE}' \"{wanted.value}\", the module has {names}")
        return next(iter(self._by_role[wanted].values()))

    @property
    def joint(self) -> func.FuncOp:
        return self.the(Role.JOINT)

    @property
    def call(self) -> func.FuncOp:
        return self.the(Role.CALL)

    @property
    def forward(self) -> func.FuncOp:
        return self.the(Role.FORWARD)

    @property
    def backward(self) -> func.FuncOp:
        return self.the(Role.BACKWARD)

    @property
    def borders(self) -> dict[str, func.FuncOp]:
        return self.of(Role.BORDER)

    @property
    def guards(self) -> dict[str, func.FuncOp]:
        return self.of(Role.GUARD)

    @property
    def regions(self) -> dict[str, func.FuncOp]:
        return self.of(Role.REGION)

    def region(self, call: ir.OpView | ir.Operation) -> func.FuncOp | None:
        """The region that a `func.call` calls, None if it calls something else."""
        return self._by_role[Role.REGION].get(referred(call, "callee"))

    def callee(self, call: ir.OpView | ir.Operation) -> func.FuncOp:
        """The function that a `func.call` calls."""
        return self.functions[referred(call, "callee")]

    @cached_property
    def bodies(self) -> dict[str, list[ir.Operation]]:
        """The operations of each function, by symbol; a declaration has none."""
        return {name: self._listed(name) for name in self.functions}

    def ops(self, function_op: func.FuncOp) -> list[ir.Operation]:
        """The operations of one of the functions, as they were when first asked for."""
        return self._listed(symbol(function_op))

    def _listed(self, name: str) -> list[ir.Operation]:
        if name not in self._ops:
            self._ops[name] = body(self.functions[name])
        return self._ops[name]

    def calls(self) -> dict[str, list[func.CallOp]]:
        """The calls in all functions by the function that they call, in order."""
        calls = (op.opview for ops in self.bodies.values() for op in of_class(ops, func.CallOp))
        return by_key((referred(call, "callee"), call) for call in calls)


def module_of(function_op: func.FuncOp) -> Module | None:
    """The module that `function_op` stands in, if it stands in one."""
    parent = function_op.operation.parent
    return None if parent is None else Module(parent)


def forward_of(function_op: func.FuncOp) -> func.FuncOp | None:
    """The forward whose saved values the backward `function_op` takes; None for any other function, or without one."""
    module = module_of(function_op) if role(function_op) is Role.BACKWARD else None
    return module.forward if module is not None and Role.FORWARD in module else None


def role(op: ir.OpView) -> Role | None:
    """What `op` is for; None if it does not say, or is no function."""
    stated = op.attributes.get(ROLE, None) if isinstance(op, func.FuncOp) else None
    return _ROLES.get(stated.value) if isinstance(stated, ir.StringAttr) else None


def set_role(function_op: func.FuncOp, stated: Role) -> None:
    """Says what `function_op` is for."""
    function_op.attributes[ROLE] = ir.StringAttr.get(stated.value, function_op.operation.context)


def attribute(op: ir.OpView | ir.Operation, name: str) -> ir.Attribute | None:
    """The attribute `name` of `op`, None without."""
    return named(op.attributes, name)


def copy_attributes(source: ir.OpView | ir.Operation, target: ir.OpView | ir.Operation, *names: str) -> None:
    """Has `target` say under `names` what `source` says."""
    for name in names:
        if name in source.attributes:
            target.attributes[name] = source.attributes[name]


def drop_attributes(op: ir.OpView | ir.Operation, *names: str) -> None:
    """Has `op` say nothing under `names`."""
    for name in names:
        if name in op.attributes:
            del op.attributes[name]


def symbol(op: ir.OpView) -> str:
    """The symbol that `op` defines."""
    return ir.StringAttr(op.attributes["sym_name"]).value


def referred(op: ir.OpView | ir.Operation, attribute: str) -> str:
    """The symbol that `attribute` of `op` refers to."""
    return stated(op, attribute, ir.FlatSymbolRefAttr)


def body(function_op: func.FuncOp) -> list[ir.Operation]:
    """The operations of a one-block function, in order, as a list that survives rewriting; a declaration has none."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        found.append(op)
        return _SKIP if len(found) > 1 else _ADVANCE  # of the function's ops, regions are not gone into

    # A loop over the block's operations would make a view of each.
    function_op.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def terminator(function_op: func.FuncOp) -> ir.Operation:
    """The last operation of a one-block function."""
    return function_op.body.blocks[0].operations[-1].operation


def returned(function_op: func.FuncOp) -> list[ir.Value]:
    """What a one-block function returns."""
    return list(terminator(function_op).operands)


def arguments(function_op: func.FuncOp) -> list[ir.Value]:
    """What a one-block function takes."""
    return list(function_op.body.blocks[0].arguments)


def by_argument(call: ir.OpView | ir.Operation, function_op: func.FuncOp) -> dict[ir.Value, ir.Value]:
    """What a `call` of `function_op` passes, by the argument that takes it."""
    return dict(zip(arguments(function_op), call.operands, strict=True))


def of_class(ops: Iterable[ir.Operation], *classes: type[ir.OpView]) -> list[ir.Operation]:
    """Those of `ops` that are of one of `classes`. Goes by name: making an op's view costs ten times as much."""
    names = {each.OPERATION_NAME for each in classes}
    return [op for op in ops if op.name in names]


def producer(value: ir.Value) -> ir.Operation | None:
    """The operation that computes `value`, None for an argument."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def made_by(value: ir.Value, *names: str) -> ir.Operation | None:
    """The operation that computes `value` if it has one of `names`."""
    op = producer(value)
    return op if op is not None and op.name in names else None


def operand_ops(op: ir.Operation) -> Iterator[ir.Operation]:
    """The operations that compute `op`'s operands; block arguments have none."""
    for value in op.operands:
        owner = value.owner
        if not isinstance(owner, ir.Block):
            yield owner.operation


def users(*values: ir.Value) -> list[ir.Operation]:
    """The operations that use one of `values`, once for each use."""
    return [use.owner.operation for value in values for use in value.uses]


def is_used(*values: ir.Value) -> bool:
    """Whether anything uses one of `values`."""
    return any(True for value in values for _ in value.uses)


def argument_facts(function_op: func.FuncOp) -> list[Facts]:
    """The attributes of each argument."""
    listed = attribute(function_op, "arg_attrs")
    return _nothing(function_op, function_op.type.inputs) if listed is None else list(listed)


def result_facts(function_op: func.FuncOp) -> list[Facts]:
    """The attributes of each result."""
    listed = attribute(function_op, "res_attrs")
    return _nothing(function_op, function_op.type.results) if listed is None else list(listed)


def argument_fact(function_op: func.FuncOp, index: int, name: str) -> ir.Attribute | None:
    """The attribute `name` of argument `index`, None without."""
    return _fact(function_op, "arg_attrs", index, name)


def result_fact(function_op: func.FuncOp, index: int, name: str) -> ir.Attribute | None:
    """The attribute `name` of result `index`, None without."""
    return _fact(function_op, "res_attrs", index, name)


def fact_of(argument: ir.Value, name: str) -> ir.Attribute | None:
    """The attribute `name` of `argument`, one of a function's, None without."""
    return argument_fact(argument.owner.owner.opview, ir.BlockArgument(argument).arg_number, name)


def numbers(attributes: Facts, name: str) -> tuple[int, ...] | None:
    """The array of numbers `name` among `attributes`, None where it is not there."""
    return tuple(ir.DenseI64ArrayAttr(attributes[name])) if name in attributes else None


def _nothing(function_op: func.FuncOp, types: Sequence[ir.Type]) -> list[Facts]:
    return [ir.DictAttr.get({}, function_op.operation.context)] * len(types)


def _fact(function_op: func.FuncOp, where: str, index: int, name: str) -> ir.Attribute | None:
    stated = attribute(function_op, where)
    return None if stated is None else named(ir.DictAttr(ir.ArrayAttr(stated)[index]), name)
