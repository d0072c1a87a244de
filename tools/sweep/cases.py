"""How the sweep calls each op: one case is one overload with its arguments, on one element type and shape."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dovetail.dialects.torch_facts.ops import Kind, kind_of_name
from dovetail.dialects.torch_facts.rows import OPS
from dovetail.errors import OptionError
from dovetail.tools.sweep.sample_calls import CALLS, Slot, X, Y, Z
from dovetail.tools.sweep.values import DTYPES

aten = torch.ops.aten


@dataclass(frozen=True)
class Case:
    """One call of one overload."""

    overload: torch._ops.OpOverload
    arguments: tuple
    keywords: tuple[tuple[str, object], ...]
    dtype: torch.dtype
    shape: str = "full"

    @property
    def name(self) -> str:
        return f"{self.overload.namespace}.{self.overload._opname}.{self.overload._overloadname}"

    def __str__(self) -> str:
        shown = [argument.name if isinstance(argument, Slot) else repr(argument) for argument in self.arguments]
        shown += [f"{key}={value!r}" for key, value in self.keywords]
        return f"{self.name}({', '.join(shown)}) {str(self.dtype).removeprefix('torch.')} {self.shape}"


_NUMBERS = (2, -3, 0.5, 0)
# What half precision, float32 or a narrow integer can't hold: too large, too small, and inexact.
HARD_NUMBERS = (524287, -65520, 1e-9, 3e-6, -0.1, 1 / 3, 2049, 16777217, 1e39, 2**53 + 1)
_HARD_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.int8)
_SHAPED = (torch.float32, torch.int64)

# Code for a conversion depends on both types, and on whether it is a vector's or that of a tail.
_CONVERSIONS = ("_to_copy.default",)


def all_names() -> list[str]:
    """All ops that a region may hold, e.g. "maximum"."""
    return sorted({row.name.partition(".")[0] for row in OPS if row.kind not in (Kind.LIBRARY, Kind.UNKNOWN)})


def all_cases(names: Sequence[str]) -> list[Case]:
    """Every case of the ops called `names`."""
    return [case for name in names for overload in _overloads(name) for case in _cases(overload)]


def _overloads(name: str) -> list[torch._ops.OpOverload]:
    """The functional overloads of an op that tracing leaves as they are."""
    packet = getattr(aten, name, None)
    found = []
    for overload_name in packet.overloads() if packet is not None else []:
        if not torch._C._dispatch_has_kernel(f"aten::{name}" + f".{overload_name}" * (overload_name != "default")):
            continue  # TorchScript's own, on numbers and lists
        overload = getattr(packet, overload_name)
        schema = overload._schema
        composite = torch._C._dispatch_has_kernel_for_dispatch_key(overload.name(), "CompositeImplicitAutograd")
        if composite or schema.is_mutable or overload_name.endswith("out") or "Dimname" in str(schema):
            continue
        found.append(overload)
    return found


def _cases(overload: torch._ops.OpOverload) -> list[Case]:
    key = f"{overload._opname}.{overload._overloadname}"
    calls = [_call(each) for each in (CALLS[key] if key in CALLS else _calls_of_schema(overload))]
    kind = kind_of_name(f"aten.{key}")
    cases = [
        Case(overload, *call, dtype)
        for call in calls
        for dtype in (_SHAPED if kind is Kind.CREATION and not _has_slot(call) else DTYPES)
    ]
    if key in _CONVERSIONS:
        cases += [Case(overload, *call, dtype, shape) for call in calls for dtype in DTYPES for shape in ("odd", "one")]
    elif kind in (Kind.POINTWISE, Kind.REDUCTION):
        cases += [Case(overload, *call, dtype) for call in _of_one_operand(calls) for dtype in _SHAPED]
        shapes = ("broadcast", "odd", "one", "scalar", "empty")
        cases += [Case(overload, *call, dtype, shape) for call in calls for dtype in _SHAPED for shape in shapes]
    if kind in (Kind.POINTWISE, Kind.MOVEMENT):
        cases += _of_hard_numbers(overload, calls)
    return cases


def _of_hard_numbers(overload: torch._ops.OpOverload, calls: Sequence[tuple[tuple, tuple]]) -> list[Case]:
    """`calls` with each of their numbers in turn as each hard one. Beside whole numbers, keywords must be whole."""
    scalars = {index: each.name for index, each in enumerate(overload._schema.arguments) if str(each.type) == "number"}
    found: dict[str, Case] = {}
    for positional, keywords in calls:
        for index, name in scalars.items():
            for number in HARD_NUMBERS if index < len(positional) or name in dict(keywords) else ():
                given = (
                    (*positional[:index], number, *positional[index + 1 :]) if index < len(positional) else positional
                )
                named = tuple((key, number if key == name else value) for key, value in keywords)
                for dtype in _HARD_DTYPES:
                    if dtype.is_floating_point or index < len(positional) or isinstance(number, int):
                        case = Case(overload, given, named, dtype)
                        found[str(case)] = case  # calls that differ in this number alone are one
    return list(found.values())


def _of_one_operand(calls: Sequence[tuple[tuple, tuple]]) -> list[tuple[tuple, tuple]]:
    """Of the calls on several tensors, those on one tensor several times: a comparison may be folded then."""
    return [
        (tuple(X if each in (Y, Z) else each for each in positional), keywords)
        for positional, keywords in calls
        if X in positional and {Y, Z}.intersection(each for each in positional if isinstance(each, Slot))
    ]


def _has_slot(call) -> bool:
    return any(isinstance(argument, Slot) for argument in call[0])


def _call(call: tuple) -> tuple[tuple, tuple]:
    if len(call) == 2 and isinstance(call[0], tuple) and isinstance(call[1], dict):
        return call[0], tuple(call[1].items())
    return call, ()


def _calls_of_schema(overload: torch._ops.OpOverload) -> list[tuple]:
    """Tensors by position, a few numbers where a number is required, defaults otherwise."""
    calls: list[tuple] = [()]
    tensors = iter((X, Y, Z))
    for argument in overload._schema.arguments:
        if argument.kwarg_only or argument.has_default_value():
            break
        kind = str(argument.type)
        if kind == "Tensor":
            slot = next(tensors)
            calls = [(*call, slot) for call in calls]
        elif kind in ("number", "Scalar"):
            calls = [(*call, number) for call in calls for number in _NUMBERS]
        else:
            raise OptionError(
                f"{overload}: argument '{argument.name}' is {kind}, expected a row in CALLS of "
                "tools/sweep/sample_calls.py"
            )
    return calls
