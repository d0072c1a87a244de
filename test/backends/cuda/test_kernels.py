"""Kernels as PTX: the tiles and the functions that they were given, and IREE's own where ours do not fit."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from compiled_regions import compile_regions

from dovetail.backends.compiling import batches, iree, iree_worker
from dovetail.backends.compiling.cache import RegionCache
from dovetail.backends.compiling.compiler_runs import Cause, Run
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import Outcome
from dovetail.backends.cuda import assembler
from dovetail.backends.target import target_for_device
from test.support.gpu_regions import (
    COLUMNS,
    ROUNDED_COLUMNS,
    SOFTMAX,
    TANH,
    moments_of_parts,
    region,
    rounded_columns,
    turn,
)

REGIONS: dict[str, str] = {"softmax": region("512,4096", "f32", SOFTMAX)}
"""What the tests read the kernels of, each beside its test: one run of the compiler takes them all."""


@pytest.fixture(autouse=True)
def ptx_alone(monkeypatch: pytest.MonkeyPatch):
    """The code is PTX, to be read; failures of one test are not remembered in the next."""
    monkeypatch.setattr(assembler, "assembler", lambda: "")
    monkeypatch.setattr(iree, "_failures", {})


def only_launch(plan: Outcome) -> tuple[str, dict]:
    """The PTX of a region of one launch, and that launch."""
    assert isinstance(plan, LaunchPlan), plan
    [launch] = [step for step in plan.steps["steps"] if step["op"] == "dispatch"]
    [ptx] = re.findall(rf"(?s)\.visible \.entry {re.escape(launch['entry'])}\(.*?(?=\.visible|\Z)", plan.code.decode())
    return ptx, launch


@pytest.fixture
def kernel(compiled: dict[str, Outcome]) -> Callable[[str], tuple[str, dict]]:
    """Gives the PTX of a region of one launch by the region's name, and that launch."""
    return lambda name: only_launch(compiled[name])


def test_softmax_reads_its_rows_once_as_vectors(kernel: Callable):
    """Would catch tiles that are asked for and not made: 32 threads that read each row twice, element by element."""
    ptx, launch = kernel("softmax")
    assert launch["tiling"] == "rows"
    assert launch["workgroup_size"] == [256, 1, 1]
    assert launch["workgroups"] == [512, 1, 1]
    assert ".maxntid 256, 1, 1" in ptx
    assert len(re.findall(r"ld\.global\S*v4\S*", ptx)) == 4
    assert len(re.findall(r"ld\.global", ptx)) == 4


REGIONS["tanh"] = region("2048,1024", "f32", TANH)


def test_functions_are_the_librarys(kernel: Callable):
    """Would catch IREE's polynomials, which limit kernels more than memory does, and a mark that was never resolved."""
    ptx, launch = kernel("softmax")
    assert len(re.findall(r"ex2\.approx", ptx)) == 16  # one an element of a thread
    assert "fmodf" not in ptx
    ptx, launch = kernel("tanh")
    assert launch["tiling"] == "pointwise"
    assert launch["workgroup_size"] == [128, 1, 1]
    assert re.search(r"tanh\.approx", ptx) is None
    assert "fmodf" not in ptx


REGIONS["moments"] = region("448,448,64", "f32", moments_of_parts(448, 448, 64), "448,1,64")


def test_columns_are_read_again_by_the_kernel_that_found_what_they_deviate_from(kernel: Callable):
    """Would catch sums of columns that have IREE's tiles, 32 threads of 7 million numbers, since others follow them."""
    ptx, launch = kernel("moments")
    assert launch["tiling"] == "columns"
    assert launch["workgroups"] == [448 * 4, 1, 1]
    assert launch["workgroup_size"] == [256, 1, 1]
    assert len(re.findall(r"ld\.global\S*v4", ptx)) == len(re.findall(r"ld\.global", ptx)) == 1 + 7


THIRDS = "%three = torch.constant.float 3.0\n%y = torch.aten.div.Scalar %x, %three : !X, !torch.float -> !X"
REGIONS["thirds"] = region("512,4096", "f32", THIRDS)


def test_division_is_right_over_the_whole_range(kernel: Callable):
    """Would catch `div.approx`, which is 0 for every divisor above 2^126, though it compiles and is as fast."""
    ptx, _ = kernel("softmax")
    assert "div.full.f32" in ptx
    assert "div.approx" not in ptx
    ptx, _ = kernel("thirds")
    assert "div.rn.f32" in ptx  # no function is rounded there, so the quotient is eager's to the last bit


