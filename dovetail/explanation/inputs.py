"""What the final IR says of a graph's inputs: what is written and how, shared, differentiated and checked."""

import re

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_PLACE, NAME, NOT_IN_PLACE, REQUIRES_GRAD, STATIC
from dovetail.dialects.dovetail import DetachOp, RefType, SetMetadataOp, TouchOp, WriteOp
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Facts, Role, argument_facts, arguments, body, made_by, of_class, returned, role
from dovetail.dialects.torch_facts.types import is_torch_type
from dovetail.explanation.records import CallCheck, Input, MetadataChange, Mutation, Sharing, TensorType
from dovetail.explanation.value_origins import Origins
from dovetail.runtime.checks.guard import Guard, Member
from dovetail.runtime.checks.read_guard import read_guard

_SCOPE = re.compile(r"^[LG]\['(?P<name>[^']*)'\]")
_ITEM = re.compile(r"\._(?:modules|parameters|buffers)\['(?P<name>[^']*)'\]")


def user_name(name: str) -> str:
    """The user's name for what Dynamo calls "L['self']._modules['fc']._parameters['weight']": `self.fc.weight`."""
    return _ITEM.sub(r".\g<name>", _SCOPE.sub(r"\g<name>", name))


def tensor_type(type_: ir.Type) -> TensorType | None:
    """What a ref's type says, None for a type that is none."""
    if not isinstance(type_, RefType):
        return None
    return TensorType(type_.shaped.dtype, type_.shaped.shape, type_.strides, type_.is_row_major)


def inputs(origins: Origins) -> tuple[Input, ...]:
    """One record for each argument of `@call`, in order."""
    caller = origins.module.call
    facts = argument_facts(caller)
    names = [user_name(ir.StringAttr(fact[NAME]).value) for fact in facts]
    gradients = _gradients(origins, facts)
    found = []
    for index, argument in enumerate(arguments(caller)):
        of_it = [op.opview for op in body(caller) if len(op.operands) and memory_root(op.operands[-1]) == argument]
        changes = [op for op in of_it if isinstance(op, SetMetadataOp)]
        found.append(
            Input(
                name=names[index],
                tensor=tensor_type(argument.type),
                gradient=gradients[index],
                static=STATIC in facts[index],
                versions=sum(op.version_count for op in of_it if isinstance(op, WriteOp | SetMetadataOp | TouchOp)),
                mutations=tuple(_mutation(op, origins) for op in of_it if isinstance(op, WriteOp)),
                metadata=_metadata(changes[0]) if changes else None,
                sharing=_sharing(argument, origins),
            )
        )
    return tuple(found)


def guard(origins: Origins) -> CallCheck | None:
    """What a call checks first, None if there is nothing to check."""
    found = _guard_call(origins)
    if found is None:
        return None
    _, check = found
    names = tuple(map(user_name, check.names))
    return CallCheck(
        mutated=names[: check.mutated],
        others=names[check.mutated :] if check.mutated else (),
        shared=tuple(tuple(names[member.index] for member in group) for group in check.groups),
        offsets=tuple((names[index], offset) for index, offset in check.offsets),
    )


def _guard_call(origins: Origins) -> tuple[ir.Operation, Guard] | None:
    for op in of_class(body(origins.module.call), func.CallOp):
        if role(callee := origins.module.callee(op)) is Role.GUARD:
            return op, read_guard(callee)
    return None


def _sharing(argument: ir.Value, origins: Origins) -> tuple[Sharing, ...]:
    found = _guard_call(origins)
    operands = list(found[0].operands) if found else []
    if found is None or argument not in operands:
        return ()
    index, check = operands.index(argument), found[1]
    pairs = [(member, other) for group in check.groups for member in group for other in group if member is not other]
    return tuple(_shared(*pair, user_name(check.names[pair[1].index])) for pair in pairs if pair[0].index == index)


def _shared(member: Member, other: Member, name: str) -> Sharing:
    relation = "views of one tensor" if member.root == other.root else "one storage"
    return Sharing(name, other.start - member.start, "the same object" if member.same == other.same else relation)


def _gradients(origins: Origins, facts: list[Facts]) -> list[str]:
    call = origins.forward_call()
    if Role.BACKWARD not in origins.module:
        return ["no backward" if REQUIRES_GRAD in fact else "not needed" for fact in facts]
    delivered = returned(origins.module.backward)
    found = []
    for stated, passed, gradient in zip(facts, call.operands, delivered, strict=True):
        if REQUIRES_GRAD not in stated:
            found.append("not needed")
            continue
        is_detached = made_by(passed, DetachOp.OPERATION_NAME) is not None
        found.append("detached" if is_detached or is_torch_type(gradient.type, "none") else "computed")
    return found


def _mutation(write: WriteOp, origins: Origins) -> Mutation:
    proof, reason = (_text(write, name) for name in (IN_PLACE, NOT_IN_PLACE))
    value = write.value
    if made_by(value, func.CallOp.OPERATION_NAME):
        value = origins.handed_over(value)
    return Mutation(write.mode_name, write.version_count, proof, reason, origins.line(value))


def _metadata(change: SetMetadataOp) -> MetadataChange:
    shape, strides = (
        tuple(ir.IntegerAttr(number).value for number in ir.ArrayAttr(change.attributes[name]))
        for name in ("size", "stride")
    )
    return MetadataChange(shape, strides, ir.IntegerAttr(change.offset).value, change.version_count)


def _text(op: ir.OpView, name: str) -> str:
    return ir.StringAttr(op.attributes[name]).value if name in op.attributes else ""
