"""What the final IR says of a graph's work: what is saved, and where everything runs."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DRIVER, KEPT_APART, MEASURED, PLAN, VARIANT
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import OwnOp, WriteOp
from dovetail.dialects.reading import Role, body, producer, referred, returned, role
from dovetail.dialects.statements.calls import is_extern, is_fallback, reason
from dovetail.dialects.statements.regions import choice
from dovetail.dialects.statements.saved import SavedValue, saved_values
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.explanation.outputs import copy_of, memory_of
from dovetail.explanation.records import Input, Op, Region, Saved
from dovetail.explanation.value_origins import Origins, line


def saved(origins: Origins, inputs: tuple[Input, ...]) -> tuple[Saved, ...]:
    """The results of `@forward` that are kept for the backward."""
    forward, names = origins.module.forward, [argument.name for argument in inputs]
    if Role.BACKWARD not in origins.module:
        return ()
    stated = saved_values(forward, origins.module.backward)
    handed_over = returned(forward)
    by_value = names_of_owned(origins, handed_over, names)
    results = [by_value.get(value, "") for value in handed_over]
    found = []
    for value, said in zip(handed_over[len(handed_over) - len(stated) :], stated, strict=True):
        info = tensor_info(value.type)
        found.append(
            Saved(
                value=_whose(said, results, names) or _computed(value, origins, names),
                nbytes=info.nbytes if info else 0,
                private=not said.is_checked,
                static=said.in_argument is not None and inputs[said.in_argument].static,
                line=origins.line(value),
                checked_for=tuple(results[number] for number in sorted(said.checked_for or ())),
                for_replay=said.for_replay,
            )
        )
    return tuple(found)


def _whose(said: SavedValue, results: Sequence[str], names: Sequence[str]) -> str:
    """The input or the result in whose memory a saved value lies, "" if it is in none's."""
    if said.in_argument is not None:
        return f"input {names[said.in_argument]}"
    result = said.in_result if said.result is None else said.result
    return "" if result is None else results[result]


def _computed(value: ir.Value, origins: Origins, names: list[str]) -> str:
    copied, op = copy_of(value, origins, names), origins.producer(value)
    return f"copy of {copied}" if copied else name_of(op) if op is not None else "a constant"


def names_of_owned(origins: Origins, returned: list[ir.Value], names: list[str]) -> dict[ir.Value, str]:
    """What `@forward` owns, each with the best known use that `@call` makes of it."""
    caller = body(origins.module.call)
    uses = [(value, f"result {index}") for index, value in enumerate(caller[-1].operands)]
    for op in caller:
        if isinstance(op.opview, WriteOp):
            uses.append((op.opview.value, f"new value of {memory_of(op.opview.ref, origins, names)}"))
    call = origins.forward_call()
    uses += [(value, f"memory {number} of the call") for number, value in enumerate(call.operation.results)]
    found: dict[ir.Value, str] = {}
    for value, name in uses:
        op = producer(value)
        if op is not None and op == call.operation:
            handed = returned[ir.OpResult(value).result_number]
            if isinstance(handed.owner.opview, OwnOp):
                found.setdefault(handed, name)
    return found


def regions(origins: Origins) -> tuple[Region, ...]:
    """What is compiled, in order."""
    planned = {referred(plan, PLAN) for plan in origins.module.of(Role.PLAN).values()}
    found = []
    for name, function_op in origins.module.regions.items():
        ops = [op for op in body(function_op) if computes(op)]
        lines = dict.fromkeys(line(op.location) for op in ops)
        names = tuple(name_of(op) for op in ops)
        where = tuple(each for each in lines if each)
        measured = choice(function_op, MEASURED, "")
        tuned = _tuned(function_op, name in planned) if measured else ""
        found.append(Region(name, len(ops), names, where, tuned, measured, choice(function_op, KEPT_APART, "")))
    return tuple(found)


def _tuned(region: func.FuncOp, is_planned: bool) -> str:
    """What tuning chose for `region`; the parts of one that it split are in no variant."""
    variant = choice(region, VARIANT, "")
    return f"{variant} on {'plan' if is_planned else choice(region, DRIVER, '')}" if variant else "split"


def library_calls(origins: Origins) -> tuple[Op, ...]:
    """What runs through ATen, in order, and why."""
    hosts = [each for each in origins.module.functions.values() if not (each.is_external or role(each) is Role.REGION)]
    ops = [op for host in hosts for op in body(host) if is_extern(op)]
    return tuple(Op(name_of(op), line(op.location), reason(op), is_fallback(op)) for op in ops)


def computes(op: ir.Operation) -> bool:
    """Whether `op` computes: no view and no constant."""
    return is_extern(op) or (aten_name(op) is not None and kind(op) not in (Kind.VIEW, Kind.CONSTANT))


def name_of(op: ir.Operation) -> str:
    """The name under which explanations show `op`."""
    return (control_flow_name(op) or aten_name(op) or op.name).removesuffix(".default")