STORED_TERMS = """module {
  func.func @main(%x: !X, %o: !M, %s: !torch.tensor<[512],f32>) {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %y = torch.aten.mul.Tensor %x, %x : !X, !X -> !X
    %z = torch.aten.sum.dim_IntList %y, %last, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !S
    torch.overwrite.tensor.contents %y overwrites %o : !X, !M
    torch.overwrite.tensor.contents %z overwrites %s : !S, !torch.tensor<[512],f32>
    return
  }
}
"""
STORED_TERMS = STORED_TERMS.replace("!X", "!torch.vtensor<[512,768],f32>").replace("!S", "!torch.vtensor<[512],f32>")
STORED_TERMS = STORED_TERMS.replace("!M", "!torch.tensor<[512,768],f32>")


REGIONS["stored terms"] = STORED_TERMS


def test_what_a_kernel_stores_along_the_way_is_dealt_to_its_threads(kernel: Callable):
    """Would catch terms of a sum that every thread computes and stores for all of the row: ten times the time."""
    ptx, launch = kernel("stored terms")
    assert launch["tiling"] == "rows"
    assert launch["workgroup_size"] == [64, 1, 1]
    assert len(re.findall(r"st\.global\S*v4", ptx)) == 3
    assert len(re.findall(r"st\.global", ptx)) == 4  # and the sum


LESS_ITS_LARGEST = """%true = torch.constant.bool true
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %v = torch.aten.{op} : !X{more} -> !X
    %m = torch.aten.amax %v, %last, %true : !X, !torch.list<int>, !torch.bool -> !torch.vtensor<[512,1],bf16>
    %y = torch.aten.sub.Tensor %v, %m, %one : !X, !torch.vtensor<[512,1],bf16>, !torch.int -> !X"""
REGIONS |= {
    f"{name} less their largest": region("512,1024", "bf16", LESS_ITS_LARGEST.format(op=op, more=more))
    for name, op, more in (("squares", "mul.Tensor %x, %x", ", !X"), ("exponentials", "exp %x", ""))
}


def test_bfloat16_is_rounded_at_each_op(kernel: Callable):
    """Would catch numbers that stay in float32 from one op to the next: less its row's largest, none would be 0."""
    ptx, _ = kernel("squares less their largest")
    assert "mul.rn.bf16" in ptx
    assert ".f32" not in ptx
    ptx, _ = kernel("exponentials less their largest")
    assert "cvt.rn.bf16x2.f32" in ptx
    assert "sub.rn.bf16" in ptx
    assert "sub.rn.f32" not in ptx


REMAINDER = """hal.executable private @e {
  hal.executable.variant public @v target(<"cuda", "cuda-nvptx-fb">) {
    builtin.module {
      func.func @takes_remainders(%x: f32, %y: f32) -> f32 {
        %0 = arith.remf %x, %y : f32
        %1 = math.exp %0 : f32
        return %1 : f32
      }
      func.func @takes_none(%x: f32) -> f32 {
        %0 = math.exp %x : f32
        return %0 : f32
      }
    }
  }
}"""


def test_a_remainder_of_the_program_stays_one():
    """Would catch a program's own remainder taken for a function that a remainder stands for."""
    found, text = iree_worker.worker.ask({"task": "configure", "plain": []}, REMAINDER.encode(), 60)
    assert found == {"takes_remainders": "IREE tiles nothing there", "takes_none": "IREE tiles nothing there"}
    assert text.count(b"math.exp") == 1
    assert text.count(b"arith.remf") == 2
    assert re.findall(rb"@(\w+)\(.*remainders_are_functions", text) == [b"takes_none"]


FUNCTION = """hal.executable private @e {
  hal.executable.variant public @v target(<"cuda", "cuda-nvptx-fb">) {
    builtin.module {
      llvm.func @__nv_fmodf(f32, f32) -> f32
      llvm.func @k(%x: f32) -> f32 ATTRIBUTES {
        %y = llvm.mlir.constant(NUMBER : f32) : f32
        %0 = llvm.call @__nv_fmodf(%x, %y) : (f32, f32) -> f32
        %1 = llvm.fdiv %0, %x : f32
        llvm.return %1 : f32
      }
    }
  }
}"""


