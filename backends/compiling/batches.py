"""Compiles several regions in one run of the compiler; one that fails is found by halving."""

import logging
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail.backends.base_target import Target
from dovetail.backends.compiling.cache import cache_directory
from dovetail.backends.compiling.compiler_runs import Cause, CompilerRuns, Run, refused
from dovetail.backends.compiling.launch_plans import (
    LaunchPlan,
    assembled,
    read_plans,
    to_commands,
    to_flow,
    to_hal,
    to_module,
    unreadable_compiler,
    untiled,
    with_tilings,
)
from dovetail.backends.compiling.outcomes import CompiledRegion, CompileFailure, Outcome
from dovetail.backends.compiling.output_check import wrong_output
from dovetail.backends.compiling.strands import Strand, joined
from dovetail.dialects.building.region_texts import merge_region_texts, named_region_text

log = logging.getLogger(__name__)


def batches(sources: Mapping[str, str], split: Mapping[str, Sequence[Strand]], count: int) -> list[dict[str, str]]:
    """At most `count` batches of `sources`, the longest text first into the batch that is then the shortest.

    What is `split` is as long as those of its strands that a batch does not have yet.
    """
    texts = {key: {strand.text for strand in split.get(key, ())} or {source} for key, source in sources.items()}
    found: list[tuple[dict[str, str], set[str]]] = [({}, set()) for _ in range(min(count, len(sources)))]
    for key in sorted(sources, key=lambda key: sum(map(len, texts[key])), reverse=True):
        batch, held = min(found, key=lambda each: sum(map(len, each[1] | texts[key])))
        batch[key] = sources[key]
        held |= texts[key]
    return [batch for batch, _ in found if batch]


Compiled = dict[str, LaunchPlan | CompiledRegion | Run] | Run
"""What runs each function of a text; or the run that failed, for all or for one."""


