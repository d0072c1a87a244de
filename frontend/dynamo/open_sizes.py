"""Numbers that Dynamo leaves open: the sizes of a tensor that vary from call to call, and integers that do.

What is decided on such a number while a graph is captured in Dynamo's own shape environment becomes a guard of
Dynamo's.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import sympy  # type: ignore[import-untyped]  # it has no stubs
import torch
from torch._dynamo.source import TensorProperty, TensorPropertySource
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import ShapeEnv, free_unbacked_symbols, is_nested_int, rebind_unbacked
from torch.utils.weak import WeakTensorKeyDictionary

from dovetail.dialects.sizes.expected import GUESS
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line


def shape_env(gm: torch.fx.GraphModule) -> ShapeEnv | None:
    """The environment that knows the open numbers of a graph.

    None where all are known; and where Dynamo does not wait for guards, as its compilation has ended.
    """
    _, env = _dynamo()
    return env if has_open_sizes(gm) else None


def _dynamo() -> tuple[TracingContext | None, ShapeEnv | None]:
    """What Dynamo knows of the graph that it compiles now, and its environment; None while it compiles none."""
    context = TracingContext.try_get()
    return (None, None) if context is None or context.fake_mode is None else (context, context.fake_mode.shape_env)


def has_open_sizes(gm: torch.fx.GraphModule) -> bool:
    """Whether a number in the graph is known only when it runs: Dynamo leaves it open, or only data tells it."""
    return bool(_open_arguments(gm)) or makes_numbers(gm)


def takes_fixable_numbers(gm: torch.fx.GraphModule) -> bool:
    """Whether a graph's arguments, or their sizes and strides, are open and all have numbers of now.

    Those that `mark_unbacked` names have none, nor has the size of a nested tensor that differs from row to row.
    """
    values = _open_arguments(gm)
    return bool(values) and not any(free_unbacked_symbols(value) or _is_ragged(value) for value in values)


def _is_ragged(value) -> bool:
    numbers = value.size() if isinstance(value, torch.Tensor) else (value,)
    return any(map(is_nested_int, numbers))


def _open_arguments(gm: torch.fx.GraphModule) -> list:
    values = [node.meta.get("example_value") for node in gm.graph.find_nodes(op="placeholder")]
    return list(filter(_is_open, values))


def makes_numbers(gm: torch.fx.GraphModule) -> bool:
    """Whether sizes or numbers in a graph are such as only data tells, or Dynamo knows from an argument's data."""
    read = (_open_item(node.meta.get("example_value")) for node in gm.graph.find_nodes(op="placeholder"))
    bound = any(node.meta.get("unbacked_bindings") for node in gm.graph.nodes)
    return bound or any(isinstance(number, torch.SymInt) for number in read)


def open_symbols(env: ShapeEnv | None) -> frozenset[sympy.Symbol]:
    """What stands in `env` for numbers of the graph's arguments that are open by now."""
    return frozenset() if env is None else frozenset(env.source_to_var.values()) - env.replacements.keys()


def fixed_since(before: frozenset[sympy.Symbol], env: ShapeEnv | None) -> Iterator[str]:
    """Which numbers of `before`, that were open, are fixed by now, to what, and what was decided on them last."""
    if env is None:
        return
    for name, symbol in env.source_to_var.items():
        value = env.replacements.get(symbol) if symbol in before else None
        if isinstance(value, sympy.Integer):
            yield f"{name} is {value}" + _decided(symbol, env)


def _decided(symbol: sympy.Symbol, env: ShapeEnv) -> str:
    """The last guard on a number, and the user's line that asked for it."""
    guards = [guard for guard in env.guards if symbol in guard.expr.free_symbols]
    if not guards:
        return ""
    names = {str(source): name for name, source in env.source_to_var.items()}
    text = re.sub(r"\w+", lambda found: names.get(found[0], found[0]), str(guards[-1].expr))
    line = guards[-1].sloc.maybe_user_loc
    return f", since {text}" + (f" is asked: {line}" if line else "")


def rebind(env: ShapeEnv | None, node: torch.fx.Node, result: Any) -> None:
    """Gives the numbers that only data tells in `result`, what `node` made now, the names that Dynamo gave them.

    By these, Dynamo knows in `env` what holds of them, and two runs of a graph tell one another of their numbers.
    """
    context, of_dynamo = _dynamo()
    if context is not None and of_dynamo is env:
        rebind_unbacked(env, node, result)


def has_context(tensor: torch.Tensor, env: ShapeEnv | None) -> bool:
    """Whether Dynamo says in `env` which sizes of an argument are open."""
    context, of_dynamo = _dynamo()
    return context is not None and of_dynamo is env and tensor in context.tensor_to_context


