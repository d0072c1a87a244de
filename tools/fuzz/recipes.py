"""How a call's arguments are made: fresh, the same twice, overlapping, interleaved, detached, in any layout."""

import math
from random import Random

from dovetail.tools.fuzz.program import CodeLine, Parameter

FLOATS = ("torch.float32", "torch.float64", "torch.bfloat16", "torch.complex64")


def data(count: int, dtype: str, salt: int) -> str:
    """An expression for `count` numbers in a row, other ones for each `salt`."""
    if dtype == "torch.bool":
        return f"torch.arange({count}) % {2 + salt % 2} == 0"
    if dtype == "torch.complex64":
        return f"torch.arange({count}).to({dtype}) * (0.37 + 0.11j) - {0.6 + 0.21 * salt:.2f}"
    if dtype in FLOATS:
        return f"torch.arange({count}, dtype={dtype}) * 0.37 - {0.6 + 0.21 * salt:.2f}"
    return f"torch.arange({count}, dtype={dtype}) % 7 - {salt % 4}"


def fresh(parameter: Parameter, salt: int, grad: bool = False) -> tuple[CodeLine, ...]:
    """The simplest recipe: a contiguous leaf."""
    values = f"({data(math.prod(parameter.shape), parameter.dtype, salt)})"
    return (CodeLine(f"{values}.view({parameter.shape}){'.requires_grad_()' if grad else ''}", (), (parameter.name,)),)


def draw_inputs(draw: Random, parameters: tuple[Parameter, ...], state: tuple[str, ...]) -> tuple[CodeLine, ...]:
    """Lines that define every parameter; `state` names tensors of the module that arguments may alias."""
    lines: list[CodeLine] = []
    done: list[Parameter] = []
    for salt, parameter in enumerate(parameters):
        lines += _draw_one(draw, parameter, done, state, salt)
        done.append(parameter)
    return tuple(lines)


def _draw_one(
    draw: Random, parameter: Parameter, done: list[Parameter], state: tuple[str, ...], salt: int
) -> tuple[CodeLine, ...]:
    """Half of the arguments that can share memory with an earlier one, do."""
    same = [each for each in done if each.dtype == parameter.dtype and each.shape == parameter.shape]
    other_type = [each for each in done if each.shape == parameter.shape and each.dtype != parameter.dtype]
    if same and draw.random() < 0.55:
        return _alias(draw, draw.choice(same), parameter)
    if other_type and parameter.dtype == "torch.int32" and draw.random() < 0.5:
        return (CodeLine("{0}.detach().view(torch.int32)", (other_type[0].name,), (parameter.name,)),)
    if done and draw.random() < 0.25:
        return _piece(draw, draw.choice(done), parameter, salt)
    if state and draw.random() < 0.15:
        return _piece(draw, Parameter(draw.choice(state), (4,), "torch.float32"), parameter, salt)
    return _alone(draw, parameter, salt)


def _alias(draw: Random, other: Parameter, parameter: Parameter) -> tuple[CodeLine, ...]:
    """Shares memory with an argument of equal shape, in place, shifted or interleaved."""
    target = (parameter.name,)
    kinds = ["{0}", "{0}", "{0}.detach()", "{0}.data", "{0}[...]", "{0}.view_as({0})"]
    if len(parameter.shape) == 2 and parameter.shape[0] == parameter.shape[1]:
        kinds += ["{0}.t()", "{0}.flip(0)"]
    count = math.prod(parameter.shape)
    if count and draw.random() < 0.5:
        # Both anew, from one base.
        base = f"b_{parameter.name}"
        # Their version counter is one, or two: that of what `detach` gives is shared, that of `.data` its own.
        apart = draw.choice(("", "", "", ".detach()", ".data", ".data"))
        shift = count if apart and draw.random() < 0.5 else draw.randint(0, count)
        grad = parameter.dtype in FLOATS and draw.random() < (0.8 if apart else 0.4)
        values = f"({data(count * 2, parameter.dtype, shift)})"
        lines = [CodeLine(f"{values}{'.requires_grad_()' if grad else ''}", (), (base,))]
        if grad and draw.random() < 0.6:
            lines.append(CodeLine("{0} * 1", (base,), (base,)))  # a leaf that is written raises
        pieces = (f"{{0}}[:{count}]", f"{{0}}{apart}[{shift}:{shift + count}]")
        if draw.random() < 0.25:
            pieces = ("{0}[::2]", f"{{0}}{apart}[1::2]")
        view = f".view({parameter.shape})" if pieces[0] != "{0}[::2]" else f".unflatten(0, {parameter.shape})"
        if len(parameter.shape) == 1 and draw.random() < 0.5:
            view = ""
        return (
            *lines,
            CodeLine(f"{pieces[0]}{view if parameter.shape else '.view(())'}", (base,), (other.name,)),
            CodeLine(f"{pieces[1]}{view if parameter.shape else '.view(())'}", (base,), target),
        )
    return (CodeLine(draw.choice(kinds), (other.name,), target),)


