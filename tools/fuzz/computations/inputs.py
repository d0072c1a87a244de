"""How a call's arguments are made: numbers of a kind, in memory of their own, in one of many layouts."""

import math
from random import Random

from dovetail.tools.fuzz.program import CodeLine, Parameter

REAL = ("torch.float32", "torch.float64", "torch.bfloat16", "torch.float16")
_KINDS = {
    "grid": 26,
    "normal": 36,
    "positive": 9,
    "few": 9,
    "special": 7,
    "subnormal": 3,
    "large": 4,
    "small": 2,
    "wide": 4,
}
_EQUAL = 0.3  # of the parameters that may be; so that differences cancel


def values(kind: str, salt: int, shape: tuple[int, ...], dtype: str) -> str:
    """The expression for a tensor of such numbers; what is not real, is whole."""
    kind = kind if dtype in REAL else "whole"
    return f"numbers({kind!r}, {salt}, {shape}, {dtype.removeprefix('torch.')!r})"


def draw_kind(draw: Random) -> str:
    """A kind of `numbers`."""
    return draw.choices(list(_KINDS), list(_KINDS.values()))[0]


def fresh(parameter: Parameter, salt: int, grad: bool = False) -> tuple[CodeLine, ...]:
    """The simplest recipe: a contiguous leaf."""
    text = values("normal", salt, parameter.shape, parameter.dtype)
    return (CodeLine(f"{text}{'.requires_grad_()' if grad else ''}", (), (parameter.name,)),)


def draw_inputs(draw: Random, parameters: tuple[Parameter, ...], kind: str, grads: bool) -> tuple[CodeLine, ...]:
    """Lines that define every parameter; where `grads`, most of the real ones require gradients.

    Now and then a parameter has the numbers of the first one, if it is of the same shape and type.
    """
    lines: list[CodeLine] = []
    first = parameters[0]
    for parameter in parameters:
        if parameter.made:
            lines.append(CodeLine(parameter.made, (first.name,), (parameter.name,)))
            continue
        layout, salt = draw.choice(_layouts(parameter.shape)), draw.randrange(10**6)
        if parameter is first:
            shared = layout, salt
        elif (parameter.shape, parameter.dtype) == (first.shape, first.dtype) and draw.random() < _EQUAL:
            layout, salt = shared
        shape, view = layout
        base = f"b_{parameter.name}"
        lines.append(CodeLine(values(kind, salt, shape, parameter.dtype), (), (base,)))
        line = CodeLine(view, (base,), (parameter.name,))
        if grads and parameter.dtype in REAL and draw.random() < 0.8:
            template = f"{view}.detach().requires_grad_()"
            if draw.random() < 0.3:
                lines.append(CodeLine("{0}.requires_grad_()", (base,)))
                template = f"{view} * 1"
            line = CodeLine(template, (base,), (parameter.name,))
        lines.append(line)
    return tuple(lines)


def reseed(draw: Random, inputs: tuple[CodeLine, ...]) -> tuple[CodeLine, ...]:
    """The same lines with other numbers, in the same layouts; what was equal stays so."""
    salts: dict[str, int] = {}
    return tuple(_reseeded(draw, line, salts) if line.template.startswith("numbers(") else line for line in inputs)


def _reseeded(draw: Random, line: CodeLine, salts: dict[str, int]) -> CodeLine:
    kind, salt, rest = line.template.split(", ", 2)
    if salt not in salts:
        salts[salt] = draw.randrange(10**6)
    return CodeLine(f"{kind}, {salts[salt]}, {rest}", (), line.targets)


def _layouts(shape: tuple[int, ...]) -> list[tuple[tuple[int, ...], str]]:
    """Shapes to make, and the view of them that has this shape."""
    found = [(shape, "{0}")] * 6
    if not shape or not math.prod(shape):
        return found
    found.append(((shape[0] + 2, *shape[1:]), "{0}[1:-1]"))
    found.append(((*shape[:-1], shape[-1] * 2), "{0}[..., ::2]"))
    if len(shape) >= 2:
        found += [((*shape[:-2], shape[-1], shape[-2]), "{0}.transpose(-1, -2)")] * 3
        found.append(((*shape[1:], shape[0]), "{0}.movedim(-1, 0)"))
        found.append((shape[1:], f"{{0}}.expand({shape})"))
    if len(shape) == 4:
        found += [(shape, "{0}.contiguous(memory_format=torch.channels_last)")] * 2
    return found
