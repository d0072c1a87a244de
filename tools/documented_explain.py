"""The example of docs/explain.md: a function whose arguments share memory, and what `dovetail.explain` says of it."""

from inspect import getsource

import torch

import dovetail


def damp(table, row, weight):
    row.mul_(0.5)
    hidden = torch.tanh(table @ weight)
    return hidden, hidden.t(), table[0]


def arguments() -> tuple[torch.Tensor, ...]:
    """Fresh arguments for `damp`: float32 of shapes [4,3], [3] (its second row) and [3,2], which is trained."""
    torch.manual_seed(0)
    table = torch.randn(4, 3)
    return table, table[1], torch.randn(3, 2, requires_grad=True)


def explain_sections() -> dict[str, str]:
    """The function's source and its explanation, by section name."""
    return {
        "explain:source": _fenced("python", getsource(damp)),
        "explain:output": _fenced("text", str(dovetail.explain(damp, *arguments()))),
    }


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.strip()}\n```\n"
