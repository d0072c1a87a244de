"""The ways to run one region, each as a call on random inputs: what tuning chooses from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompileFailure
from dovetail.backends.python.emitter import Emitter
from dovetail.backends.target import DRIVERS, IREE_DRIVERS, VARIANTS
from dovetail.dialects.attributes import DRIVER
from dovetail.dialects.building.region_builder import call_with_memory
from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.dovetail.ops.alloc import alloc
from dovetail.dialects.reading import Module, body
from dovetail.dialects.statements.devices import home
from dovetail.dialects.statements.regions import choice, destinations
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.types import TensorInfo, is_memory_type, require_tensor_info, value_type
from dovetail.loading import Loaded, compilation, launchable, launchers, loaded, write_plans
from dovetail.passes.regions.choose_drivers import ChooseDriversPass
from dovetail.passes.regions.inline_regions import InlineRegionsPass
from dovetail.passes.regions.pieces import pieces_of
from dovetail.passes.regions.split_region import SplitRegionPass
from dovetail.runtime.host import taking_any

LIBRARY, SPLIT = "library", "split"


def ways() -> dict[str, tuple[str, str]]:
    """The variants that regions are compiled in, with the drivers that run them, in the order of measuring.

    Figures are kept under the texts.
    """
    return {f"{variant} on {driver}": (variant, driver) for variant in VARIANTS for driver in DRIVERS}


@dataclass(frozen=True)
class Alternative:
    """A way to run a region: a call of it runs the region on inputs of its own and returns the results."""

    name: str
    run: Callable[[], Sequence[torch.Tensor]]

    def __call__(self) -> Sequence[torch.Tensor]:
        return self.run()

    def results(self) -> list[torch.Tensor]:
        """Copies of what one call computes."""
        return [result.clone() for result in self()]


def alternatives_of(
    region: func.FuncOp, target: Target, timeout: float, cache: RegionCache | None
) -> dict[str, Alternative]:
    """By name ("default on local-sync", "split", "library"), those that compile within `timeout` seconds each.

    A region that updates arguments is one only as a whole, and in the default variant: there is nothing to hold the
    results of another one against.
    """
    infos = [require_tensor_info(type_) for type_ in region.type.inputs if not is_memory_type(type_)]
    generator = torch.Generator().manual_seed(0)
    run = _Runs([_random(info, generator) for info in infos], timeout, cache)
    updates = any(op.name == LOAD for op in body(region))
    found: list[Alternative | None] = [
        run.compiled(name, _alone(region), target.variant(variant), driver)
        for name, (variant, driver) in ways().items()
        if variant == "default" or not updates
    ]
    if not updates and pieces_of(region) is not None:
        found.append(run.compiled(SPLIT, _after(SplitRegionPass("region"), _alone(region)), target))
    if not updates:
        found.append(run.compiled(LIBRARY, _after(InlineRegionsPass("region"), _alone(region)), target))
    return {alternative.name: alternative for alternative in found if alternative is not None}


def is_right(actual: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> bool:
    """Whether the results are those of ATen, up to rounding."""
    return all(_close(*pair) for pair in zip(actual, expected, strict=True))


def _close(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    tolerance = 1e-2 if expected.dtype in (torch.float16, torch.bfloat16) else 1e-4
    return torch.allclose(actual, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def _random(info: TensorInfo, generator: torch.Generator) -> torch.Tensor:
    dtype = getattr(torch, info.dtype)
    if info.is_floating_point:
        return torch.rand(info.shape, generator=generator).to(dtype)
    return torch.randint(0, 2, info.shape, generator=generator).to(dtype)


def _alone(region: func.FuncOp) -> ir.Module:
    """A module with a copy of `region`, and `@host` that calls it as a program does."""
    types = list(region.type.inputs)
    inputs = [type_ for type_ in types if not is_memory_type(type_)]
    outputs = [value_type(type_) for type_ in types[len(inputs) :]]
    module = ir.Module.create()
    copied = region.operation.clone(ip=ir.InsertionPoint(module.body))
    copied.attributes["sym_name"] = ir.StringAttr.get("region")
    with ir.InsertionPoint(module.body):
        host = func.FuncOp("host", ir.FunctionType.get(inputs, outputs))
    entry = host.add_entry_block()
    with ir.InsertionPoint(entry):
        into = [alloc(type_).memory for type_ in types[len(inputs) :]]
        func.ReturnOp(call_with_memory("region", list(entry.arguments), into))
    return module


def _after(pass_: SplitRegionPass | InlineRegionsPass, module: ir.Module) -> ir.Module:
    pass_.run(module)
    return module


@dataclass(frozen=True)
class _Runs:
    """Makes alternatives of modules that have an `@host`."""

    inputs: list[torch.Tensor]
    timeout: float
    cache: RegionCache | None

    def compiled(self, name: str, module: ir.Module, target: Target, driver: str | None = None) -> Alternative | None:
        """`@host` with its regions compiled for `target` and launched by `driver`, or as they would be without tuning.

        None if one does not compile, or `driver` would not launch it: plans are used wherever there are any.
        """
        ChooseDriversPass().run(module)
        texts, stated = region_texts(module), Module(module).regions
        outcomes = launchable(compilation(texts, target, self.timeout, self.cache), home(module))
        made: dict[str, Loaded] = {}
        for region, outcome in outcomes.items():
            chosen = driver if driver in IREE_DRIVERS else choice(stated[region], DRIVER)
            code = loaded(outcome, chosen, region)
            is_plan = isinstance(code, LaunchPlan)
            if isinstance(code, CompileFailure) or (driver is not None and is_plan != (driver == "plan")):
                return None
            made[region] = code
        write_plans(module, made)
        found = launchers(module, made)
        bindings = {name: taking_any(run, destinations(stated[name])) for name, run in found.items()}
        run = Emitter(Module(module).functions["host"], bindings).emit().load()
        return Alternative(name, lambda: run(list(self.inputs)))
