"""Regions compiled for GPUs, on any machine: what a plan says of its launches, and the code that it names."""

import shutil
import stat
from pathlib import Path

import pytest
from compiled_regions import compile_regions
from torch_mlir import ir

from dovetail.backends.compiling import batches, iree
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompileFailure
from dovetail.backends.cuda import assembler
from dovetail.backends.cuda.target import ARCHITECTURES
from dovetail.backends.cuda.waits import waiting
from dovetail.backends.target import target_for_device
from dovetail.dialects.attributes import ROLE, TARGET
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.statements.plans import digest, plans
from dovetail.passes.launches.import_plans import import_plans
from dovetail.passes.launches.verify_launches import VerifyLaunchesPass
from dovetail.runtime.cuda.read_plan import read_record
from dovetail.runtime.launches.plan_records import Copy, Range
from test.support.gpu_regions import COLUMNS, region

V, M = "!torch.vtensor<[64,512],f32>", "!torch.tensor<[64,512],f32>"
ROW, ROW_M = "!torch.vtensor<[512],f32>", "!torch.tensor<[512],f32>"
STEPS, STEPS_M = "!torch.vtensor<[5],si64>", "!torch.tensor<[5],si64>"
SOFTMAX = f"""module {{
  func.func @main(%x: {V}, %soft: {M}, %total: {ROW_M}, %steps: {STEPS_M}) {{
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._softmax %x, %int1, %false : {V}, !torch.int, !torch.bool -> {V}
    %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none : {V}, !torch.list<int>, !torch.bool, !torch.none -> {ROW}
    %2 = torch.aten._softmax %1, %int0, %false : {ROW}, !torch.int, !torch.bool -> {ROW}
    %3 = torch.vtensor.literal(dense<[3, 1, 4, 1, 5]> : tensor<5xsi64>) : {STEPS}
    torch.overwrite.tensor.contents %0 overwrites %soft : {V}, {M}
    torch.overwrite.tensor.contents %2 overwrites %total : {ROW}, {ROW_M}
    torch.overwrite.tensor.contents %3 overwrites %steps : {STEPS}, {STEPS_M}
    return
  }}
}}
"""
EXP = f"""module {{
  func.func @main(%x: {V}, %o: {M}) {{
    %0 = torch.aten.exp %x : {V} -> {V}
    torch.overwrite.tensor.contents %0 overwrites %o : {V}, {M}
    return
  }}
}}
"""
ROWS, ROWS_M = "!torch.vtensor<[64,4097],f32>", "!torch.tensor<[64,4097],f32>"
BY_ROW = f"""module {{
  func.func @main(%x: {ROWS}, %row: !torch.vtensor<[64,1],f32>, %o: {ROWS_M}) {{
    %0 = torch.aten.mul.Tensor %x, %row : {ROWS}, !torch.vtensor<[64,1],f32> -> {ROWS}
    torch.overwrite.tensor.contents %0 overwrites %o : {ROWS}, {ROWS_M}
    return
  }}
}}
"""

# Several tests take what is compiled of the same texts.
pytestmark = pytest.mark.usefixtures("remembered_runs")
needs_assembler = pytest.mark.skipif(not assembler.assembler(), reason="needs NVIDIA's ptxas: on PATH, or with triton")


@pytest.fixture(autouse=True)
def no_failures(monkeypatch: pytest.MonkeyPatch):
    """Failures of one test are not remembered in the next."""
    monkeypatch.setattr(iree, "_failures", {})


@pytest.fixture
def use_assembler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts a shell script, or nothing, in the assembler's place."""

    def use(script: str) -> None:
        path = tmp_path / "ptxas"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(assembler, "assembler", lambda: str(path) if script else "")

    return use


