"""The op sweep's command, its record and its page; what it finds is in test/passes/placement/test_iree_support.py."""

import os
import re

import pytest
import torch

from dovetail.errors import OptionError
from dovetail.tools.sweep import __main__ as command
from dovetail.tools.sweep import record, report
from dovetail.tools.sweep.cases import all_cases
from dovetail.tools.sweep.check import check
from dovetail.tools.sweep.cpu import Cpu
from dovetail.tools.sweep.findings import Finding
from dovetail.tools.sweep.judge import Outcome

HOST = Cpu("A CPU", 2, "host", "znver4", "avx2 avx512f", 64)
OTHER = Cpu("A CPU", 2, "haswell", "haswell", "avx2 fma", 32)
RIGHT = Finding("abs", "aten.abs.default(x) float32 full", "float32", False, "", "")
LEFT = Finding("sin", "aten.sin.default(x) float32 full", "float32", False, "aten.sin.default: too short", "")
WRONG = Finding("neg", "aten.neg.default(x) int32 full", "int32", True, "", "ordinary: 1 of 2")


def test_command_on_an_older_cpu(monkeypatch, capsys):
    """ "0 of 9 wrong" was said of nine that are right, and of nine that are never compiled.

    And of infinity and a product that overflows, ATen's vectors make another sum than a CPU without them can: the
    processes must run the older one's kernels.
    """
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    monkeypatch.setattr("sys.argv", ["sweep", "sin", "relu", "--cpu", "x86-64", "--jobs", "1"])
    assert command.main() == 0
    lines = capsys.readouterr().out.splitlines()
    (sine,) = [line for line in lines if line.startswith("sin, ")]
    assert re.fullmatch(r"sin, as a graph has it: \d+ right, [1-9]\d* left to ATen, 0 wrong", sine)
    assert any(
        re.fullmatch(r"relu, as a graph has it: [1-9]\d* right, \d+ left to ATen, 0 wrong", line) for line in lines
    )
    assert any(re.match(r"  \d+ left to ATen: aten.sin.default: ", line) for line in lines)
    assert os.environ["ATEN_CPU_CAPABILITY"] == "default"
    assert HOST.kernels == {}
    assert OTHER.kernels == {"ATEN_CPU_CAPABILITY": "avx2"}


def test_op_imported_as_a_library_call_is_left_to_aten():
    """A slice_scatter with a step never enters a region, and counted as one that does not compile."""
    cases = [each for each in all_cases(["slice_backward"]) if each.dtype is torch.float32]
    (outcome,) = check(cases, decompose=True)
    assert outcome.refused == "aten.slice_scatter.default: slice_scatter with step 2"
    assert not outcome.wrong


def test_unknown_cpu_is_refused(monkeypatch, capsys):
    """A misspelt CPU would be swept as one without any features."""
    monkeypatch.setattr("sys.argv", ["sweep", "relu", "--cpu", "hasswell"])
    assert command.main() == 2
    assert "CPU 'hasswell'" in capsys.readouterr().err


def test_op_that_nobody_says_how_to_call_is_named():
    """A traceback of a process was all that a new op without a row in CALLS gave."""
    with pytest.raises(OptionError, match=r"index_select.default: argument 'dim' is int, expected a row in CALLS"):
        all_cases(["index_select"])


def test_product_that_overflows_in_half_precision_is_accepted():
    """Catches all sums of float16 accepted, or those of other types, for what eager makes of `alpha` on older CPUs."""
    differs = {"special": "1 of 2", "beyond": "1 of 2"}
    sums = [case for case in all_cases(["add"]) if case.name == "aten.add.Tensor" and case.keywords]
    for case in sums:
        assert Outcome(case, differs=differs).wrong is (case.dtype is not torch.float16)
        assert Outcome(case, differs=differs | {"ordinary": "1 of 2"}).wrong
    assert {case.dtype for case in sums} >= {torch.float16, torch.float32}
    assert all(Outcome(case, differs=differs).wrong for case in all_cases(["add"]) if not case.keywords)


def test_page_shows_each_cpu(monkeypatch, tmp_path):
    """What is wrong on one CPU alone would not be seen beside one that has everything right, nor that it is old."""
    monkeypatch.setattr(record, "MEASURED", tmp_path)
    record.record(tmp_path / "a.json", OTHER, [RIGHT, LEFT, WRONG], 1.0)
    record.record(tmp_path / "b.json", HOST, [RIGHT, LEFT], 1.0)
    page, day = report.markdown(), r"\d{4}-\d\d-\d\d"
    assert re.search(rf"\| A CPU \(znver4\) \| {day} \| 64 bytes.*\n\| A CPU as haswell \| {day} \| 32 bytes", page)
    assert "1 right, 1 left to ATen, **0 wrong**" in page
    assert "0 right, 0 left to ATen, **1 wrong**" in page
    assert "| `aten.neg.default(x) int32 full` | ordinary: 1 of 2 | A CPU as haswell |" in page
    assert "| `sin` | too short | float32 | all |" in page


def test_nothing_recorded_is_wrong():
    """The figures of a CPU on which a graph's op is wrong would be committed unnoticed."""
    assert {cpu.title: figures["met"]["wrong"] for cpu, figures in record.recorded() if figures["met"]["wrong"]} == {}
    assert any(cpu.asked == "host" for cpu, _ in record.recorded())
