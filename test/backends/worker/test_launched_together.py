"""Launches of one kernel on several sets of bindings, as one: plans and PTX, as texts."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dovetail.backends.worker.launched_together import MOST_BYTES, launch_together

HEAD = ".version 8.4\n.target sm_90\n.address_size 64\n\n"
KERNEL = """.visible .entry NAME(
\t.param .u64 .ptr .global .align 16 NAME_param_0,
\t.param .u64 .ptr .global .align 16 NAME_param_1,
\t.param .u32 NAME_param_2
)
.maxntid 128, 1, 1
{
\t.reg .b32 \t%r<4>;
\t.reg .b64 \t%rd<6>;

\tld.param::entry.b64 \t%rd1, [NAME_param_0];
\tld.param::entry.b64 \t%rd2, [NAME_param_1];
\tmov.u32 \t%r1, %ctaid.x;
\tld.param::entry.b32 \t%r2, [NAME_param_2];
\tmul.wide.u32 \t%rd3, %r1, 4;
\tadd.s64 \t%rd4, %rd2, %rd3;
\tst.global.b32 \t[%rd4], %r2;
\tret;

}
"""
BARRIER = {"op": "barrier"}


def kernel(name: str = "twice") -> str:
    return KERNEL.replace("NAME", name)


def launch(source: int, target: int, name: str = "twice", **other: Any) -> dict[str, Any]:
    ranges = [[source, 0, 64], [target, 16, 48]]
    step = {"op": "dispatch", "entry": name, "workgroups": [8, 1, 1], "constants": [7], "bindings": ranges}
    return step | {"workgroup_size": [128, 1, 1], "shared_memory": 0} | other


def joined(*steps: dict[str, Any], text: str = "") -> tuple[list[dict[str, Any]], str]:
    """The launches of a plan of `steps`, and their code."""
    plan = {"steps": list(steps)}
    code = launch_together([plan], (HEAD + (text or kernel())).encode()).decode()
    return [step for step in plan["steps"] if step != BARRIER], code


def is_as_before(*steps: dict[str, Any], text: str = "") -> bool:
    return joined(*steps, text=text) == (list(steps), HEAD + (text or kernel()))


def test_one_launch_of_all() -> None:
    """Catches a set that is left out, or that a workgroup of another set takes, and words among the addresses."""
    steps, code = joined(launch(0, 1), BARRIER, launch(2, 3), launch(4, 5))
    ranges = [[number, 16 * (number % 2), 64 - 16 * (number % 2)] for number in range(6)]
    assert steps == [launch(0, 1, bindings=ranges, workgroups=[8, 3, 1], sets=3)]
    assert ".param .align 8 .b8 twice_sets[48],\n\t.param .u32 twice_param_2\n)" in code
    assert re.search(r"mov\.u32\s+%set1, %ctaid\.y;\s+mul\.wide\.u32\s+%sets1, %set1, 16;", code)
    assert re.search(r"%rd1, \[%sets3\+0\];\s+ld\S+\s+%rd2, \[%sets3\+8\];", code)
    assert "twice_param_0" not in code
    assert "twice_param_1" not in code


def test_the_assembler_takes_it(tmp_path: Path) -> None:
    """Catches text that no assembler knows, and sets that are copied to each thread's memory, which takes long."""
    assembler = shutil.which("ptxas")
    if assembler is None:
        pytest.skip("needs NVIDIA's ptxas on PATH")
    _, code = joined(launch(0, 1), launch(2, 3))
    (tmp_path / "code.ptx").write_text(code)
    command = [assembler, "-arch=sm_90", "-v", tmp_path / "code.ptx", "-o", tmp_path / "code.cubin"]
    said = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stderr
    assert "0 bytes stack frame" in said