def compiled(*texts: str, architecture: str = "sm_90", timeout: float = 60) -> list:
    target = target_for_device(f"cuda:{architecture}")
    named = {str(index): text for index, text in enumerate(texts)}
    return list(compile_regions(named, target, timeout=timeout, plans=True, jobs=1).values())


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_ptx_is_for_the_architecture(architecture: str, use_assembler):
    """Would catch code for the CPU, or for another generation than the target's, which a driver refuses to load."""
    use_assembler("")
    [plan] = compiled(EXP, architecture=architecture)
    assert isinstance(plan, LaunchPlan), plan
    assert f".target {architecture}\n".encode() in plan.code
    assert plan.code.endswith(b"}\n")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_kernels_wait_where_launches_say_so(architecture: str, use_assembler):
    """Would catch a kernel that is launched early and reads what is not written yet, or reads by way of a cache that
    takes memory to stay the same."""
    use_assembler("")
    [plan] = compiled(SOFTMAX, architecture=architecture)
    assert isinstance(plan, LaunchPlan), plan
    launches = [step for step in plan.steps["steps"] if step["op"] == "dispatch"]
    kernels = plan.code.split(b".entry ")[1:]
    waits = architecture == "sm_90"
    assert len(kernels) == len(launches) >= 2
    assert [step.get("waits", False) for step in launches] == [waits] * len(launches)
    assert [b"\n{\n\tgriddepcontrol.wait;\n" in kernel for kernel in kernels] == [waits] * len(kernels)
    assert (b"ld.global.nc" in plan.code) == (not waits)
    module = parse_module(SOFTMAX, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
    import_plans(module, {"main": (plan.steps, digest(plan.code))})
    assert str(module).count(" waits, ") == (len(launches) if waits else 0)


def test_which_kernels_wait():
    """Would catch a kernel that does not wait beside others that do, and says that it does; one that turns what it
    reads through shared memory and no longer reads ahead of its barrier; and one whose loop writes, and no longer reads
    for several rounds at once."""
    begun = b".visible .entry a(\n)\n.maxntid 32\n{\n\tret;\n}\n"
    turns = b".visible .entry b(\n)\n.maxntid 32\n{\n\tbar.sync 0;\n\tld.global.nc.b32 %r1, [%rd1];\n}\n"
    edited, names = waiting(begun + turns)
    assert edited == begun.replace(b"{\n", b"{\n\tgriddepcontrol.wait;\n") + turns
    assert names == {"a"}
    other = b".weak .entry b()\n{\n\tret;\n}\n"
    assert waiting(begun + other) == (edited[: -len(turns)] + other, {"a"})


READ, WRITE = "\tld.global.nc.b32 %r1, [%rd1];\n", "\tst.global.b32 [%rd2], %r1;\n"
AROUND = {
    "writes in its loop": (f"$L__BB0_1:\n{READ}{WRITE}\t@%p1 bra \t$L__BB0_1;\n", False),
    "writes in a loop within": (
        f"$L__BB0_1:\n{READ}$L__BB0_2:\n{WRITE}\tbra \t$L__BB0_2;\n\tbra \t$L__BB0_1;\n",
        False,
    ),
    "writes behind its loop": (f"$L__BB0_1:\n{READ}\t@%p1 bra \t$L__BB0_1;\n{WRITE}", True),
    "has no loop": (f"\t@%p1 bra \t$L__BB0_1;\n{READ}{WRITE}$L__BB0_1:\n", True),
}


@pytest.mark.parametrize("name", AROUND)
def test_loops_that_read_and_write_do_not_wait(name: str):
    """Would catch a gradient of 50,257 classes that took 1,020 us for 456: its loop read a number at a time, each
    after the write before it."""
    body, waits = AROUND[name]
    kernel = f".visible .entry a(\n)\n.maxntid 32\n{{\n{body}\tret;\n}}\n".encode()
    edited, names = waiting(kernel)
    assert (names == {"a"}) == (edited != kernel) == waits


def test_rows_of_an_odd_length_do_not_wait(use_assembler):
    """Would catch IREE's loops over the end of a row in another form of text, so that kernels of such rows wait."""
    use_assembler("")
    [plan] = compiled(BY_ROW)
    [launch] = [step for step in plan.steps["steps"] if step["op"] == "dispatch"]
    assert "waits" not in launch
    assert b"ld.global.nc" in plan.code


def test_a_plan_of_several_launches(use_assembler):
    """Would catch launches without their threads, or under a name that the code does not have."""
    use_assembler("")
    plan, _ = compiled(SOFTMAX, EXP)
    assert isinstance(plan, LaunchPlan), plan
    launches = [step for step in plan.steps["steps"] if step["op"] == "dispatch"]
    assert len(launches) >= 2
    for launch in launches:
        assert f".visible .entry {launch['entry']}(".encode() in plan.code
        assert 32 <= launch["workgroup_size"][0] <= 1024
    assert any(launch["shared_memory"] for launch in launches) or b".shared" not in plan.code
    module = parse_module(SOFTMAX, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
        module.operation.attributes[TARGET] = ir.StringAttr.get("cuda:sm_90")
    import_plans(module, {"main": (plan.steps, digest(plan.code))})
    module.operation.verify()
    VerifyLaunchesPass().run(module)
    assert "workgroup_size = [" in str(module)


@needs_assembler
def test_the_assembler_makes_one_cubin_of_a_batch():
    """Would catch an assembler that is not asked, or asked once for each region of one code."""
    first, second = compiled(SOFTMAX, EXP)
    assert first.code == second.code
    assert first.code.startswith(b"\x7fELF")


def test_a_kernel_that_spills_is_refused(use_assembler):
    """Would catch a kernel that keeps its row in memory: IREE's own tiles make some that take seconds."""
    use_assembler(
        'for each; do last=$each; done; cp "$last" "${last%.ptx}.cubin"\n'
        'sed -n "s/.*entry \\(.*elementwise[^(]*\\)(.*/ptxas info    : Function properties for \\1/p" "$last" >&2\n'
        'echo "    24576 bytes stack frame, 9 bytes spill stores, 9 bytes spill loads" >&2'
    )
    softmax, exp = compiled(SOFTMAX, EXP)
    assert isinstance(softmax, LaunchPlan), softmax
    assert isinstance(exp, CompileFailure)
    assert exp.reason == "error: a thread of it keeps 24576 bytes in memory, expected at most 512"


def test_a_refused_kernel_alone_loses_its_tiles(use_assembler, tmp_path: Path):
    """Would catch a region of many kernels that is slow in all of them, since one does not fit into the registers."""
    use_assembler(
        '[ "$1" = --version ] && exit; for each; do last=$each; done; cp "$last" "${last%.ptx}.cubin"\n'
        f"[ -e {tmp_path}/refused ] && exit; touch {tmp_path}/refused\n"
        'sed -n "s/.*entry \\(.*dispatch_1[^(]*\\)(.*/Function properties for \\1/p" "$last" >&2\n'
        'echo "    4096 bytes stack frame" >&2'
    )
    ops = "%soft = torch.aten._softmax %x, %one, %false : !X, !torch.int, !torch.bool -> !X\n"
    [plan] = compiled(region("2048,1024", "f32", ops + COLUMNS.replace("%x", "%soft"), result="1024"))
    assert isinstance(plan, LaunchPlan), plan
    assert [step["tiling"] for step in plan.steps["steps"] if step["op"] == "dispatch"] == [
        "rows",
        "IREE's tiles: a thread of it keeps 4096 bytes in memory, expected at most 512",
    ]


def test_an_assembler_that_hangs_is_ended(use_assembler):
    """Would catch a compilation that waits for ever: some kernels take the assembler longer than their users have."""
    use_assembler("exec sleep 600")
    [failure] = compiled(EXP, timeout=3)
    assert isinstance(failure, CompileFailure)
    assert failure.reason == "time-out after 3 s"


def test_an_assembler_that_fails_is_told(use_assembler):
    """Would catch PTX that is kept though no driver will take it."""
    use_assembler("echo 'ptxas fatal : error: no such instruction' >&2; exit 1")
    [failure] = compiled(EXP)
    assert isinstance(failure, CompileFailure)
    assert failure.reason == "error: no such instruction"


MATRIX, MATRIX_M = "!torch.vtensor<[16,8],f32>", "!torch.tensor<[16,8],f32>"
COPY = f"""module {{
  func.func @main(%x: {MATRIX}, %o: {MATRIX_M}) {{
    torch.overwrite.tensor.contents %x overwrites %o : {MATRIX}, {MATRIX_M}
    return
  }}
}}
"""
TWO_COPIES = f"""module {{
  func.func @main(%x: {MATRIX}, %o: {MATRIX_M}, %p: {MATRIX_M}) {{
    torch.overwrite.tensor.contents %x overwrites %o : {MATRIX}, {MATRIX_M}
    torch.overwrite.tensor.contents %x overwrites %p : {MATRIX}, {MATRIX_M}
    return
  }}
}}
"""
FILL = f"""module {{
  func.func @main(%o: {MATRIX_M}) {{
    %none = torch.constant.none
    %value = torch.constant.float 2.500000e+00
    %rows = torch.constant.int 16
    %columns = torch.constant.int 8
    %sizes = torch.prim.ListConstruct %rows, %columns : (!torch.int, !torch.int) -> !torch.list<int>
    %y = torch.aten.full %sizes, %value, %none, %none, %none, %none : !torch.list<int>, !torch.float, !torch.none, !torch.none, !torch.none, !torch.none -> {MATRIX}
    torch.overwrite.tensor.contents %y overwrites %o : {MATRIX}, {MATRIX_M}
    return
  }}
}}
"""  # noqa: E501 - MLIR


@pytest.mark.parametrize("beside", [(), (EXP,)], ids=["alone", "beside a kernel"])
def test_what_only_copies_and_fills_has_a_plan(beside: tuple[str, ...]):
    """Would catch a region without a kernel taken for one without a plan, which runs op by op and is told as failed."""
    copy, twice, fill, *_ = compiled(COPY, TWO_COPIES, FILL, *beside)
    for plan in (copy, twice, fill):
        assert isinstance(plan, LaunchPlan), plan
        assert plan.code == b""
    moved = {"op": "copy", "source": [0, 0, 512], "target": [1, 0, 512]}
    assert [step for step in copy.steps["steps"] if step["op"] != "barrier"] == [moved]
    again = moved | {"target": [2, 0, 512]}
    assert [step for step in twice.steps["steps"] if step["op"] != "barrier"] == [moved, again]
    filled = {"op": "fill", "target": [0, 0, 512], "pattern": 0x40200000, "bits": 32}
    assert [step for step in fill.steps["steps"] if step["op"] != "barrier"] == [filled]
    module = parse_module(COPY, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
        module.operation.attributes[TARGET] = ir.StringAttr.get("cuda:sm_90")
    import_plans(module, {"main": (copy.steps, digest(copy.code))})
    VerifyLaunchesPass().run(module)
    [plan] = plans(module).values()
    assert read_record(plan).steps == (Copy(Range(0, 0, 512), Range(1, 0, 512)),)


def test_what_only_copies_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch an empty file taken for a damaged one: each process would compile it again."""
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    target = target_for_device("cuda:sm_90")
    for hits in range(2):
        cache = RegionCache()
        [plan] = compile_regions({"a": COPY}, target, timeout=60, plans=True, cache=cache).values()
        assert isinstance(plan, LaunchPlan), plan
        assert cache.hits == hits


def test_a_region_without_a_plan_has_failed(monkeypatch: pytest.MonkeyPatch):
    """Would catch a module for IREE's runtime, which has no driver for GPUs here, taken for what runs the region."""
    monkeypatch.setattr(batches, "read_plans", lambda text, entries, timeout: dict.fromkeys(entries, "it has branches"))
    [failure] = compiled(EXP)
    assert isinstance(failure, CompileFailure)
    assert failure.reason == "error: no plan: it has branches"


def test_there_is_an_assembler_where_path_has_one():
    """Would catch a search that passes over the one that the user installed."""
    assert shutil.which("ptxas") in (None, assembler.assembler())
