"""Commands that IREE would run at once though they touch the same memory, and those that may."""

import re
from collections.abc import Sequence

import pytest
import torch

import dovetail
from dovetail.backends.compiling import batches
from dovetail.backends.compiling.compiler_runs import CompilerRuns, Run
from dovetail.backends.compiling.launch_plans import to_commands, to_hal, to_module
from dovetail.backends.target import CpuTarget, Target
from dovetail.backends.worker.ordered_commands import order_commands

OF = "!stream.resource"
MODULE = f"""
stream.executable private @code {{
  stream.executable.export public @kernel workgroups() -> (index, index, index) {{
    %c1 = arith.constant 1 : index
    stream.return %c1, %c1, %c1 : index, index, index
  }}
}}
util.func public @main(%0: !hal.buffer_view, %1: !hal.buffer_view, %n: index, %v: i32, %before: !stream.timepoint) {{
  %c0 = arith.constant 0 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %x = stream.tensor.import %0 : !hal.buffer_view -> tensor<16xf32> in {OF}<external>{{%c64}}
  %y = stream.tensor.import consume %1 : !hal.buffer_view -> tensor<16xf32> in {OF}<external>{{%c64}}
  %again = stream.tensor.import %1 : !hal.buffer_view -> tensor<16xf32> in {OF}<external>{{%c64}}
  %t, %ready = stream.resource.alloca uninitialized await(%before) => {OF}<transient>{{%c64}} => !stream.timepoint
  %s = stream.timepoint.await %before => %x : {OF}<external>{{%c64}}
  %done = stream.cmd.execute await(%ready) => with(%x as %a: {OF}<external>{{%c64}}, %y as %b: {OF}<external>{{%c64}},
      %again as %c: {OF}<external>{{%c64}}, %t as %d: {OF}<transient>{{%c64}}, %s as %e: {OF}<external>{{%c64}}) {{
    stream.cmd.concurrent {{
      LINES
    }}
  }} => !stream.timepoint
  util.return
}}
"""


def launch(*bound: str) -> str:
    """A launch on memory: how it is used, its name, the bytes; all of it if these are not said."""
    ranges = [(*each.split(), "0+64")[:3] for each in bound]
    lines = [
        f"{use} %{name}[%c{at.partition('+')[0]} for %c{at.partition('+')[2]}] : {OF}<{kind(name)}>{{%c64}}"
        for use, name, at in ranges
    ]
    return f"stream.cmd.dispatch @code::@kernel {{ {', '.join(lines)} }}"


def copy(source: str, start: str, target: str, into: str, size: str = "c16") -> str:
    types = f"{OF}<{kind(source)}>{{%c64}} -> {OF}<{kind(target)}>{{%c64}}"
    return f"stream.cmd.copy %{source}[%{start}], %{target}[%{into}], %{size} : {types}"


def fill(target: str, start: str = "c0", size: str = "c64") -> str:
    return f"stream.cmd.fill %v, %{target}[%{start} for %{size}] : i32 -> {OF}<{kind(target)}>{{%c64}}"


def kind(name: str) -> str:
    return "transient" if name == "d" else "external"