def test_only_what_is_apart() -> None:
    """Catches a launch that reads what another one of its sets writes, at the same time."""
    for shared in (launch(1, 2), launch(2, 1), launch(0, 2)):
        assert is_as_before(launch(0, 1), shared)
    steps, _ = joined(launch(0, 1), launch(2, 3), launch(3, 4), launch(5, 6))
    assert [step["workgroups"] for step in steps] == [[8, 2, 1], [8, 2, 1]]
    assert [binding[0] for step in steps for binding in step["bindings"]] == [0, 1, 2, 3, 3, 4, 5, 6]


def test_only_what_follows_one_another() -> None:
    """Catches a launch that is moved in front of what it waits for."""
    copy = {"op": "copy", "source": [1, 0, 64], "target": [2, 0, 64]}
    fill = {"op": "fill", "target": [2, 0, 64], "pattern": 0, "bits": 8}
    for between in (copy, fill, launch(1, 2, "other")):
        assert is_as_before(launch(0, 1), between, launch(2, 3), text=kernel() + kernel("other"))


def test_only_what_is_alike() -> None:
    """Catches a launch on other numbers, or of more workgroups, that gets those of the first one."""
    for other in ({"constants": [8]}, {"workgroups": [9, 1, 1]}):
        assert is_as_before(launch(0, 1), launch(2, 3, **other))


def test_workgroups_in_one_row_of_known_numbers() -> None:
    """Catches sets whose workgroups in y already have numbers, and sizes that each call knows anew."""
    for other in ({"workgroups": [8, 2, 1]}, {"workgroups": [8, 1, 2]}, {"workgroups": ["%0", 1, 1]}):
        assert is_as_before(launch(0, 1, **other), launch(2, 3, **other))
        assert is_as_before(launch(0, 1), launch(2, 3), launch(4, 5, **other))
    open_range = [["%0", 0, 64], [1, 0, "%1"]]
    assert is_as_before(launch(0, 1, bindings=open_range), launch(2, 3))


def test_every_launch_of_a_kernel_gives_sets() -> None:
    """Catches a launch, of another region even, that gives addresses where its kernel takes an array."""
    plans = [{"steps": [launch(0, 1), launch(2, 3)]}, {"steps": [launch(0, 1), launch(1, 2)]}]
    launch_together(plans, (HEAD + kernel()).encode())
    assert [(step["workgroups"], step["sets"]) for plan in plans for step in plan["steps"]] == [
        ([8, 2, 1], 2),
        ([8, 1, 1], 2),
        ([8, 1, 1], 2),
    ]


def test_no_more_than_parameters_hold() -> None:
    """Catches parameters of more than 4 KiB, which drivers refuse, and a last launch of a single set."""
    most = (MOST_BYTES - 4) // 16
    steps, code = joined(*(launch(2 * number, 2 * number + 1) for number in range(most + 3)))
    assert [step["workgroups"][1] for step in steps] == [129, 129]
    assert {step["sets"] for step in steps} == {129}
    assert f"twice_sets[{16 * 129}]" in code


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%ctaid.x", "%ctaid.y"),
        ("%ctaid.x", "%nctaid.y"),
        ("ld.param::entry.b64 \t%rd2, [twice_param_1]", "mov.b64 \t%rd2, twice_param_1"),
        ("[twice_param_1]", "[twice_param_1+4]"),
        (".param .u64 .ptr .global .align 16 twice_param_1", ".param .u32 twice_param_1"),
    ],
)
def test_kernels_of_another_form_stay(old: str, new: str) -> None:
    """Catches a kernel that is changed though it says more than what is read of it."""
    text = kernel().replace(old, new)
    assert text != kernel()
    assert is_as_before(launch(0, 1), launch(2, 3), text=text)


def test_other_kernels_stay() -> None:
    """Catches a name that is a part of another one's."""
    steps, code = joined(launch(0, 1), launch(2, 3), launch(4, 5, "twice_2"), text=kernel() + kernel("twice_2"))
    assert [step["entry"] for step in steps] == ["twice", "twice_2"]
    assert steps[1] == launch(4, 5, "twice_2")
    assert kernel("twice_2") in code