def _piece(draw: Random, other: Parameter, parameter: Parameter, salt: int) -> tuple[CodeLine, ...]:
    """A part of another tensor, where that has enough elements of the type."""
    spare = math.prod(other.shape) - math.prod(parameter.shape)
    if spare < 0 or other.dtype != parameter.dtype or not math.prod(parameter.shape):
        return _alone(draw, parameter, salt)
    start = draw.randint(0, spare)
    end = start + math.prod(parameter.shape)
    detach = draw.choice(["", "", ".detach()", ".data"])
    template = f"{{0}}{detach}.reshape(-1)[{start}:{end}].view({parameter.shape})"
    return (CodeLine(template, (other.name,), (parameter.name,)),)


def _window(draw: Random, shape: tuple[int, ...]) -> tuple[int, str]:
    """A layout of rows that mostly lie over one another, with so many elements in memory."""
    strides = (*(draw.choice((0, 1, 1, 2)) for _ in shape[:-1]), int(len(shape) > 1))
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    return last + 1, f"{{0}}.as_strided({shape}, {strides})"


def _alone(draw: Random, parameter: Parameter, salt: int) -> tuple[CodeLine, ...]:
    """Memory of its own, in one of many layouts; some of it its caller has written, so that its version is not 0."""
    lines = _laid_out(draw, parameter, salt)
    if draw.random() > 0.15 or not math.prod(parameter.shape):
        return lines
    first = f"[{', '.join('0' for _ in parameter.shape)}]" if parameter.shape else ""
    return (*lines, CodeLine(f"{{0}}.detach(){first}.fill_(1)", (parameter.name,)))


def _laid_out(draw: Random, parameter: Parameter, salt: int) -> tuple[CodeLine, ...]:
    """A leaf or not."""
    shape, count = parameter.shape, math.prod(parameter.shape)
    grad = parameter.dtype in FLOATS and draw.random() < 0.5
    base = f"b_{parameter.name}"
    layouts = [(count, f"{{0}}.view({shape})")] * 6
    layouts += [(count + 3, f"{{0}}[1:{count + 1}].view({shape})")] * 2  # misaligned
    if count:
        layouts.append((count * 2, f"{{0}}[::2].unflatten(0, {shape})" if shape else "{0}[1]"))
    if count > 1:
        layouts.append(_window(draw, shape))
    if len(shape) >= 2:
        layouts += [(count, f"{{0}}.view({(*shape[:-2], shape[-1], shape[-2])}).transpose(-1, -2)")] * 2
        layouts.append((shape[-1], f"{{0}}.expand({shape})"))
    size, view = draw.choice(layouts)
    values = f"({data(size, parameter.dtype, salt)})"
    if not grad:
        return CodeLine(values, (), (base,)), CodeLine(view, (base,), (parameter.name,))
    kind = draw.choice(["leaf", "leaf", "non-leaf", "non-leaf", "view of leaf", "retains"])
    if kind == "leaf":
        return CodeLine(values, (), (base,)), CodeLine(f"{view}.detach().requires_grad_()", (base,), (parameter.name,))
    lines = [CodeLine(f"{values}.requires_grad_()", (), (base,))]
    if kind == "view of leaf":
        return (*lines, CodeLine(view, (base,), (parameter.name,)))
    lines.append(CodeLine(f"({view}) * 1", (base,), (parameter.name,)))
    if kind == "retains":
        lines.append(CodeLine("{0}.requires_grad and {0}.retain_grad()", (parameter.name,)))
    return tuple(lines)
