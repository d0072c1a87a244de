"""The border as the runtime reads it: what the IR states is what a backward obeys."""

from pathlib import Path

from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module, symbol
from dovetail.passes.border.state_border import StateBorderPass
from dovetail.runtime.autograd.border import Border
from dovetail.runtime.autograd.read_border import read_border
from dovetail.runtime.autograd.version_checks import VersionCheck

TEXT = Path(__file__).parents[2] / "passes" / "border" / "state_border.mlir"


def read(*passes) -> Border:
    """The border of the pass's test after `passes`, printed and parsed anew."""
    module = parse_module(TEXT.read_text(), make_context())
    for each in passes:
        each.run(module)
    parsed = parse_module(str(module), make_context())
    found = {symbol(op): op for op in parsed.body.operations}
    return read_border(found["apply"], found["forward"], found["backward"], Module(parsed))


def test_stated_facts():
    """Catches a fact of saved values that the text lacks, or that the runtime derives otherwise than it is stated."""
    border = read(StateBorderPass())
    assert [each.position for each in border.saved] == [0, 5, 6, 7, 8]
    assert [each.is_checked for each in border.saved] == [True, True, True, False, False]
    assert border.checked_results == (1,)
    assert [each.used for each in border.saved] == list(map(frozenset, [(0,), (1,), (1,), (0, 1), ()]))
    checks = [(each.is_argument, each.position, each.results) for each in border.checks]
    assert checks == [(False, 0, (0,)), (False, 1, (0, 1)), (True, 0, (0, 1)), (False, 1, (0, 1))]
    # What eager watches or reads again is checked as a saved value; hooks of the user's keep that from what is read.
    assert border.eager_only == ()
    assert border.rereads == (VersionCheck(False, 1, (0,), is_reread=True),)


def test_unstated_facts():
    """Catches a module at `split`, before the pass, of which the best is assumed: memory freed or changed too early."""
    border = read()
    assert [each.position for each in border.saved] == [4, 5, 6, 7, 8]
    assert [each.used for each in border.saved] == [frozenset((0, 1))] * 5
    assert border.checks is None
    assert border.eager_only == (VersionCheck(True, 0, (0,)), VersionCheck(False, 1, (0,), is_reread=True))