def finished(number: str, attributes: str) -> str:
    text = FUNCTION.replace("NUMBER", number).replace("ATTRIBUTES", attributes)
    return iree_worker.worker.ask({"task": "finish"}, text.encode(), 60)[1].decode()


def test_only_what_was_marked_stands_for_a_function():
    """Would catch `fmod` by the very number that stands for a function, in a kernel that was left alone, become one."""
    marked = finished("1.2345671e+30", "attributes {remainders_are_functions}")
    assert "llvm.call @__nv_expf" in marked
    assert "div.full" in marked
    assert "remainders_are_functions" not in marked
    own = finished("1.2345671e+30", "")
    assert "llvm.call @__nv_fmodf" in own
    assert "div.full" not in own


def test_a_number_that_stands_for_nothing_known_is_told():
    """Would catch a call that stands for a function and is compiled as the remainder that it says."""
    with pytest.raises(OSError, match="__nv_fmodf by a number that is not known"):
        finished("3.0", "attributes {remainders_are_functions}")


UPDATES = """module {
  func.func @main(%g: !X, %m: !M, %p: !M) {
    %half = torch.constant.float 0.5
    %one = torch.constant.int 1
    %0 = torch.copy.to_vtensor %m : !X
    %1 = torch.copy.to_vtensor %p : !X
    %2 = torch.aten.mul.Scalar %0, %half : !X, !torch.float -> !X
    %3 = torch.aten.add.Tensor %2, %g, %one : !X, !X, !torch.int -> !X
    %4 = torch.aten.sub.Tensor %1, %3, %one : !X, !X, !torch.int -> !X
    torch.overwrite.tensor.contents %3 overwrites %m : !X, !M
    torch.overwrite.tensor.contents %4 overwrites %p : !X, !M
    return
  }
}""".replace("!X", "!torch.vtensor<[512,512],f32>").replace("!M", "!torch.tensor<[512,512],f32>")


REGIONS["updates"] = UPDATES


def test_a_moment_and_its_parameter_are_read_before_either_is_written(kernel: Callable):
    """Would catch a thread that takes a moment from memory that is overwritten by then, or two launches of one loop."""
    ptx, launch = kernel("updates")
    assert launch["tiling"] == "pointwise"
    body = ptx.partition(".entry")[2]
    assert [kind[1] for kind in re.finditer(r"(ld|st)\.global", body)] == ["ld"] * 3 + ["st"] * 2
    assert "$L__BB" not in body  # each thread goes through once


TURNS = {
    "64,3,50176 f32": (["v4.b32"] * 3, ["v4.b32"] * 3),
    "64,50176,3 f32": (["v4.b32"] * 3, ["v4.b32"] * 3),
    "512,512,9 f32": (["v4.b32"] * 9, ["v4.b32"] * 9),
    "512,9,256 f32": (["v4.b32"] * 9, ["v4.b32"] * 9),
    "64,3,50176 f32 bf16": (["v4.b32"] * 3, ["v2.b32"] * 3),
    "64,50176,3 bf16 f32": (["v2.b32"] * 3, ["v4.b32"] * 3),
    "512,9,512 bf16 f32": (["v4.b16"] * 9, ["v4.b32"] * 9),
    "64,3,50176 bf16": (["v4.b32"] * 3, ["v4.b32"] * 3),
}
"""What turns, and which accesses read and write it: vectors of 16 bytes, of what is narrow 4 numbers."""
REGIONS |= {name: turn(*name.split()) for name in TURNS}


@pytest.mark.parametrize("name", TURNS)
def test_what_turns_few_elements_is_read_and_written_as_vectors(kernel: Callable, name: str):
    """Would catch one access of each number of a pixel, of a filter's: four times the time that memory takes."""
    ptx, launch = kernel(name)
    assert (launch["tiling"], launch["workgroup_size"]) == ("turned", [64, 1, 1])
    assert (re.findall(r"ld\.global\.(\S+)", ptx), re.findall(r"st\.global\.(\S+)", ptx)) == TURNS[name]


REGIONS["odd turn"] = turn("5,3,1001", "f32")


def test_odd_numbers_of_neighbours_are_not_turned_by_us(kernel: Callable):
    """Would catch a tile that does not divide them: its masks were compared with nothing."""
    _, launch = kernel("odd turn")
    assert launch["tiling"] == "pointwise"


REGIONS["columns"] = region("2048,1024", "f32", COLUMNS, result="1024")