@dataclass(frozen=True)
class BatchCompiler:
    """Compiles for `target`, in at most `timeout` seconds a run; with `plans` it reads launch plans first."""

    target: Target
    timeout: float
    plans: bool
    runs: CompilerRuns

    def compile_strands(self, batch: Mapping[str, str], split: Mapping[str, Sequence[Strand]]) -> dict[str, Outcome]:
        """Like `compile`; of what is `split` the strands are compiled, equal ones once, and their plans joined.

        A region fails as the first of its strands does, to be halved until that one stands alone; one whose strands'
        plans can't be joined is compiled as a whole.
        """
        alone = {key: source for key, source in batch.items() if key not in split}
        distinct = {strand.key: strand.text for key in batch for strand in split.get(key, ())}
        outcomes = self.compile(alone | distinct)
        found = {key: outcomes[key] for key in alone}
        whole: dict[str, str] = {}
        for key in batch.keys() - alone.keys():
            made = [(strand, outcomes[strand.key]) for strand in split[key]]
            failed = next((outcome for _, outcome in made if isinstance(outcome, CompileFailure)), None)
            planned = [(strand, outcome) for strand, outcome in made if isinstance(outcome, LaunchPlan)]
            plan = joined(planned) if len(planned) == len(made) else None
            if outcome := failed or plan:
                found[key] = outcome
            else:
                whole[key] = batch[key]
        return found | self.compile(whole) if whole else found

    def compile(self, batch: Mapping[str, str]) -> dict[str, Outcome]:
        """What each region of `batch`, a text by key, compiles to."""
        # Named by their contents, so that no other region can be taken for one of them.
        entries = {key: f"region_{key[:16]}" for key in batch}
        texts = [named_region_text(source, entries[key]) for key, source in batch.items()]
        source = self.target.prepared(texts[0] if len(texts) == 1 else merge_region_texts(texts))
        compiled = self._compiled(source, list(entries.values()))
        if isinstance(compiled, Run) and len(batch) == 1:
            compiled = dict.fromkeys(entries.values(), compiled)
        if not isinstance(compiled, Run):
            made = ((key, compiled[entry]) for key, entry in entries.items())
            return {
                key: self._compile_plainer(key, batch[key], source, outcome) if isinstance(outcome, Run) else outcome
                for key, outcome in made
            }
        # A batch gets no more time than one region, and is taken apart at once if that was not enough: one that hangs
        # must not cost its time-out again for each halving.
        keys = list(batch)
        step = 1 if compiled.cause is Cause.TIME_OUT else (len(keys) + 1) // 2
        parts = ({key: batch[key] for key in keys[start : start + step]} for start in range(0, len(keys), step))
        return {key: outcome for part in parts for key, outcome in self.compile(part).items()}

    def _compile_plainer(self, key: str, region: str, source: str, run: Run) -> Outcome:
        """What becomes of a region after `run` of its `source` failed: the target may know a plainer way."""
        assert run.failure is not None
        plainer = self.target.plainer(region, run.failure, run.refused)
        if plainer is None:
            return _failed(key, source, self.target, run)
        log.info("region %s is compiled in a plainer way: %s", key[:16], run.failure)
        return replace(self, target=plainer).compile({key: region})[key]

    def _compiled(self, source: str, entries: Sequence[str]) -> Compiled:
        """What runs each of `entries`, functions of `source`; or the run that failed, for all or for one."""
        flow = to_flow(source, self.target, self.timeout, self.runs)
        commands = flow if flow.failure else to_commands(flow, self.target, self.timeout, self.runs)
        if commands.failure:
            return commands

        def go_on() -> Run:
            return to_module(commands, self.target, self.timeout, self.runs)

        why_not = unreadable_compiler() if self.plans else ""
        if not self.plans or why_not:
            return self._modules(go_on, dict.fromkeys(entries, why_not))
        host, tilings = to_hal(commands, self.target, self.timeout, self.runs)
        if host.failure:
            return host
        try:
            found = read_plans(host.output, entries, self.timeout)
        except OSError as error:
            return self._modules(go_on, dict.fromkeys(entries, f"reading the plan failed: {error}"), is_kept=False)
        readable = {name: plan for name, plan in found.items() if isinstance(plan, LaunchPlan)}
        planned = assembled(readable, self.target, self.timeout, self.runs)
        if isinstance(planned, Run):
            return planned
        why, in_time = self.target.why_plain, not self.target.why_plain.startswith(Cause.TIME_OUT.value)
        planned |= {
            entry: replace(with_tilings(plan, tilings, f"IREE's tiles: {why}"), is_kept=in_time)
            for entry, plan in planned.items()
            if isinstance(plan, LaunchPlan)
        }
        for entry, plan in planned.items():
            if isinstance(plan, LaunchPlan) and (why := untiled(plan)):
                planned[entry] = refused(why)
        reasons = {entry: reason for entry, reason in found.items() if isinstance(reason, str)}
        if not reasons:
            return {**planned}
        others = self._modules(go_on, reasons)
        return others if isinstance(others, Run) else {**planned, **others}

    def _modules(self, compile_: Callable[[], Run], reasons: Mapping[str, str], is_kept: bool = True) -> Compiled:
        """What `compile_` makes for IREE's runtime, by entry, with why it has no plan; the run where it failed.

        Where IREE's runtime has no driver for the target, what has no plan has failed.
        """
        if not self.target.drivers:
            return {name: refused(f"no plan: {why}") for name, why in reasons.items()}
        run = compile_()
        failure = run.failure or wrong_output(run.output, list(reasons))
        if failure:
            return replace(run, failure=failure, cause=run.cause or Cause.ERROR)
        return {entry: CompiledRegion(run.output, entry, reason, is_kept) for entry, reason in reasons.items()}


def _failed(key: str, source: str, target: Target, run: Run) -> CompileFailure:
    assert run.failure is not None
    assert run.cause is not None
    path = cache_directory() / "failures" / f"{key[:16]}.mlir"
    command = shlex.join(["iree-compile", str(path), *target.compile_flags(), "-o", os.devnull])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    except OSError as error:
        command += f"  # the region's text could not be written: {error}"
    return CompileFailure(run.failure, run.diagnostics, command, run.cause)
