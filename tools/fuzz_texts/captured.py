"""Real modules: compiles some functions and keeps every stage."""

import os
from pathlib import Path

import torch

from dovetail.tools import compile as compile_command


def write_modules(folder: Path) -> None:
    """Writes the modules' texts at all levels, and an artifact of the first, into `folder`; starts threads."""
    os.environ["DOVETAIL_DUMP"] = str(folder)
    torch.manual_seed(0)
    x, w, i = torch.randn(6, 4, requires_grad=True), torch.randn(4, 4, requires_grad=True), torch.randint(0, 4, (6,))

    def trained(x, w):
        return torch.nn.functional.layer_norm((x @ w).relu(), (4,)).softmax(-1).sum(0)

    def mutated(x, b):
        b.mul_(2).add_(x.detach()[0])
        return b.view(2, 2), x.exp() * b

    def branched(x, p):
        return torch.cond(p > 0, lambda x: x.sin(), lambda x: x.cos() * 2, (x,))

    def chosen(x, i):
        return torch.nn.functional.cross_entropy(x, i), torch.nn.functional.dropout(x, 0.5), x.double().cumsum(0)

    def sized(x, w):
        return (x @ w).exp().sum(0) / x.shape[0], torch.cat([x, x]).reshape(-1, 2, 4)

    def selected(x):
        return x[x > 0].exp()

    for function, arguments in (
        (trained, (x, w)),
        (mutated, (x, torch.ones(4))),
        (branched, (x.detach(), torch.tensor(1))),
        (chosen, (x, i)),
    ):
        torch.compile(function, backend="dovetail", fullgraph=True)(*arguments)
    torch.compile(sized, backend="dovetail", fullgraph=True, dynamic=True)(x, w)
    torch.compile(selected, backend="dovetail", fullgraph=True)(x)
    joint = min(folder.glob("graph_*/00_input.mlir"))
    compile_command.main([str(joint), "-o", str(folder / "artifact")])