def test_columns_are_summed_in_one_launch(kernel: Callable):
    """Would catch IREE's own tiles for columns: one thread a column, a tenth of the speed."""
    ptx, launch = kernel("columns")
    assert launch["tiling"] == "columns"
    assert launch["workgroup_size"] == [256, 1, 1]
    assert launch["workgroups"] == [64, 1, 1]
    assert "shfl.sync" in ptx


REGIONS["rounded columns"] = region("2048,1024", "bf16", ROUNDED_COLUMNS, result="1024")


def test_columns_of_bfloat16_are_rounded_in_the_launch_that_sums_them(kernel: Callable):
    """Would catch a rounding that costs the sums before it their tiles: a thirtieth of the speed."""
    ptx, launch = kernel("rounded columns")
    assert launch["tiling"] == "columns"
    assert launch["workgroups"] == [64, 1, 1]
    assert len(re.findall(r"st\.global\.v2\.b32", ptx)) == len(re.findall(r"st\.global", ptx)) == 1
    assert len(re.findall(r"cvt\.rn\.bf16x2\.f32", ptx)) == 2


REGIONS |= {
    "wide columns": region("8192,4096", "bf16", rounded_columns(8192, 4096), result="4096"),
    "softmax of bfloat16": region("512,4096", "bf16", SOFTMAX),
    "transposed": turn("4,512,1024", "bf16"),
    "transposed of float32": turn("4,512,1024", "f32"),
}


@pytest.mark.parametrize(
    ("name", "tiling", "threads", "workgroups", "loads", "stores"),
    [
        ("wide columns", "columns", [512, 1, 1], 128, ["v4.b32"] * 4, ["v4.b32"] * 2),
        ("softmax of bfloat16", "rows", [128, 1, 1], 512, ["v4.b32"] * 4, ["v4.b32"] * 4),
        ("transposed", "transposed", [8, 32, 1], 1024, ["v4.b16"] * 2, ["v4.b32"]),
        ("transposed of float32", "IREE's tiles, through shared memory", [8, 32, 1], 2048, ["v4.b32"], ["v4.b32"]),
    ],
)
def test_half_precision_is_moved_by_as_many_bytes(
    kernel: Callable, name: str, tiling: str, threads: list, workgroups: int, loads: list, stores: list
):
    """Would catch tiles of float32 for numbers half as long: half as many bytes are under way, and at a time."""
    ptx, launch = kernel(name)
    assert (launch["tiling"], launch["workgroup_size"], launch["workgroups"]) == (tiling, threads, [workgroups, 1, 1])
    assert re.findall(r"ld\.global(?:\.nc)?\.(\S+)", ptx) == loads
    assert re.findall(r"st\.global\.(\S+)", ptx) == stores


SCALED_TERMS = "%two = torch.constant.float 2.0\n%s = torch.aten.mul.Scalar %x, %two : !X, !torch.float -> !X\n"
SCALED_TERMS += "%last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>\n"
SCALED_TERMS += COLUMNS.replace("%x", "%s").replace("%rows", "%last")
REGIONS["scaled terms"] = region("64,4096", "f32", SCALED_TERMS, result="64")


def test_sums_of_scaled_terms_are_tiled(kernel: Callable):
    """Would catch a product by a constant in a sum, taken for one of matrices: IREE refuses it, so ATen runs all."""
    ptx, launch = kernel("scaled terms")
    assert launch["tiling"] == "rows"
    assert len(re.findall(r"add\.rn\.f32", ptx)) >= 16
    assert "fma" not in ptx
    assert not re.search(r"copysign|2147483648|-2147483648", ptx)  # what keeps the two apart is no instruction


REGIONS["odd columns"] = region("5003,1001", "f32", COLUMNS, result="1001")


def test_columns_of_odd_sizes_are_not_tiled_by_us(kernel: Callable):
    """Would catch a tile that does not divide them, which IREE computes wrongly without a word."""
    _, launch = kernel("odd columns")
    assert launch["tiling"] == "IREE's tiles: columns of these sizes have no form"


IN_SINGLE = """%six = torch.constant.int 6
    %fifteen = torch.constant.int 15
    %w = torch.prims.convert_element_type %x, %six : !X, !torch.int -> !torch.vtensor<[512,4096],f32>
    %t = torch.aten.tanh %w : !torch.vtensor<[512,4096],f32> -> !torch.vtensor<[512,4096],f32>
    %y = torch.prims.convert_element_type %t, %fifteen : !torch.vtensor<[512,4096],f32>, !torch.int -> !X"""