MISSING = {
    "a copy of what a launch computes": (launch("wo d"), copy("d", "c0", "b", "c0")),
    "a copy to where a launch reads": (launch("ro d"), copy("a", "c0", "d", "c16")),
    "a launch on what is copied": (copy("a", "c0", "d", "c0"), launch("ro d")),
    "a copy of what is copied": (copy("a", "c0", "d", "c0"), copy("d", "c15", "b", "c0")),
    "two copies to one place": (copy("a", "c0", "d", "c0"), copy("a", "c16", "d", "c15")),
    "a launch on what is filled": (fill("d"), launch("ro d")),
    "a launch on what another computes": (launch("wo d 16+16"), launch("ro d 16+16")),
    "a launch on what another reads": (launch("ro d 0+32"), launch("rw d 16+16")),
    "two launches on one result": (launch("wo d 0+32"), launch("wo d 16+16")),
    "of open sizes": (fill("d", "c0", "n"), copy("d", "c32", "b", "c0")),
    "an argument that is read and updated": (launch("wo b"), launch("ro c")),
    "memory of which nothing is known": (launch("wo b"), launch("ro e")),
    "one of several": (
        f"stream.cmd.serial {{ {fill('d', 'c0', 'c16')}\n {launch('ro d 0+16', 'wo b')} }}",
        launch("ro d 0+16"),
    ),
    "a command of which nothing is known": (
        f"stream.cmd.discard %d[%c0 for %c64] : {OF}<transient>{{%c64}}",
        launch("ro a"),
    ),
}
NEEDLESS = {
    "launches that read": (launch("ro a", "wo d 0+16"), launch("ro a", "wo d 16+16")),
    "copies of one memory": (copy("a", "c0", "d", "c0"), copy("a", "c0", "d", "c16")),
    "neighbours": (fill("d", "c0", "c16"), copy("d", "c16", "b", "c0")),
    "other memory": (launch("ro a", "wo d"), fill("b")),
}


def text(*commands: str) -> str:
    return MODULE.replace("LINES", "\n      ".join(commands))


def at_once(commands: str) -> list[list[str]]:
    """The commands of each group of a text that run at once, by the words that tell them apart here."""
    groups = commands.split("stream.cmd.concurrent")[1:]
    return [re.findall(r"stream\.cmd\.(copy|discard|dispatch|fill)", group) for group in groups]


@pytest.mark.parametrize("case", MISSING)
def test_missing(case: str):
    """Catches what is read before it is written, now and then: another result in each call."""
    one, other = MISSING[case]
    ordered = order_commands(text(one, fill("b", "c32", "c32"), other).encode()).decode()
    groups = at_once(ordered)
    assert len(groups) > 1
    assert order_commands(ordered.encode()).decode() == ordered
    assert [name for group in groups for name in group] == at_once(text(one, fill("b", "c32", "c32"), other))[0]


@pytest.mark.parametrize("case", NEEDLESS)
def test_needless(case: str):
    """Catches commands that wait for each other where nothing tells."""
    given = text(*NEEDLESS[case]).encode()
    assert order_commands(given) == given


@pytest.mark.compiled
def test_parts_that_are_joined_twice(monkeypatch: pytest.MonkeyPatch):
    """Catches a copy of a joined tensor that runs beside the kernel which computes the first of its parts.

    Without a plan, too: what IREE's runtime runs has as many barriers.
    """

    def fn(x, y):
        joined = torch.cat([x[:64] + y[:64], x[64:128] * y[64:128], x[128:]])
        joined = torch.cat([joined[:128], x[128:192] - y[128:192], x[192:]])
        return torch.cat([joined[:192], y[192:].exp()]) + 1

    made: list[Run] = []

    def recorded(flow: Run, target: Target, timeout: float, runs: CompilerRuns) -> Run:
        made.append(to_commands(flow, target, timeout, runs))
        return made[-1]

    monkeypatch.setattr(batches, "to_commands", recorded)
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True, options={"cache": False})
    dovetail.stats(reset=True)
    for seed in range(20):
        x, y = torch.rand(2, 256, 256, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(compiled(x, y), fn(x, y))
    assert dovetail.stats().launches == {"plan": dovetail.stats().regions}
    [commands] = made
    assert order_commands(commands.output) == commands.output
    assert len(at_once(commands.text)) == 3
    texts: list[str] = []

    class Recording(CompilerRuns):
        def run(self, flags: Sequence[str], source: str, timeout: float) -> Run:
            texts.append(super().run((*flags, "--compile-to=hal"), source, timeout).text)
            return super().run(flags, source, timeout)

    assert not to_module(commands, CpuTarget(), 60, Recording()).failure
    planned = to_hal(commands, CpuTarget(), 60, CompilerRuns())[0].text
    assert texts[0].count("execution_barrier<") == planned.count("execution_barrier<") >= 3
