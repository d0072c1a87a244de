"""An explanation as text: one aligned table for each graph's inputs, outputs and work."""

from collections import Counter
from collections.abc import Iterable

from rich.console import Console
from rich.filesize import decimal
from rich.padding import Padding
from rich.table import Column, Table

from dovetail.dialects.torch_facts.sizes import print_sizes
from dovetail.explanation.records import Eager, Input, Mutation, Op, Output, Program, Region, Saved, TensorType
from dovetail.options import Options

WIDTH = 110
_GRADIENTS = {
    "not needed": "",
    "computed": "gets a gradient",
    "detached": "requires a gradient and gets none, hence detached",
    "no backward": "requires a gradient, which nothing computes here",
}
_MODES = {"tracked": "gradients flow through it", "no_grad": "without gradients", "hidden": "hidden from autograd"}


def text(graphs: tuple[Program | Eager, ...], options: Options) -> str:
    """Lines of at most `WIDTH` characters; the first says which options are not the defaults."""
    console = Console(width=WIDTH, color_system=None, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        if str(options):
            console.print(f"options: {options}", soft_wrap=True)
        if not graphs:
            console.print("no graph: Dynamo found nothing to compile")
        for number, graph in enumerate(graphs):
            ends = f"; ends at {graph.ends}" if graph.ends else ""
            if isinstance(graph, Eager):
                console.print(f"graph {number}: runs eagerly{ends}\n  {graph.reason}", soft_wrap=True)
            else:
                _print(console, f"graph {number}: {_kind(graph)}{ends}", graph)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _kind(graph: Program) -> str:
    parts = "forward and backward" if graph.has_backward else "forward only"
    return parts if graph.device == "cpu" else f"{parts}, on {graph.device}"


def _print(console: Console, title: str, graph: Program) -> None:
    console.print(title, soft_wrap=True)
    sections: list[tuple[str, list[tuple[str, str, list[str]]]]] = [
        ("inputs", [(argument.name, _type(argument.tensor), list(_input(argument))) for argument in graph.inputs]),
        (
            "outputs",
            [(str(index), _type(output.tensor), list(_output(output))) for index, output in enumerate(graph.outputs)],
        ),
        (
            f"saved for backward, {decimal(graph.own_bytes)} of it the program's own",
            [(saved.value, decimal(saved.nbytes), [_saved(saved)]) for saved in graph.saved],
        ),
        (
            "computed by the backward from saved values",
            [
                (name, "", [f"once{_at(line)}" if n == 1 else f"{n} times{_at(line)}"])
                for (name, line), n in Counter((op.name, op.line) for op in graph.recomputed).items()
            ],
        ),
        ("compiled regions", [(region.name, f"{region.ops} ops", list(_region(region))) for region in graph.regions]),
        ("library calls", list(_calls(graph.library_calls))),
        ("checked before each call", list(_guard(graph))),
    ]
    for name, rows in sections:
        if rows:
            console.print(Padding(name, (0, 0, 0, 2)))
            console.print(Padding(_table(rows), (0, 0, 0, 4)))
    for each in graph.host_ops:
        console.print(f"  no CUDA graph can stand for it: {each}", soft_wrap=True)
    if graph.once:
        console.print(f"  the gradient can't be differentiated: {graph.once}", soft_wrap=True)
    if graph.grad_mode is not None:
        console.print(f"  afterwards gradients are {'recorded' if graph.grad_mode else 'not recorded'}")


def _table(rows: list[tuple[str, str, list[str]]]) -> Table:
    table = Table.grid(Column(overflow="fold"), Column(overflow="fold"), Column(overflow="fold"), padding=(0, 2, 0, 0))
    for name, type_, facts in rows:
        table.add_row(name, type_, "\n".join(facts))
    return table


def _type(tensor: TensorType | None) -> str:
    if tensor is None:
        return "no tensor"
    strides = "" if tensor.is_row_major else f" strides [{print_sizes(tensor.strides, ', ')}]"
    return f"{tensor.dtype}[{print_sizes(tensor.shape, ', ')}]{strides}"


def _input(each: Input) -> Iterable[str]:
    if each.tensor is None:
        yield "the graph holds for this value only"
        return
    if each.metadata is not None:
        change = each.metadata
        moved = f", offset {change.offset:+}" if change.offset else ""
        yield f"becomes {list(change.shape)} with strides {list(change.strides)}{moved}, version +{change.versions}"
    for mutation in each.mutations:
        yield from _mutation(mutation)
    if not (each.mutations or each.metadata):
        moved = f", yet its version moves: +{each.versions}" if each.versions else ""
        yield ("not written itself" if each.sharing else "not mutated") + moved
    for shared in each.sharing:
        yield f"shares memory with {shared.name}, which begins {_distance(shared.distance)}; {shared.relation}"
    if each.gradient != "not needed":
        yield _GRADIENTS[each.gradient]
    if each.static:
        yield "parameter or buffer"


def _distance(nbytes: int) -> str:
    if not nbytes:
        return "where it does"
    return f"{abs(nbytes)} bytes {'after' if nbytes > 0 else 'before'} it"


def _mutation(mutation: Mutation) -> Iterable[str]:
    yield f"mutated, {_MODES[mutation.mode]}, version +{mutation.versions}{_at(mutation.line)}"
    if mutation.proof:
        yield f"  written in place: {mutation.proof}"
    else:
        yield f"  computed into fresh memory, then copied{f': {mutation.reason}' if mutation.reason else ''}"


def _output(each: Output) -> Iterable[str]:
    whose = {
        "fresh": "fresh memory",
        "input": f"input {each.of}",
        "result": f"result {each.of}",
        "hidden": f"memory of the call's own, number {each.of}, which only views show",
        "constant": f"constant {each.of}",
    }[each.origin]
    if each.views:
        yield f"view of {whose}, replayed: {' . '.join(each.views)}"
    else:
        yield f"is {whose}" if each.origin != "fresh" else f"{whose}{_at(each.line)}"
    if each.differentiable is not None:
        yield "differentiable" if each.differentiable else "not differentiable"
    if each.copied:
        yield f"copied: {each.copied}"


def _saved(each: Saved) -> str:
    alive = ", kept alive anyway" if each.static else ""
    replayed = ", taken by a replay of the gradient" if each.for_replay else ""
    return f"{each.fate}{alive}{replayed}{_at(each.line)}"


def _region(each: Region) -> Iterable[str]:
    yield ", ".join(each.lines)
    if each.tuned:
        yield f"tuned: {each.tuned}, measured: {each.measured}"
    if each.kept_apart:
        yield f"results lie apart from operands that die: {each.kept_apart}"


def _calls(calls: tuple[Op, ...]) -> Iterable[tuple[str, str, list[str]]]:
    counts = Counter((call.name, call.reason, call.is_fallback, call.line) for call in calls)
    for (name, reason, is_fallback, line), count in counts.items():
        times = f", {count} times" if count > 1 else ""
        yield name, "fallback" if is_fallback else "by choice", [f"{reason}{times}{_at(line)}"]


def _guard(graph: Program) -> Iterable[tuple[str, str, list[str]]]:
    guard = graph.guard
    if guard is None:
        return
    checked = {*guard.mutated, *guard.others}
    for name in guard.mutated:
        others = ", ".join(sorted(checked - {name}))
        whom = "no other input" if checked == {argument.name for argument in graph.inputs} else f"none of {others}"
        yield name, "", [f"overlaps {whom}{', but as said below' if guard.shared else ''}"]
    for group in guard.shared:
        yield ", ".join(group), "", ["lie in one another's memory as they do now"]
    for name, offset in guard.offsets:
        yield name, "", [f"begins at element {offset} of its storage"]


def _at(line: str) -> str:
    return f" ({line})" if line else ""
