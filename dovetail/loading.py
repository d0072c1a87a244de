"""What launches each region of a module: a plan where there is one, else IREE's runtime."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch_mlir import ir

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.iree import Compilation
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompiledRegion, CompileFailure, Outcome
from dovetail.backends.target import target_for_device
from dovetail.dialects.attributes import VARIANT
from dovetail.dialects.building.region_texts import region_texts
from dovetail.dialects.memory.handed_on import handed_on
from dovetail.dialects.memory.planned_memory import shared_arguments
from dovetail.dialects.memory.touches import is_in_one_loop, is_read_first
from dovetail.dialects.reading import Module
from dovetail.dialects.statements.devices import home
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


@dataclass(frozen=True)
class _Round:
    """Regions of one variant, by name, that were begun together."""

    made: Mapping[str, Made]
    compiling: Compilation


class Regions:
    """What regions compile and load to, by what decides that: equal ones share one, and none is compiled twice.

    They may be compiling meanwhile. As a context it ends what still does.
    """

    def __init__(self, options: Options, target: Target, cache: RegionCache | None) -> None:
        self.cache = cache
        self._timeout, self._target = options.timeout, target
        self._known: dict[Made, Loaded | CompileFailure] = {}
        self._rounds: list[_Round] = []

    def __enter__(self) -> "Regions":
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._rounds:
            each.compiling.stop()
        self._rounds.clear()

    def begin(self, module: ir.Module) -> dict[str, Made]:
        """Begins what nobody has begun of the regions of `module`, and says what decides each."""
        found = made(module)
        begun = self._known.keys() | {what for each in self._rounds for what in each.made.values()}
        for variant in self._target.variants:
            new = {name: what for name, what in found.items() if what[1] == variant and what not in begun}
            if new:
                texts, target = {name: text for name, (text, _, _) in new.items()}, self._target.variant(variant)
                self._rounds.append(_Round(new, compilation(texts, target, self._timeout, self.cache)))
        return found

    def of(self, module: ir.Module) -> dict[str, Loaded | CompileFailure]:
        """What each region of `module` came to; waits until all have."""
        found = self.begin(module)
        for each in self._rounds:
            outcomes = launchable(each.compiling, home(module))
            for name, what in each.made.items():
                if what not in self._known:
                    self._known[what] = loaded(outcomes[name], what[2], name)
        self._rounds.clear()
        return {name: self._known[what] for name, what in found.items()}


def compilation(sources: Mapping[str, str], target: Target, timeout: float, cache: RegionCache | None) -> Compilation:
    """Of regions, begun: to plans where these can be launched."""
    return Compilation(sources, target, timeout=timeout, cache=cache, plans=not unavailable(target.device))


def launchable(compiling: Compilation, device: str) -> dict[str, Outcome]:
    """What each region compiled to; a plan whose code `device` can't load gives way to a module for IREE's runtime.

    Where that has no driver for the target, it is a failure.
    """
    outcomes, target = compiling.outcomes(), compiling.target
    refused = {
        name: reason
        for name, outcome in outcomes.items()
        if isinstance(outcome, LaunchPlan) and (reason := unloadable(outcome, device))
    }
    if not refused:
        return outcomes
    if not target.drivers:
        return outcomes | {name: CompileFailure(f"error: {why}", why, _COMPILED) for name, why in refused.items()}
    because = {
        name: replace(each, why_unplanned=refused[name]) if isinstance(each, CompiledRegion) else each
        for name, each in compiling.without_plans(refused).outcomes().items()
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


def read_later(module: ir.Module, ready: Mapping[str, Loaded]) -> dict[str, list[str]]:
    """The regions that may read an operand after they have overwritten it with a result that shares its memory, by why.

    A plan is the evidence that they don't: it launches one function with the operand, and nothing writes there before.
    """
    found = defaultdict[str, list[str]](list)
    for name, pairs in shared_arguments(Module(module)).items():
        each = ready[name]
        if isinstance(each, ThroughRuntime):
            found[f"no plan: {each.why}"].append(name)
        elif not all(is_read_first(each.touching(read), each.touching(written)) for read, written in pairs):
            found["its plan does not read an operand in one launch, before others write there"].append(name)
    return found


def _is_in_one_loop(memory: ir.Value, each: Loaded) -> bool:
    return isinstance(each, LaunchPlan) and is_in_one_loop(each.touching(ir.BlockArgument(memory).arg_number))


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