REGIONS["tanh in single precision"] = region("512,4096", "bf16", IN_SINGLE)


def test_bfloat16_is_rounded_by_its_instruction(kernel: Callable):
    """Would catch a rounding by whole numbers, which takes longer than reading the number."""
    ptx, launch = kernel("tanh in single precision")
    assert launch["tiling"] == "pointwise"
    assert re.search(r"cvt\.rn\.bf16", ptx)
    assert re.search(r"ld\.global\S*v4", ptx)


HALVES = ("bf16", "f16")
REGIONS |= {f"exp {dtype}": region("512,4096", dtype, "%y = torch.aten.exp %x : !X -> !X") for dtype in HALVES}


@pytest.mark.parametrize("dtype", HALVES)
def test_functions_of_half_precision_are_the_librarys_in_single(kernel: Callable, dtype: str):
    """Would catch half precision left to IREE's polynomials, or its functions rounded more than once."""
    ptx, launch = kernel(f"exp {dtype}")
    assert launch["tiling"] == "pointwise"
    assert len(re.findall(r"ex2\.approx", ptx)) == 8
    assert f"cvt.rn.{dtype}" in ptx


NAMES_A_DEVICE = """%cpu = torch.constant.device "cpu"
    %four = torch.constant.int 4
    %six = torch.constant.int 6
    %number = torch.aten.scalar_tensor %four, %four, %zero, %cpu, %none
        : !torch.int, !torch.int, !torch.int, !torch.Device, !torch.none -> !torch.vtensor<[],si64>
    %wide = torch.aten._to_copy %number, %six, %none, %cpu, %none, %false, %none
        : !torch.vtensor<[],si64>, !torch.int, !torch.none, !torch.Device, !torch.none, !torch.bool, !torch.none
        -> !torch.vtensor<[],f32>
    %y = torch.aten.mul.Tensor %x, %wide : !X, !torch.vtensor<[],f32> -> !X"""
REGIONS["names a device"] = region("512,4096", "f32", NAMES_A_DEVICE)


def test_ops_that_name_a_device_are_compiled(kernel: Callable):
    """Would catch regions of programs that were traced on a GPU, whose constants say so, split until ATen runs them."""
    _, launch = kernel("names a device")
    assert launch["tiling"] == "pointwise"


@pytest.mark.usefixtures("remembered_runs")
def test_what_took_too_long_is_tried_again_the_next_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Would catch kernels that are slow for ever, since the machine was busy when they were compiled."""
    cache, text = RegionCache(tmp_path), REGIONS["softmax"]
    target = target_for_device("cuda:sm_90")

    def tiling() -> str:
        [plan] = compile_regions({"a": text}, target, timeout=60, plans=True, cache=cache).values()
        assert isinstance(plan, LaunchPlan), plan
        return next(step["tiling"] for step in plan.steps["steps"] if step["op"] == "dispatch")

    to_hal = batches.to_hal

    def too_slow(flow, of, timeout, runs):
        late = Run(b"", "", "time-out after 60 s", Cause.TIME_OUT), {}
        return to_hal(flow, of, timeout, runs) if of.why_plain else late

    with monkeypatch.context() as busy:
        busy.setattr(batches, "to_hal", too_slow)
        assert tiling() == "IREE's tiles: time-out after 60 s"
    assert tiling() == "rows"


@pytest.mark.usefixtures("remembered_runs")
def test_what_our_forms_do_not_survive_is_compiled_as_iree_would(monkeypatch: pytest.MonkeyPatch):
    """Would catch a region lost since an edit of ours failed, or compiled plainly without a word why."""
    asked = iree_worker.worker.ask

    def ask(what, text, timeout):
        if what["task"] == "finish":
            raise OSError("exit status 1, __nv_fmodf by a number that is not known")
        return asked(what, text, timeout)

    monkeypatch.setattr(iree_worker.worker, "ask", ask)
    target = target_for_device("cuda:sm_90")
    [plan] = compile_regions({"a": REGIONS["softmax"]}, target, timeout=60, plans=True).values()
    ptx, launch = only_launch(plan)
    assert launch["tiling"] == (
        "IREE's tiles: error: 'finish' failed: exit status 1, __nv_fmodf by a number that is not known"
    )
    assert "ex2.approx" not in ptx
