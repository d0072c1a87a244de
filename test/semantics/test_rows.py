"""Every row of docs/semantics.md: as eager, with the IR that the page shows, runnable at every stage, and verified."""

import ast
import functools
import io
import re
from contextlib import nullcontext, redirect_stderr
from pathlib import Path

import pytest
import torch
from differential import assert_same, without_dynamo
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import Options
from filecheck.parser import Parser, pattern_for_opts
from torch_mlir import ir

import dovetail
from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import EagerWarning, PassError, UnsupportedError
from dovetail.passes.exactness.verify_comparisons import VerifyComparisonsPass
from dovetail.passes.levels.verify_level import VerifyLevelPass
from dovetail.passes.running.runner import Runner
from dovetail.runtime.reference.drawn_inputs import random_inputs
from dovetail.runtime.reference.executor import run_reference
from dovetail.tools.documented_semantics import Row, captured, lowered, passes_to, rows, shown
from dovetail.tools.documented_walk import shortened
from test.support.old_torch import IS_2_11

TEST = Path(__file__).resolve().parents[1]
ROWS = rows(TEST.parent)
COMPILED = [row for row in ROWS if not row.eager]
EAGER = [row for row in ROWS if row.eager]
NUMBERS = {"ids": lambda row: row.number}
OF_A_ROW = pytest.mark.parametrize("row", COMPILED, **NUMBERS, scope="module")
"""With this scope all tests of a row follow one another: who runs them captures its program once."""


@functools.cache
def captured_text(row: Row, training: bool) -> str:
    return str(captured(row, training))


@functools.cache
def shown_text(row: Row) -> str:
    return shortened(lowered(parse_module(captured_text(row, True), make_context()), row.level))


def test_every_row_is_there():
    """A row is dropped, doubled or misnumbered."""
    counts = {"I": 18, "O": 13, "J": 15, "H": 10}
    assert [row.number for row in ROWS] == [f"{letter}{n}" for letter in counts for n in range(1, counts[letter] + 1)]


