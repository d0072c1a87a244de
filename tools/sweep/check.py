"""Compiles many cases as one program, runs it on each class of values and compares with ATen."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch_mlir import ir
from torch_mlir.dialects import func
from torch_mlir.extras.fx_importer import FxImporter

from dovetail.backends.outcomes import CompileFailure
from dovetail.backends.target import CpuTarget, Target
from dovetail.dialects.attributes import PLACEMENT, PLACEMENT_REASON
from dovetail.dialects.calls import is_extern, reason
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import Module, Role, set_role
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind_of_name
from dovetail.dialects.torch_facts.types import TensorInfo, require_tensor_info
from dovetail.frontend.decompose.table import decompositions
from dovetail.frontend.to_ir.node_importer import NodeImporter
from dovetail.passes.placement.place_ops import PlaceOpsPass
from dovetail.runtime.launch import prepare
from dovetail.tools.sweep.cases import Case, Slot
from dovetail.tools.sweep.launch import launched, lower
from dovetail.tools.sweep.values import CLASSES, tensor

# Relative and absolute tolerance in units of the dtype's epsilon. Eager itself is a few units off.
UNITS = {torch.float32: 32, torch.float64: 4096, torch.float16: 4, torch.bfloat16: 4}


# By overload: where eager itself is off, or depends on the order in which an overflow happens.
_OVERFLOW = "where a product or sum overflows on the way, or an infinity takes part"
_ONE_PASS = "eager's one-pass mean is NaN where an infinity takes part or the sum overflows; ours is infinite"
_LOOPS = "eager's vector loop gives NaN for a NaN input, its loop for the rest the gradient"
_HALF_PRODUCT = "of float16 with `alpha`: without AVX2, eager rounds the product to float16, and it overflows"
_OF_ALPHA = ("aten.add.Tensor", "aten.rsub.Tensor", "aten.sub.Tensor")
EAGER_IS_OFF = {
    "aten.prod.dim_int": "eager multiplies float16 in float16 along a dimension, and overflows",
}
ACCEPTED = {
    **EAGER_IS_OFF,
    "aten.softplus_backward.default": _OVERFLOW,
    "aten.hardtanh_backward.default": "eager's vector loop gives 0 for a NaN input, its loop for the rest the gradient",
    "aten.addcdiv.default": _OVERFLOW,
    "aten.addcmul.default": _OVERFLOW,
    "aten.sigmoid_backward.default": _OVERFLOW,
    "aten._softmax_backward_data.default": _OVERFLOW,
    "aten._log_softmax_backward_data.default": _OVERFLOW,
    "aten.var_mean.correction": _ONE_PASS,
    "aten.native_layer_norm.default": _ONE_PASS,
    "aten.native_group_norm.default": _ONE_PASS,
    **dict.fromkeys(("aten.elu_backward.default", "aten.hardswish_backward.default"), _LOOPS),
    "aten.gelu.default": "eager's value for +inf is NaN in its vector loop",
    **dict.fromkeys(_OF_ALPHA, _HALF_PRODUCT),
}


@dataclass
class Outcome:
    """What became of one case: "" in `refused` and `failed` and nothing in `differs` means compiled and right."""

    case: Case
    refused: str = ""
    failed: str = ""
    differs: dict[str, str] = field(default_factory=dict)

    @property
    def wrong(self) -> bool:
        """Whether a compiled region would give a wrong result, or not compile."""
        serious = set(self.differs)
        if _is_accepted(self.case):
            serious -= {"special", "beyond"} | ({"ordinary"} if self.case.name in EAGER_IS_OFF else set())
        return bool(self.failed or serious)


def _is_accepted(case: Case) -> bool:
    """Whether what `ACCEPTED` says of the op is about this call."""
    if case.name in _OF_ALPHA:
        return case.dtype is torch.float16 and "alpha" in dict(case.keywords)
    return case.name in ACCEPTED


_SIZED = {
    "scalar": (),
    "row": (16,),
    "column": (16, 1),
    "tall": (32, 16),
    "image": (1, 16, 4, 4),
    "windows": (16, 4, 4),
}


def _fill(slot: Slot, case: Case, which: str) -> torch.Tensor:
    dtype = slot.dtype or case.dtype
    if slot.name in _SIZED:
        size = _SIZED[slot.name]
        count = torch.Size(size).numel()
        return tensor("y", "full", dtype, which).reshape(-1).repeat(2)[:count].reshape(size).clone()
    return tensor(slot.name, case.shape, dtype, which)


def _slots(case: Case) -> list[tuple[Slot, Case]]:
    flat: list = []
    for argument in case.arguments:
        flat.extend(argument if isinstance(argument, list) else [argument])
    return [(each, case) for each in flat if isinstance(each, Slot)]


def _evaluate(case: Case, tensors: dict[Slot, torch.Tensor]) -> list[torch.Tensor]:
    def filled(argument):
        if isinstance(argument, list):
            return [filled(each) for each in argument]
        if argument == "dtype":
            return case.dtype
        return tensors[argument] if isinstance(argument, Slot) else argument

    result = case.overload(*map(filled, case.arguments), **dict(case.keywords))
    results = list(result) if isinstance(result, list | tuple) else [result]
    if kind_of_name(case.name) is Kind.VIEW:  # a view alone is never in a region
        results = [torch.ops.aten.clone.default(each) for each in results]
    return results


def runs_in_eager(case: Case) -> bool:
    """Whether ATen accepts the call at all, and its shape rule, by which tracing goes, too."""
    tensors = {slot: _fill(slot, case, "ordinary") for slot, _ in _slots(case)}
    try:
        _evaluate(case, tensors)
        _evaluate(case, {slot: value.to("meta") for slot, value in tensors.items()})
    except (RuntimeError, IndexError, ValueError, NotImplementedError):
        return False
    return True


def check(cases: list[Case], decompose: bool, target: Target | None = None) -> list[Outcome]:
    """The outcome of each case; one compilation unless something does not compile, then smaller ones."""
    target = CpuTarget() if target is None else target
    module, places, counts, flat = _module(cases, decompose)
    with module.context, ir.Location.unknown():
        PlaceOpsPass().run(module)
        refusals, layout = keep_compiled(module, counts)
        lower(module)
    outcomes = [Outcome(case, refused=each) for case, each in zip(cases, refusals, strict=True)]
    if all(refusals):
        return outcomes
    region = launched(module, target)
    if isinstance(region, CompileFailure) and len(cases) > 1:
        return [outcome for part in _parts(cases) for outcome in check(part, decompose, target)]
    if isinstance(region, CompileFailure):
        return [Outcome(cases[0], failed=region.reason)]
    for which in CLASSES:
        tensors = [_fill(slot, case, which) for slot, case in flat]
        results = [torch.empty(info.shape, dtype=getattr(torch, info.dtype)) for info in layout]
        region.run(*map(prepare, tensors), *results)
        got = iter(results)
        for outcome, place in zip(outcomes, places, strict=True):
            if outcome.refused:
                continue
            operands = [tensors[index] for index in place.values()]
            flushes = which == "subnormal" and not region.keeps_subnormals
            expected = _expected(outcome.case, {slot: tensors[index] for slot, index in place.items()}, flushes)
            for each in expected:
                _compare(outcome, which, next(got), each, operands)
    return outcomes


def _expected(case: Case, tensors: dict[Slot, torch.Tensor], flushes: bool) -> list[list[torch.Tensor]]:
    """For each result what ATen computes, and if what runs the region `flushes`, with subnormals as 0, too."""
    results = [_evaluate(case, tensors)]
    if flushes:
        torch.set_flush_denormal(True)
        results.append(_evaluate(case, tensors))
        torch.set_flush_denormal(False)
    return [list(each) for each in zip(*results, strict=True)]


def keep_compiled(module: ir.Module, counts: list[int]) -> tuple[list[str], list[TensorInfo]]:
    """Drops the results that ATen computes; says for each case why, and the form of what is left."""
    function = module.body.operations[0]
    block = function.body.blocks[0]
    terminator = block.operations[len(block.operations) - 1]
    values = iter(list(terminator.operands))
    refusals, kept = [], []
    for count in counts:
        results = [next(values) for _ in range(count)]
        reasons = [each for value in results for each in _reasons(value)]
        refusals.append(reasons[0] if reasons else "")
        kept += [] if reasons else results
    with ir.InsertionPoint(terminator):
        func.ReturnOp(kept)
    terminator.erase()
    for op in reversed([op.operation for op in block.operations][:-1]):
        if not any(list(result.uses) for result in op.results):
            op.erase()
        else:
            for name in (PLACEMENT, PLACEMENT_REASON):
                if name in op.attributes:
                    del op.attributes[name]
    set_role(function, Role.REGION)
    function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([value.type for value in block.arguments], [value.type for value in kept])
    )
    return refusals, [require_tensor_info(value.type) for value in kept]


def _reasons(value: ir.Value) -> list[str]:
    """Why ops that `value` depends on are not compiled."""
    if isinstance(value.owner, ir.Block):
        return []
    op = value.owner.operation
    found = [each for operand in op.operands for each in _reasons(operand)]
    if is_extern(op):  # a library call as imported, which is never placed
        found.append(f"{aten_name(op)}: {reason(op)}")
    if PLACEMENT in op.attributes and ir.StringAttr(op.attributes[PLACEMENT]).value in ("fallback", "library"):
        name = aten_name(op)
        found.append(f"{name}: {ir.StringAttr(op.attributes[PLACEMENT_REASON]).value}")
    return found


def _parts(cases: list[Case]) -> list[list[Case]]:
    """Smaller batches: by element type, then by overload, then halves."""
    for key in (lambda case: case.dtype, lambda case: case.name):
        groups = defaultdict(list)
        for case in cases:
            groups[key(case)].append(case)
        if len(groups) > 1:
            return list(groups.values())
    return [cases[: len(cases) // 2], cases[len(cases) // 2 :]]


def _module(cases: list[Case], decompose: bool):
    indices: dict[tuple, int] = {}
    flat: list[tuple[Slot, Case]] = []
    places: list[dict[Slot, int]] = []
    counts: list[int] = []
    for case in cases:
        place = {}
        for slot, _ in _slots(case):
            key = (slot, case.dtype if slot.dtype is None else slot.dtype, case.shape)
            if key not in indices:
                indices[key] = len(flat)
                flat.append((slot, case))
            place[slot] = indices[key]
        places.append(place)

    def function(*tensors):
        counts.clear()  # tracing may call more than once
        results = []
        for case, place in zip(cases, places, strict=True):
            computed = _evaluate(case, {slot: tensors[index] for slot, index in place.items()})
            counts.append(len(computed))
            results += computed
        return results

    module = imported(function, [_fill(slot, case, "ordinary") for slot, case in flat], decompose)
    return module, places, counts, flat


def imported(function: Callable, examples: Sequence[torch.Tensor], decompose: bool) -> ir.Module:
    """`function` of tensors like `examples` as the function `@forward` of a module; it returns a list of tensors."""
    table = decompositions() if decompose else {}
    traced = make_fx(function, decomposition_table=table, tracing_mode="fake")(*examples)
    module = ir.Module.create(ir.Location.unknown(context := make_context()))
    with context:
        importer = FxImporter(module=module, config_check=False, graph_node_importer_cls=NodeImporter)
        importer.import_stateless_graph(traced.graph, func_name="forward")
        set_role(Module(module).functions["forward"], Role.FORWARD)
    return module


def _compare(
    outcome: Outcome, which: str, got: torch.Tensor, accepted: list[torch.Tensor], inputs: list[torch.Tensor]
) -> None:
    expected = accepted[0]
    if got.dtype != expected.dtype or got.shape != expected.shape:
        outcome.differs[which] = f"{got.dtype} {tuple(got.shape)} instead of {expected.dtype} {tuple(expected.shape)}"
        return
    wrong = torch.stack([_wrong(outcome, got, each, inputs) for each in accepted]).all(0)
    if wrong.any():
        where = tuple(wrong.nonzero()[0].tolist())
        operands = [each[where].item() for each in inputs if each.shape == wrong.shape and wrong.shape]
        outcome.differs[which] = (
            f"{int(wrong.sum())} of {wrong.numel()}, e.g. {got[where].item()!r} instead of {expected[where].item()!r}"
            f" for {operands}"
        )


def _wrong(outcome: Outcome, got: torch.Tensor, expected: torch.Tensor, inputs: list[torch.Tensor]) -> torch.Tensor:
    """Where the two differ by more than rounding."""
    if not expected.dtype.is_floating_point:
        return got != expected
    a, b = got.double(), expected.double()
    scale = 1.0
    if kind_of_name(outcome.case.name) is Kind.REDUCTION or outcome.case.overload._opname.endswith("_backward"):
        # Not the extremes: against those every error is small.
        sizes = [each.double().abs() for each in inputs]
        scale = max([1.0, *(each[each < 1e4].max().item() for each in sizes if (each < 1e4).any())])
    tolerance = UNITS[expected.dtype] * torch.finfo(expected.dtype).eps
    close = a.isfinite() & b.isfinite() & ((a - b).abs() <= tolerance * (b.abs() + scale))
    return ~(close | (a == b) | (a.isnan() & b.isnan()))