def seen_by_dynamo(gm: torch.fx.GraphModule, values: Sequence, env: ShapeEnv | None) -> list:
    """A graph's arguments, or what Dynamo takes them for where it says in `env` which sizes are open."""
    return [
        node.meta["example_value"] if isinstance(value, torch.Tensor) and has_context(value, env) else value
        for node, value in zip(gm.graph.find_nodes(op="placeholder"), values, strict=True)
    ]


def as_open(alias: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """`alias`, of which Dynamo now says what it says of `tensor`."""
    context, _ = _dynamo()
    if context is not None and tensor in context.tensor_to_context:
        context.tensor_to_context[alias] = context.tensor_to_context[tensor]
    return alias


def check_floats(gm: torch.fx.GraphModule) -> None:
    """Raises UnsupportedError for a number of floating point that PyTorch takes for known, and computes of open ones.

    It does so by algebra: `s - s` is 0 to it, but NaN where `s` is infinite.
    """
    for node in gm.graph.nodes:
        value = node.meta.get("example_value") if node.op == "call_function" else None
        if isinstance(value, torch.SymFloat) and not value.node.expr.free_symbols:
            raise UnsupportedError(f"{source_line(node)}: a number that PyTorch simplifies to {value} can't be open")


def restore_sources(gm: torch.fx.GraphModule, inputs: Sequence) -> None:
    """Has each of a graph's arguments known by its own source, and by the symbols that Dynamo's guards read.

    Once another argument is a view of it, Dynamo knows it as that one's base, by source or by symbols: its sizes would
    get further symbols, which stand for nothing that guards can read.
    """
    context, env = _dynamo()
    if context is None:
        return
    contexts = context.tensor_to_context
    for node, value in zip(gm.graph.find_nodes(op="placeholder"), inputs, strict=True):
        argument = node.meta.get("grapharg")
        if argument is None or not isinstance(value, torch.Tensor) or value not in contexts:
            continue
        contexts[value] = replace(contexts[value], tensor_source=argument.source)
        cached = contexts[value].shape_env_to_source_to_symbol_cache.setdefault(id(env), {})
        fake = node.meta["example_value"]
        for kind, numbers in ((TensorProperty.SIZE, fake.size()), (TensorProperty.STRIDE, fake.stride())):
            for dim, number in enumerate(numbers):
                if isinstance(number, torch.SymInt):
                    cached.setdefault(TensorPropertySource(argument.source, kind, dim).name, number.node.expr)


_items: WeakTensorKeyDictionary = WeakTensorKeyDictionary()


def note_items(gm: torch.fx.GraphModule, inputs: Sequence) -> None:
    """Notes which numbers Dynamo passes in tensors among a graph's arguments, for `open_item`."""
    for node, value in zip(gm.graph.find_nodes(op="placeholder"), inputs, strict=True):
        fake = node.meta.get("example_value")
        if isinstance(value, torch.Tensor) and _open_item(fake) is not None:
            _items[value] = _open_item(fake)


def open_item(tensor: torch.Tensor):
    """The open number that Dynamo passes in a tensor, a Python float of the user's; None for any other tensor."""
    return _items.get(tensor)


def known(value):
    """A number as such where it is known by now; an open one as it is."""
    if not isinstance(value, torch.SymInt):
        return value
    found = value.node.maybe_as_int()
    return value if found is None else found


def expected(number) -> int:
    """A number, or what Dynamo expects an open one to be: of this nothing becomes a guard."""
    found = known(number)
    hint = found.node.hint if isinstance(found, torch.SymInt) else found
    return GUESS if hint is None else hint


def identity(value):
    """What is equal for numbers that are equal in all calls, without asking whether they are so now."""
    found = known(value)
    return found.node.expr if isinstance(found, torch.SymInt) else found


def is_open_value(value) -> bool:
    """Whether `value` is a number that is known only when the program runs."""
    return isinstance(known(value), torch.SymInt | torch.SymFloat | torch.SymBool)


def sizes_in(value) -> tuple:
    """The sizes of a tensor, or of those in a tuple; a number itself."""
    if isinstance(value, list | tuple):
        return tuple(size for part in value for size in sizes_in(part))
    return tuple(value.size()) if isinstance(value, torch.Tensor) else (value,)


def _is_open(value) -> bool:
    if isinstance(value, torch.Tensor):
        return any(map(is_open_value, (*value.size(), *value.stride(), value.storage_offset(), _open_item(value))))
    return is_open_value(value)


def _open_item(tensor):
    """The open number that Dynamo passes in `tensor`, None if there is none, or if a node of the graph reads it."""
    item = tensor.item_memo if isinstance(tensor, FakeTensor) else None
    return item if is_open_value(item) and not free_unbacked_symbols(item) else None
