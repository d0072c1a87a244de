"""The FileCheck lint finds each kind of dead check and passes each kind of live one."""

from pathlib import Path

import pytest

from dovetail.tools.lint_checks import lint_folder

RUN = "// RUN: dovetail-opt %s | FileCheck %s\n"
RUN_VERIFY = "// RUN: dovetail-opt %s --verify-diagnostics\n"
RUN_PREFIX = "// RUN: dovetail-opt %s | FileCheck %s --check-prefix=SPLIT\n"


def messages(folder: Path, name: str, text: str) -> list[str]:
    """Returns the findings in a file of the given name and text, without the folder."""
    (folder / name).write_text(text, encoding="utf-8")
    return [str(finding).removeprefix(f"{folder}/") for finding in lint_folder(folder)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("// CHECK-DISABLED: a", "'CHECK-DISABLED:' is no directive"),
        ("// CHECK-NXT: a", "'CHECK-NXT:' is no directive"),
        ("// CHECK-COUNT: a", "'CHECK-COUNT:' is no directive"),
        ("// CHECK\uff1a a", "'CHECK' is not followed by an ASCII colon"),
        ("// CHECK-NEXT\uff1a a", "'CHECK-NEXT' is not followed by an ASCII colon"),
        ("// CHECK : a", "'CHECK' is not followed by an ASCII colon"),
        ("// CHECK a", "'CHECK' is not followed by an ASCII colon"),
        ("// CHEKC: a", "'CHEKC:' has no prefix that a RUN line uses (CHECK)"),
        ("// CHECKNEXT: a", "'CHECKNEXT:' has no prefix"),
        ("// CHECK_NEXT: a", "'CHECK_NEXT:' has no prefix"),
        ("// Check-next: a", "'Check-next:' has no prefix"),
        ("// BUFFERIZED: a", "'BUFFERIZED:' has no prefix"),
        ("// BUFFERIZED-NEXT: a", "'BUFFERIZED-NEXT:' has no prefix"),
        ("// RUNS: a", "'RUNS:' has no prefix"),
        ("TRUNC // CHECK: a", "'RUN' before 'CHECK:' makes FileCheck skip the line"),
    ],
)
def test_dead_check_is_found(tmp_path: Path, line: str, expected: str) -> None:
    """Catches a lint that lets a check pass which FileCheck silently ignores."""
    [found] = messages(tmp_path, "a.mlir", f"{RUN}// CHECK: live\n{line}\n")
    assert found.startswith(f"a.mlir:3: {expected}")


@pytest.mark.parametrize(
    "line",
    [
        "// CHECK-NEXT: a",
        "// CHECK-COUNT-2: a",
        "// CHECK-DAG{LITERAL}: a",
        "return // CHECK-SAME: a",
        "// COM: CHECK-NXT: a",
        "// Prose that speaks of CHECK-NXT: nothing.",
        "// REQUIRES: cuda",
        "// -----",
        "#map = affine_map<(d0) -> (d0)>",
    ],
)
def test_live_line_passes(tmp_path: Path, line: str) -> None:
    """Catches a lint so eager that people would turn it off."""
    assert messages(tmp_path, "a.mlir", f"{RUN}// CHECK: live\n{line}\n") == []


def test_prefix_of_no_run_line_is_found(tmp_path: Path) -> None:
    """Catches checks under a prefix that was dropped from, or never reached, the RUN line."""
    [found] = messages(tmp_path, "a.mlir", f"{RUN_PREFIX}// SPLIT: live\n// CHECK: dead\n")
    assert found.startswith("a.mlir:3: 'CHECK:' has no prefix that a RUN line uses (SPLIT)")


def test_prefix_without_a_check_is_found(tmp_path: Path) -> None:
    """Catches a FileCheck command that reads a prefix which no line has: the filecheck package calls that a pass."""
    [found] = messages(tmp_path, "a.mlir", f"{RUN}{RUN_PREFIX}// CHECK: live\n")
    assert found == "a.mlir:2: FileCheck reads prefix 'SPLIT', which no line of the file has"


def test_prefix_on_a_continued_run_line_is_used(tmp_path: Path) -> None:
    """Catches a lint that reads RUN lines one by one and misses the options on the second."""
    run = "// RUN: dovetail-opt %s | \\\n// RUN:   FileCheck %s --check-prefixes=A,B\n"
    assert messages(tmp_path, "a.mlir", f"{run}// A: live\n// B-NEXT: live\n") == []


def test_python_check_beside_its_print_passes(tmp_path: Path) -> None:
    """Catches a lint that knows only comments that start a line."""
    text = '# RUN: %python %s | FileCheck %s\nprint("a")  # CHECK: a\n'
    assert messages(tmp_path, "a.py", text) == []


@pytest.mark.parametrize(
    "line",
    [
        "// expected-error {{a}}",
        "// expected-error@+1 {{a}}",
        "// expected-error @below {{a}}",
        "return %x : i32 // expected-note @unknown {{a}}",
    ],
)
def test_expected_error_passes(tmp_path: Path, line: str) -> None:
    """Catches a lint that knows only some of the forms that `--verify-diagnostics` reads."""
    assert messages(tmp_path, "a.mlir", f"{RUN_VERIFY}{line}\n") == []


@pytest.mark.parametrize(
    "line",
    [
        "// expected-eror {{a}}",
        "// expected-error: a",
        "// expected-error @next {{a}}",
        "// expected-error @below {a}",
        "//expected-errors {{a}}",
    ],
)
def test_unreadable_expected_error_is_found(tmp_path: Path, line: str) -> None:
    """Catches an expectation that `--verify-diagnostics` passes over: nothing is expected there."""
    [found] = messages(tmp_path, "a.mlir", f"{RUN_VERIFY}{line}\n")
    assert found == "a.mlir:2: an expected error that can't be read; write 'expected-error @below {{text}}'"


def test_expected_error_that_nobody_reads_is_found(tmp_path: Path) -> None:
    """Catches an expectation in a file that lost its `--verify-diagnostics`."""
    [found] = messages(tmp_path, "a.mlir", f"{RUN}// CHECK: live\n// expected-error @below {{{{a}}}}\n")
    assert found == "a.mlir:3: an expected error that no RUN line reads, they lack --verify-diagnostics"


def test_verification_of_nothing_is_found(tmp_path: Path) -> None:
    """Catches a file whose expectations got lost."""
    [found] = messages(tmp_path, "a.mlir", RUN_VERIFY)
    assert found == "a.mlir:1: --verify-diagnostics in a file that expects no error"


def test_file_that_filecheck_reads_without_a_check_is_found(tmp_path: Path) -> None:
    """Catches a test whose every check was taken away."""
    [found] = messages(tmp_path, "a.mlir", f"{RUN}func.func private @f()\n")
    assert found == "a.mlir:1: FileCheck reads prefix 'CHECK', which no line of the file has"


def test_run_line_in_a_pytest_file_is_found(tmp_path: Path) -> None:
    """Catches a lit test that never runs because lit leaves test_*.py to pytest."""
    [found] = messages(tmp_path, "test_a.py", "# RUN: %python %s | FileCheck %s\n")
    assert found.startswith("test_a.py:1: a RUN line in a file that lit does not run")
