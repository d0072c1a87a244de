"""Settings of the whole process: each line sets what is read, all is put back, and one that is not made shows."""

from collections.abc import Callable

import pytest
import torch

from dovetail.tools.fuzz import backends, settings
from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.program import Call, CodeLine, Parameter, Program
from dovetail.tools.fuzz.settings import SETTINGS

LINES = [(name, line) for name, setting in SETTINGS.items() for line in setting.lines]


def program(line: str) -> Program:
    """Two calls."""
    call = Call((CodeLine("torch.arange(3.0)", (), ("x0",)),), backward="none")
    results = (CodeLine("{0} * 2", ("x0",)),)
    return Program((Parameter("x0", (3,), "torch.float32"),), (CodeLine(line),), results, (call, call), "single")


@pytest.mark.parametrize(("name", "line"), LINES, ids=[line for _, line in LINES])
def test_lines_set_what_is_put_back(name: str, line: str) -> None:
    """Catches a line that changes nothing that is read, and one that changes the programs after it."""
    before = settings.read()
    with settings.kept():
        if line == "torch.set_grad_enabled(True)":
            torch.set_grad_enabled(False)
        at_first = settings.read()
        exec(line, {"torch": torch})
        changed = {each for each, value in settings.read().items() if value != at_first[each]}
    assert changed == {name}
    assert settings.read() == before


def test_settings_that_are_not_made_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches compiled code that leaves out what a program sets: the numbers of that call are eager's."""

    def leaves_out(gm: torch.fx.GraphModule, inputs: list) -> Callable:
        for node in list(gm.graph.nodes):
            if node.target is torch.set_warn_always:
                gm.graph.erase_node(node)
        gm.recompile()
        return gm.forward

    monkeypatch.setitem(backends.BACKENDS, "planted", leaves_out)
    of_warnings = program("torch.set_warn_always(True)")
    (difference,) = check(of_warnings, "planted").found
    assert (difference.kind, difference.what) == ("setting", "warnings")
    assert check(of_warnings, "dovetail").status == "same"
