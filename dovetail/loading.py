"""What launches each region of a module: a plan where there is one, else IREE's runtime."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch_mlir import ir

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.iree import compile_regions
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompiledRegion, CompileFailure, Outcome
from dovetail.backends.target import target_for_device
from dovetail.dialects.attributes import VARIANT
from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.memory.handed_on import handed_on
from dovetail.dialects.reading import Module
from dovetail.dialects.statements.plans import code_of, digest, plans
from dovetail.dialects.statements.regions import choice, driver_of
from dovetail.dialects.statements.target import device_of
from dovetail.dialects.torch_facts.subnormals import telling_op
from dovetail.dialects.torch_facts.types import is_open_type
from dovetail.options import Options
from dovetail.passes.launches.import_plans import import_plans
from dovetail.runtime.launches.iree_executable import Executable
from dovetail.runtime.load_plan import Launcher, load_plan, unavailable, unloadable

# A region's text, the variant that it is compiled in, and the driver that runs it without a plan.
Made = tuple[str, str, str]


@dataclass(frozen=True)
class ThroughRuntime:
    """A region that IREE's runtime launches; `why` there is no plan."""

    executable: Executable
    why: str


Loaded = LaunchPlan | ThroughRuntime

_COMPILED = "none, the region compiled"
"""In place of a command that shows a failure again."""


def load(
    module: ir.Module,
    options: Options,
    target: Target,
    cache: RegionCache | None,
    known: dict[Made, Loaded | CompileFailure],
) -> dict[str, Loaded | CompileFailure]:
    """What each region compiled and loaded to; `known` remembers it, so that equal regions share one."""
    found = made(module)
    for variant in target.variants:
        missing = {name: each[0] for name, each in found.items() if each[1] == variant and each not in known}
        if not missing:
            continue
        outcomes = launchable(missing, target.variant(variant), options.timeout, cache)
        for name, outcome in outcomes.items():
            if found[name] not in known:
                known[found[name]] = loaded(outcome, found[name][2], name)
    return {name: known[what] for name, what in found.items()}


def launchable(
    sources: Mapping[str, str], target: Target, timeout: float, cache: RegionCache | None
) -> dict[str, Outcome]:
    """What each region compiled to; a plan whose code can't be loaded here gives way to a module for IREE's runtime.

    Where that has no driver for the target, it is a failure.
    """
    outcomes = compile_regions(sources, target, timeout=timeout, cache=cache, plans=not unavailable(target.device))
    refused = {
        name: reason
        for name, outcome in outcomes.items()
        if isinstance(outcome, LaunchPlan) and (reason := unloadable(outcome, target.device))
    }
    if not refused:
        return outcomes
    if not target.drivers:
        return outcomes | {name: CompileFailure(f"error: {why}", why, _COMPILED) for name, why in refused.items()}
    modules = compile_regions({name: sources[name] for name in refused}, target, timeout=timeout, cache=cache)
    because = {
        name: replace(each, why_unplanned=refused[name]) if isinstance(each, CompiledRegion) else each
        for name, each in modules.items()
    }
    return outcomes | because


def made(module: ir.Module) -> dict[str, Made]:
    """What decides each region's executable: its text, the variant that tuning chose, and what runs it."""
    texts, target = region_texts(module), target_for_device(device_of(module))
    return {
        name: (texts[name], choice(region, VARIANT, "default", target.variants), driver_of(region, target.drivers))
        for name, region in Module(module).regions.items()
    }


def flushed(module: ir.Module, ready: Mapping[str, Loaded]) -> dict[str, str]:
    """The regions that IREE's runtime can't run as a plan would, with why.

    It takes subnormal numbers for zero, and is shown memory of the sizes of one call.
    """
    found: dict[str, str] = {}
    for name, region in Module(module).regions.items():
        op, each = telling_op(region), ready[name]
        if isinstance(each, ThroughRuntime) and any(map(is_open_type, region.type.inputs)):
            found[name] = f"IREE's runtime is not given sizes that are known only when it runs; no plan: {each.why}"
        elif op and isinstance(each, ThroughRuntime):
            found[name] = f"IREE's runtime takes subnormal numbers for zero, which {op} can tell; no plan: {each.why}"
    return found


def several_loops(module: ir.Module, ready: Mapping[str, Loaded]) -> list[str]:
    """The regions that take new values of arguments updated in place, but not in the one loop that updates these.

    Of that, a plan is the evidence: it launches one function with the argument's memory, and does nothing else to it.
    """
    return [
        name
        for name, region in Module(module).regions.items()
        if (handed := handed_on(region)) and not all(_is_in_one_loop(memory, ready[name]) for memory in handed.values())
    ]


def _is_in_one_loop(memory: ir.Value, each: Loaded) -> bool:
    steps = each.touching(ir.BlockArgument(memory).arg_number) if isinstance(each, LaunchPlan) else []
    return [step["op"] for step in steps] == ["dispatch"]


def loaded(outcome: Outcome, driver: str, name: str) -> Loaded | CompileFailure:
    """A plan, or else the region on IREE's `driver`.

    What IREE's runtime refuses (code for another version or machine) is a failure like one of its compiler's."""
    if not isinstance(outcome, CompiledRegion):
        return outcome
    try:
        why = unavailable("cpu") or outcome.why_unplanned
        return ThroughRuntime(Executable(outcome, driver=driver, name=name), why)
    except (RuntimeError, ValueError, LookupError, OSError) as error:  # IREE's statuses, by Python's closest class
        message = " ".join(str(error).split())
        return CompileFailure(f"error: can't be loaded: {message}", message, _COMPILED)


def write_plans(module: ir.Module, ready: Mapping[str, Loaded]) -> None:
    """Takes `module` to level `launches`."""
    planned = {name: each for name, each in ready.items() if isinstance(each, LaunchPlan)}
    import_plans(module, {name: (plan.steps, digest(plan.code)) for name, plan in planned.items()})


def launchers(module: ir.Module, ready: Mapping[str, Loaded]) -> dict[str, Launcher]:
    """What runs each region of a module at level `launches`: its plan, as it stands there, or IREE's runtime."""
    codes = {digest(plan.code): plan.code for plan in ready.values() if isinstance(plan, LaunchPlan)}
    others = {name: each.executable for name, each in ready.items() if isinstance(each, ThroughRuntime)}
    return {**others, **{name: load_plan(plan, codes[code_of(plan)]) for name, plan in plans(module).items()}}
