"""Makes results share memory where eager's do and PyTorch's capture calls them independent."""

from dataclasses import replace

import torch

from dovetail.errors import UnsupportedError
from dovetail.frontend.eager_effects import EagerEffects, Result
from dovetail.frontend.records import Capture, Input, Output, ViewStep
from dovetail.frontend.view_chains import chains_in_graph


def share_memory(capture: Capture, effects: EagerEffects) -> Capture:
    """Returns `capture` with results that eager makes views stated as views.

    PyTorch leaves it to the compiled code that results alias each other where no gradient flows, and calls the parts
    that `split` or `unbind` make of a differentiable tensor fresh. Differentiable parts of an intermediate stay so:
    autograd forbids to write them.

    Raises:
        UnsupportedError: for a result that shares memory in a way that the graph doesn't show, naming it.
    """
    outputs, bases = list(capture.outputs), list(capture.bases)
    memories = [result.memory for result in effects.results if result is not None]
    for index, (output, result) in enumerate(zip(capture.outputs, effects.results, strict=True)):
        if result is None or output.kind != "fresh":
            continue
        if result.argument is not None:
            outputs[index] = _view_of_argument(index, output, capture.inputs, result)
        elif output.tangent is None and memories.count(result.memory) > 1:
            outputs[index] = _view_of_result(index, outputs, bases)
    return replace(capture, outputs=tuple(outputs), bases=tuple(bases))


def _view_of_argument(index: int, output: Output, inputs: tuple[Input, ...], result: Result) -> Output:
    # After the call, an argument holds what was written to it.
    held = {each.mutated_value or each.node: number for number, each in enumerate(inputs)}
    if result.is_argument:
        return replace(output, kind="input", base=result.argument)
    for node, chain in chains_in_graph(output.node):
        if node in held:
            return replace(output, kind="view_of_input", base=held[node], chain=chain)
    raise UnsupportedError(
        f"result {index} shares memory with argument {inputs[result.argument or 0].name} in a way that is not supported"
        " yet, return a clone"
    )


def _view_of_result(index: int, outputs: list[Output], bases: list[Output]) -> Output:
    """A view of a base, or of a result that is a first ancestor itself; of a new base where there is neither."""
    output = outputs[index]
    named = {each.node: ("view_of_base", number) for number, each in enumerate(bases)}
    for number, each in enumerate(outputs):
        if number != index and each.kind == "fresh" and isinstance(each.node, torch.fx.Node) and _is_root(each.node):
            named.setdefault(each.node, ("view_of_output", number))
    found = list(chains_in_graph(output.node))
    for node, chain in found:
        if node in named:
            kind, base = named[node]
            # Tracing drops `detach`, which makes another object of the same memory.
            return replace(output, kind=kind, base=base, chain=chain or (ViewStep("aten.detach.default", ()),))
    node, chain = found[-1]
    if not chain:
        return output  # the first ancestor itself: the others are views of it
    bases.append(Output("fresh", node))
    return replace(output, kind="view_of_base", base=len(bases) - 1, chain=chain)


def _is_root(node: torch.fx.Node) -> bool:
    return len(list(chains_in_graph(node))) == 1
