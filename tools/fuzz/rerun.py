"""Runs the script of a reported program."""

import ast
from pathlib import Path

from dovetail.tools.fuzz.check import run
from dovetail.tools.fuzz.world import World


def print_differences(
    path: str, backend: str, modes: list[tuple[str, str]], dynamic: bool | None, fullgraph: bool
) -> None:
    """Prints what `backend` shows differently for the script at `path`.

    `modes` has each call's mode and backward, `dynamic` and `fullgraph` are what `torch.compile` is told.
    """
    text = Path(path).read_text(encoding="utf-8").partition('\nif __name__ == "__main__":')[0]
    worlds = World(text), World(text)
    eager, parameters = worlds[0].fn, _parameters(text)
    outcome = run(worlds, modes, parameters, backend, iree=False, eager=eager, dynamic=dynamic, fullgraph=fullgraph)
    print(outcome.status, outcome.refused)
    for difference in outcome.found:
        print(difference)


def _parameters(text: str) -> list[str]:
    """Of the function, or of the module's `forward`."""
    functions = [each for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)]
    (function,) = [each for each in functions if each.name == "fn"] or [
        each for each in functions if each.name == "forward" and each.args.args[0].arg == "self"
    ]
    return [each.arg for each in function.args.args if each.arg != "self"]