@pytest.mark.parametrize(
    ("training", "through_iree"),
    [
        pytest.param(False, False, id="inference", marks=pytest.mark.slow),
        pytest.param(True, False, id="training op by op", marks=pytest.mark.quick),
        pytest.param(True, True, id="training", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("row", ROWS, **NUMBERS)
def test_row_is_as_eager(row: Row, training: bool, through_iree: bool, request: pytest.FixtureRequest):
    """A value, a gradient, an alias, an identity or a version counter differs from eager's, in either of two calls.

    The program of inference is the forward of training but for what is saved: IREE shows nothing more of it.
    """
    if not through_iree:
        request.getfixturevalue("op_by_op")
    is_eager = row.is_eager(training)
    warned = pytest.warns(EagerWarning, match=re.escape(row.eager)) if is_eager else nullcontext()
    with warned, row.around():
        assert_same(
            row.function(),
            *row.arguments(training),
            prepare=row.prepare,
            then=row.then,
            train=training,
            graphs=int(not is_eager),
            eager=is_eager,
            compiler=without_dynamo if row.plain_trace else None,
            dynamic=row.dynamic,
        )


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in COMPILED if row.number not in ("I6", "I7")], **NUMBERS)
def test_row_with_open_sizes(row: Row, op_by_op):
    """A row holds for the sizes of one call, or each call's are compiled anew, and the page does not say so.

    Dynamo keeps what changes an argument's own sizes out of its graphs (I6, I7).
    """
    first, *later = (row.arguments(True, times) for times in (2, 3, 4))
    dovetail.stats(reset=True)
    with row.around():
        assert_same(row.function(), *first, later=later, prepare=row.prepare, then=row.then, dynamic=True)
    stats = dovetail.stats()
    # PyTorch 2.11 fixes the size of a batch that is multiplied by a matrix, while it is traced as eager runs it.
    if IS_2_11 and row.number == "O7":
        assert stats.graphs == 3
        return
    assert not stats.specialised
    assert stats.graphs == 1


@OF_A_ROW
def test_ir(row: Row):
    """The IR no longer says what the row is about, though the behaviour may still be right by luck."""
    text = shown_text(row)
    options = Options(match_filename=row.number)
    parser = Parser(options, io.StringIO(row.checks), *pattern_for_opts(options))
    errors = io.StringIO()
    with redirect_stderr(errors):
        status = Matcher(options, FInput(row.number, text), parser).run()
    assert "CHECK" in row.checks
    assert status == 0, f"{errors.getvalue()}\n{text}"


@pytest.mark.host
@pytest.mark.parametrize("row", ROWS, **NUMBERS, scope="module")
def test_page_shows_it(row: Row):
    """The IR or a message changed, and docs/semantics.md still tells the old story."""
    page = (TEST.parent / "docs" / "semantics.md").read_text(encoding="utf-8")
    text = shown(row, "" if row.eager else shown_text(row))
    assert f"{text}\n###" in page or f"{text}<!-- end" in page, f"{row.number} is stale, run 'make docs'"


@OF_A_ROW
def test_malformed_ir_is_refused(row: Row):
    """Malformed IR of the row gets through the verifiers, or is refused without a place in the text."""
    text = shown_text(row)
    assert row.malformed is not None
    malformed, count = re.subn(row.malformed.pattern, row.malformed.replacement, text, count=1)
    assert count == 1, f"nothing matches {row.malformed.pattern} in\n{text}"
    with pytest.raises((PassError, ir.MLIRError), match=re.escape(row.malformed.message)) as raised:
        Runner().run((VerifyLevelPass(row.level), VerifyComparisonsPass()), parse_module(malformed, make_context()))
    assert re.search(r'"-":\d+:\d+', str(raised.value)), f"no place in {raised.value}"


def test_incomplete_group_is_refused():
    """A guard whose arguments share memory without saying at which distance is read with a KeyError, or not at all."""
    (row,) = [row for row in ROWS if row.number == "I13"]
    text = shown_text(row).replace(", dovetail.start = 4 : i64", "")
    with pytest.raises(PassError, match=r"dovetail\.start"):
        Runner().run((VerifyLevelPass("joint"),), parse_module(text, make_context()))


@OF_A_ROW
def test_runs_at_every_stage(row: Row):
    """The reference executor can't run a stage, or a pass changes what the caller observes."""
    module = parse_module(captured_text(row, True), make_context())
    inputs = random_inputs(module)

    def observed(stage):
        # A program may turn gradients off for what runs after it.
        with torch.enable_grad():
            return run_reference(stage, inputs)

    before = observed(module)
    stages = [str(module)]

    def compare(ran: object, changed) -> None:
        stages.append(str(changed))
        if stages[-1] == stages[-2]:  # nothing but its text says what a module does
            return
        differences = before.differences(observed(changed))
        assert not differences, f"after {ran}: {differences}"

    Runner(after=compare).run(passes_to("regions"), module)
    assert len(stages) == 1 + len(passes_to("regions"))


@pytest.mark.parametrize("row", EAGER, **NUMBERS)
def test_eager_row_is_refused_before_it_runs(row: Row):
    """What can't be compiled gets into the compiler, or the reason changes and the page does not."""
    with pytest.raises(UnsupportedError, match=re.escape(row.eager)):
        captured(row, training=True)


def test_named_tests_exist():
    """A test that a row refers to was renamed or removed, so that the row is shown by less than it says."""
    for row in ROWS:
        for file, _, function in (name.partition("::") for name in row.tests):
            tree = ast.parse((TEST / file).read_text(encoding="utf-8"))
            names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
            assert function in names, f"{row.number} refers to {file}::{function}"


def test_same_numbers_under_inference_mode():
    """Inference tensors have no version counter: a write that wants to move one raises (I5)."""
    (row,) = [row for row in ROWS if row.number == "I4"]
    with torch.inference_mode():
        assert_same(row.function(), *row.arguments(training=False), train=False)


def test_reference_executor_restores_the_grad_mode():
    """Checking a program that turns gradients off leaves them off for the next one that is checked."""
    (row,) = [row for row in ROWS if row.number == "J13"]
    module = lowered(parse_module(captured_text(row, True), make_context()), "split")
    with torch.enable_grad():
        run_reference(module, random_inputs(module))
        assert torch.is_grad_enabled()
