"""The passes' work grows as the module does.

Nothing is timed: counted are the lines of our own code that run, which is the same on every machine. An op that looks
at all others, or a value that is searched for in a list of all values by a loop of ours, shows as a square.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from dovetail.dialects.context import make_context, parse_module
from dovetail.passes.pipeline import compile_pipeline
from dovetail.passes.running.runner import Runner

_OWN = tuple(str(Path(__file__).resolve().parents[2] / folder) for folder in ("passes", "dialects"))
# Between linear and the least that a square could be: doubling the module twice makes a square's second step four
# times as large as the first one, a line's twice.
_MOST = 2.5
_TENSOR, _REF = "!torch.vtensor<[8,8],f32>", "!dovetail.ref<!torch.vtensor<[8,8],f32>, strided<[8, 1]>>"


def network(layers: int) -> str:
    """Layers `x + relu(x @ w)`, layer norm's statistics and gradients of the weights, at level `joint`."""
    weights = range(layers)
    lines = [f'%v{each} = "dovetail.read"(%w{each}) : ({_REF}) -> {_TENSOR}' for each in weights]
    lines += [f'%x0 = "dovetail.read"(%x) : ({_REF}) -> {_TENSOR}', "%one = torch.constant.int 1"]
    for layer in weights:
        lines += [
            f"%m{layer} = torch.aten.mm %x{layer}, %v{layer} : {_TENSOR}, {_TENSOR} -> {_TENSOR}",
            f"%r{layer} = torch.aten.relu %m{layer} : {_TENSOR} -> {_TENSOR}",
            _add(f"%x{layer + 1}", f"%x{layer}", f"%r{layer}"),
        ]
    lines += [
        f'%o = "dovetail.own"(%x{layers}) {{requires_grad = true}} : ({_TENSOR}) -> {_REF}',
        f'%t = "dovetail.tangent"(%o) : ({_REF}) -> {_REF}',
        f'%g{layers} = "dovetail.read"(%t) : ({_REF}) -> {_TENSOR}',
    ]
    for each in reversed(weights):
        lines += [
            f"%s{each} = torch.aten.sgn %r{each} : {_TENSOR} -> {_TENSOR}",
            f"%h{each} = torch.aten.mul.Tensor %g{each + 1}, %s{each} : {_TENSOR}, {_TENSOR} -> {_TENSOR}",
            f"%t{each} = torch.aten.t %x{each} : {_TENSOR} -> {_TENSOR}",
            f"%dw{each} = torch.aten.mm %t{each}, %h{each} : {_TENSOR}, {_TENSOR} -> {_TENSOR}",
            f"%u{each} = torch.aten.t %v{each} : {_TENSOR} -> {_TENSOR}",
            f"%d{each} = torch.aten.mm %h{each}, %u{each} : {_TENSOR}, {_TENSOR} -> {_TENSOR}",
            _add(f"%g{each}", f"%g{each + 1}", f"%d{each}"),
            f'"dovetail.gradient"(%dw{each}, %w{each}) : ({_TENSOR}, {_REF}) -> ()',
        ]
    needs_grad = "{dovetail.requires_grad, dovetail.static, dovetail.watched = array<i64: 0>}"
    arguments = [f"%x: {_REF}", *(f"%w{each}: {_REF} {needs_grad}" for each in weights)]
    return _module(arguments, _REF, [*lines, f"return %o : {_REF}"])


def optimizer(parameters: int) -> str:
    """Momentum and parameter of each pair updated from its gradient, under a guard, at level `joint`."""
    numbers = range(parameters)
    names = [f"{name}{number}" for name in "mpg" for number in numbers]
    types = ", ".join(_REF for _ in names)
    lines = [f"call @guard({', '.join(f'%{name}' for name in names)}) : ({types}) -> ()", "%one = torch.constant.int 1"]
    lines += [f'%{name}v = "dovetail.read"(%{name}) : ({_REF}) -> {_TENSOR}' for name in names]
    for each in numbers:
        lines += [_add(f"%m{each}n", f"%m{each}v", f"%g{each}v"), _add(f"%p{each}n", f"%p{each}v", f"%m{each}n")]
    written = [name for name in names if name[0] != "g"]
    lines += [
        f'"dovetail.write"(%{name}n, %{name}) {{mode = "no_grad"}} : ({_TENSOR}, {_REF}) -> ()' for name in written
    ]
    named = ", ".join(f'{_REF} {{dovetail.name = "{name}"}}' for name in names)
    said = f'dovetail.mutated = {len(written)} : i64, dovetail.role = "guard"'
    guard = f"func.func private @guard({named}) attributes {{{said}}}"
    return _module([f"%{name}: {_REF}" for name in names], "()", [*lines, "return"], guard)


def _add(result: str, left: str, right: str) -> str:
    return f"{result} = torch.aten.add.Tensor {left}, {right}, %one : {_TENSOR}, {_TENSOR}, !torch.int -> {_TENSOR}"


def _module(arguments: list[str], results: str, lines: list[str], more: str = "") -> str:
    body = "\n".join(lines)
    said = 'dovetail.role = "joint"'
    joint = f"func.func @joint({', '.join(arguments)}) -> {results} attributes {{{said}}} {{\n{body}\n}}"
    return f'module attributes {{dovetail.level = "joint"}} {{\n{joint}\n{more}\n}}'


@contextmanager
def counted_lines(counts: Counter[str]) -> Iterator[None]:
    """Adds up the lines of `passes/` and `dialects/` that run, by file."""

    def enter(frame: FrameType, event: str, _) -> Callable | None:
        return line if frame.f_code.co_filename.startswith(_OWN) else None

    def line(frame: FrameType, event: str, _) -> Callable:
        counts[frame.f_code.co_filename] += event == "line"
        return line

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)


def work(text: str) -> Counter[str]:
    """The lines that run in the whole pipeline on the module `text`, by file."""
    module, counts = parse_module(text, make_context()), Counter[str]()
    with counted_lines(counts):
        Runner().run(compile_pipeline(), module)
    return counts


@pytest.mark.parametrize(("build", "sizes"), [(network, (8, 16, 32)), (optimizer, (16, 32, 64))])
def test_work_of_each_file_grows_linearly(build: Callable[[int], str], sizes: tuple[int, int, int]):
    """The partition walked the joint graph once for each value, and the rules of updates in place looked at every
    pair of updates: 12 layers took 5 s, 24 took 18.
    """
    small, middle, large = (work(build(size)) for size in sizes)
    assert sum(large.values()) > 1000 * sizes[0]
    grown = {
        Path(file).name: round((large[file] - middle[file]) / (middle[file] - small[file]), 2)
        for file in large
        if middle[file] > small[file]
    }
    assert {file: factor for file, factor in grown.items() if factor > _MOST} == {}


def test_a_square_is_seen():
    """A counter that counts nothing, or a comprehension as one line however long it runs: the test above would pass."""
    source = "def square(values):\n    return [(one, other) for one in values for other in values]\n"
    scope: dict = {}
    exec(compile(source, f"{_OWN[0]}/square.py", "exec"), scope)
    totals = []
    for size in (8, 16, 32):
        counts: Counter[str] = Counter()
        with counted_lines(counts):
            scope["square"](range(size))
        totals.append(counts.total())
    assert (totals[2] - totals[1]) / (totals[1] - totals[0]) > _MOST
