"""What is one kernel though IREE would cut it: plans and PTX, read without a GPU."""

import re
from collections.abc import Callable

import pytest
import torch
from compiled_regions import compile_regions
from torch.nn import functional

from dovetail.backends.compiling import iree_worker
from dovetail.backends.compiling.compiler_runs import CompilerRuns
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompiledRegion, Outcome
from dovetail.backends.target import CpuTarget, target_for_device
from dovetail.dialects.building.region_texts import merge_region_texts, named_region_text
from dovetail.runtime.launches.iree_executable import Executable, prepare

SUM = "torch.aten.sum.dim_IntList"
OF_ROWS = "!torch.list<int>, !torch.bool, !torch.none -> !K"
GRADIENT_OF_A_NORM = f"""module {{
  func.func @main(%dy: !X, %weight: !C, %x: !X, %mean: !K, %r: !K, %dx: !MX, %dw: !MC, %db: !MC) {{
    %true = torch.constant.bool true
    %false = torch.constant.bool false
    %none = torch.constant.none
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %n = torch.constant.int 4096
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %c = torch.aten.sub.Tensor %x, %mean, %one : !X, !K, !torch.int -> !X
    %h = torch.aten.mul.Tensor %c, %r : !X, !K -> !X
    %s = torch.aten.div.Scalar %r, %n : !K, !torch.int -> !K
    %g = torch.aten.mul.Tensor %dy, %weight : !X, !C -> !X
    %a = torch.aten.mul.Scalar %g, %n : !X, !torch.int -> !X
    %b = {SUM} %g, %last, %true, %none : !X, {OF_ROWS}
    %gh = torch.aten.mul.Tensor %g, %h : !X, !X -> !X
    %d = {SUM} %gh, %last, %true, %none : !X, {OF_ROWS}
    %e = torch.aten.mul.Tensor %h, %d : !X, !K -> !X
    %f = torch.aten.sub.Tensor %a, %b, %one : !X, !K, !torch.int -> !X
    %i = torch.aten.sub.Tensor %f, %e, %one : !X, !X, !torch.int -> !X
    %j = torch.aten.mul.Tensor %s, %i : !K, !X -> !X
    %k = torch.aten.mul.Tensor %dy, %h : !X, !X -> !X
    %l = {SUM} %k, %first, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !C
    %m = {SUM} %dy, %first, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !C
    torch.overwrite.tensor.contents %j overwrites %dx : !X, !MX
    torch.overwrite.tensor.contents %l overwrites %dw : !C, !MC
    torch.overwrite.tensor.contents %m overwrites %db : !C, !MC
    return
  }}
}}"""
TYPES = {
    "!MX": "!torch.tensor<[8192,4096],f32>",
    "!MC": "!torch.tensor<[4096],f32>",
    "!X": "!torch.vtensor<[8192,4096],f32>",
    "!K": "!torch.vtensor<[8192,1],f32>",
    "!C": "!torch.vtensor<[4096],f32>",
}


def written(text: str, types: dict[str, str]) -> str:
    """`text` with types in place of their names."""
    for name, type_ in types.items():
        text = re.sub(f"{name}\\b", type_, text)
    return text


REGIONS: dict[str, str] = {}
"""What the tests read the kernels of, each beside its test: one run of the compiler takes them all."""


@pytest.fixture
def kernels(compiled: dict[str, Outcome]) -> Callable[[str], tuple[list[dict], list[str], list]]:
    """Gives the launches of a region by its name, the PTX of each kernel, and the transients."""

    def of(name: str) -> tuple[list[dict], list[str], list]:
        plan = compiled[name]
        assert isinstance(plan, LaunchPlan), plan
        steps = [step for step in plan.steps["steps"] if step["op"] != "barrier"]
        entries = re.split(r"(?=\.visible \.entry)", plan.code.decode())[1:]
        code = [next(entry for entry in entries if f"{step['entry']}(" in entry) for step in steps if "entry" in step]
        return steps, code, plan.steps["transients"]

    return of


REGIONS["gradient of a norm"] = written(GRADIENT_OF_A_NORM, TYPES)


def test_the_gradient_of_a_norm_stores_nothing_between_kernels(kernels: Callable):
    """Would catch IREE's cuts where a term is used twice: two matrices stored, six passes over the memory more."""
    steps, code, transients = kernels("gradient of a norm")
    assert [step["tiling"] for step in steps] == ["rows", "columns"]
    assert transients == []
    # 16 numbers a thread of x, the tangent and the weight, each read once.
    assert len(re.findall(r"ld\.global\S*v4", code[0])) == 3 * 4
    assert len(re.findall(r"st\.global\S*v4", code[0])) == 4
    # Both sums of columns read the tangent once: four columns of two rows a step, of x and of it.
    assert len(re.findall(r"ld\.global\S*v4", code[1])) == 2 * 2
    assert len(re.findall(r"st\.global\S*v4", code[1])) == 2


def rounded_gradients() -> str:
    text = GRADIENT_OF_A_NORM.replace("%dw: !MC, %db: !MC", "%dw: !MH, %db: !MH")
    for name in "lm":
        write, rounded = "torch.overwrite.tensor.contents", f"%r{name} = torch.prims.convert_element_type"
        text = text.replace(f"{write} %{name}", f"{rounded} %{name}, %half : !C, !torch.int -> !H\n{write} %r{name}")
    text = text.replace(": !C, !MC", ": !H, !MH")
    text = text.replace("%zero =", "%half = torch.constant.int 15\n    %zero =")
    return written(text, TYPES | {"!MH": "!torch.tensor<[4096],bf16>", "!H": "!torch.vtensor<[4096],bf16>"})


REGIONS["rounded gradients"] = rounded_gradients()


def test_gradients_of_a_norm_are_rounded_by_the_kernel_that_sums_them(kernels: Callable):
    """Would catch two sums of columns in one loop that lose their tiles because each is rounded behind it."""
    steps, code, _ = kernels("rounded gradients")
    assert [step["tiling"] for step in steps] == ["rows", "columns"]
    assert len(re.findall(r"st\.global\S*v2\.b32", code[1])) == 2


def sums_apart() -> str:
    text = re.sub(r"(?s)    %e = .*?(?=    torch\.overwrite)", "", GRADIENT_OF_A_NORM)
    text = text.replace("%dx: !MX, %dw: !MC, %db: !MC", "%dx: !MX, %dw: !MK, %db: !MK")
    text = text.replace("%j overwrites", "%g overwrites").replace("!C, !MC", "!K, !MK")
    text = text.replace("%l overwrites", "%b overwrites").replace("%m overwrites", "%d overwrites")
    return written(text, TYPES | {"!MK": "!torch.tensor<[8192,1],f32>"})


REGIONS["sums apart"] = sums_apart()


def test_sums_that_nothing_joins_stay_apart(kernels: Callable):
    """Would catch results in one kernel that no op needs together: IREE refuses it, and the region loses its tiles."""
    steps, _, _ = kernels("sums apart")
    assert {step["tiling"] for step in steps} == {"rows"}


SUMS_OF_SUMS = f"""module {{
  func.func @main(%x: !X, %m: !M) {{
    %one = torch.constant.int 1
    %zero = torch.constant.int 0
    %false = torch.constant.bool false
    %none = torch.constant.none
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %second = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.mul.Tensor %x, %x : !X, !X -> !X
    %1 = {SUM} %0, %second, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !P
    %2 = {SUM} %1, %first, %false, %none : !P, !torch.list<int>, !torch.bool, !torch.none -> !S
    torch.overwrite.tensor.contents %2 overwrites %m : !S, !M
    return
  }}
}}"""


REGIONS["sums of sums"] = written(
    SUMS_OF_SUMS,
    {
        "!X": "!torch.vtensor<[64,128,32],f32>",
        "!P": "!torch.vtensor<[64,32],f32>",
        "!S": "!torch.vtensor<[32],f32>",
        "!M": "!torch.tensor<[32],f32>",
    },
)


def test_sums_of_sums_of_columns_have_tiles(kernels: Callable):
    """Would catch an op that is erased with the first sums and once more with the second: the region lost its tiles."""
    steps, _, _ = kernels("sums of sums")
    assert [step["tiling"] for step in steps] == ["columns", "columns"]


FAMILIES = """module {
  func.func @main(%g: !X, %m: !M, %p: !M, %h: !X, %n: !M, %q: !M, %s: !N, %t: !N, %c: !MC) {
    %half = torch.constant.float 0.5
    %true = torch.constant.bool true
    %none = torch.constant.none
    %one = torch.constant.int 1
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.copy.to_vtensor %m : !X
    %1 = torch.copy.to_vtensor %p : !X
    %2 = torch.copy.to_vtensor %n : !X
    %3 = torch.copy.to_vtensor %q : !X
    %4 = torch.copy.to_vtensor %s : !S
    %5 = torch.copy.to_vtensor %t : !S
    %6 = torch.aten.mul.Scalar %0, %half : !X, !torch.float -> !X
    %7 = torch.aten.add.Tensor %6, %g, %one : !X, !X, !torch.int -> !X
    %8 = torch.aten.sub.Tensor %1, %7, %one : !X, !X, !torch.int -> !X
    %9 = torch.aten.mul.Scalar %2, %half : !X, !torch.float -> !X
    %10 = torch.aten.add.Tensor %9, %h, %one : !X, !X, !torch.int -> !X
    %11 = torch.aten.sub.Tensor %3, %10, %one : !X, !X, !torch.int -> !X
    %12 = torch.aten.add.Scalar %4, %one, %one : !S, !torch.int, !torch.int -> !S
    %13 = torch.aten.add.Scalar %5, %one, %one : !S, !torch.int, !torch.int -> !S
    %14 = torch.aten.exp %g : !X -> !X
    %15 = torch.aten.sum.dim_IntList %14, %last, %true, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !C
    torch.overwrite.tensor.contents %7 overwrites %m : !X, !M
    torch.overwrite.tensor.contents %8 overwrites %p : !X, !M
    torch.overwrite.tensor.contents %10 overwrites %n : !X, !M
    torch.overwrite.tensor.contents %11 overwrites %q : !X, !M
    torch.overwrite.tensor.contents %12 overwrites %s : !S, !N
    torch.overwrite.tensor.contents %13 overwrites %t : !S, !N
    torch.overwrite.tensor.contents %15 overwrites %c : !C, !MC
    return
  }
}"""

FAMILY_TYPES = {
    "!MC": "!torch.tensor<[512,1],f32>",
    "!X": "!torch.vtensor<[512,1024],f32>",
    "!M": "!torch.tensor<[512,1024],f32>",
    "!S": "!torch.vtensor<[],f32>",
    "!N": "!torch.tensor<[],f32>",
    "!C": "!torch.vtensor<[512,1],f32>",
}


REGIONS["families"] = written(FAMILIES, FAMILY_TYPES)


def test_updates_of_several_parameters_share_a_kernel(kernels: Callable):
    """Would catch a launch for each parameter and each count of steps, which the host takes longer for than the GPU."""
    steps, code, transients = kernels("families")
    assert sorted(step["tiling"] for step in steps) == ["IREE tiles nothing there", "pointwise", "rows"]
    assert transients == []
    [updates] = [each for each, step in zip(code, steps, strict=True) if step["tiling"] == "pointwise"]
    body = updates.partition(".entry")[2]
    assert sorted(kind[1] for kind in re.finditer(r"(ld|st)\.global", body)) == ["ld"] * 6 + ["st"] * 4
    assert "$L__BB" not in body  # each thread goes through once


def many_updates(count: int) -> str:
    """Each of a tensor of its own."""
    given = ", ".join(f"%x{number}: !X, %m{number}: !M" for number in range(count))
    lines = [f"  func.func @main({given}) {{"]
    for number in range(count):
        lines += [f"    %y{number} = torch.aten.exp %x{number} : !X -> !X"]
        lines += [f"    torch.overwrite.tensor.contents %y{number} overwrites %m{number} : !X, !M"]
    return written("\n".join(["module {", *lines, "    return", "  }", "}"]), FAMILY_TYPES)


REGIONS["many updates"] = many_updates(48)
REGIONS["updates in equal parts"] = many_updates(20)


def test_kernels_of_many_updates_are_launched_once(kernels: Callable):
    """Would catch a launch for each 16 tensors, and one that leaves some out or updates others in their place."""
    [step], [code], _ = kernels("many updates")
    assert (step["sets"], step["workgroups"][1:]) == (3, [3, 1])
    assert sorted(buffer for buffer, *_ in step["bindings"]) == [*range(96)]
    for first in range(0, 96, 32):
        inputs = [buffer for buffer, *_ in step["bindings"][first : first + 32] if buffer % 2 == 0]
        outputs = [buffer for buffer, *_ in step["bindings"][first : first + 32] if buffer % 2]
        assert [buffer + 1 for buffer in inputs] == outputs
    assert f".param .align 8 .b8 {step['entry']}_sets[{96 * 8}]" in code
    assert len(re.findall(r"ld\.param\S*b64\s+%rd\d+, \[%sets3\+\d+\];", code)) == 32
    assert "_param_" not in code


def test_updates_are_shared_out_in_equal_parts(kernels: Callable):
    """Would catch a kernel of what is left behind full ones, which needs a launch of its own."""
    [step], _, _ = kernels("updates in equal parts")
    assert (step["sets"], step["workgroups"][1:]) == (2, [2, 1])


JOINED = """module {
  func.func @main(%x: !X, %y: !X, %m: !M) {
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %0 = torch.aten.mul.Scalar %x, %two : !X, !torch.int -> !X
    %1 = torch.aten.add.Scalar %y, %one, %one : !X, !torch.int, !torch.int -> !X
    %l = torch.prim.ListConstruct %0, %1 : (!X, !X) -> !torch.list<vtensor>
    %2 = torch.aten.cat %l, %one : !torch.list<vtensor>, !torch.int -> !Y
    torch.overwrite.tensor.contents %2 overwrites %m : !Y, !M
    return
  }
}"""


for dtype in ("f32", "bf16"):
    types = {"!X": f"!torch.vtensor<[512,2048],{dtype}>", "!Y": f"!torch.vtensor<[512,4096],{dtype}>"}
    REGIONS[f"joined {dtype}"] = written(JOINED, types | {"!M": f"!torch.tensor<[512,4096],{dtype}>"})


@pytest.mark.parametrize(("dtype", "item"), [("f32", 4), ("bf16", 2)])
def test_what_is_joined_is_computed_where_it_belongs(kernels: Callable, dtype: str, item: int):
    """Would catch parts that are stored and then copied element by element, and the whole once more in the end."""
    steps, code, transients = kernels(f"joined {dtype}")
    assert [(step["op"], step["tiling"]) for step in steps] == [("dispatch", "pointwise")] * 2
    assert [[each[0] for each in step["bindings"]] for step in steps] == [[0, 2], [1, 2]]
    assert steps[1]["bindings"][1] == [2, 0, 512 * 4096 * item]
    assert transients == []
    for each in code:
        assert len(re.findall(r"ld\.global\S*v4", each)) == len(re.findall(r"st\.global\S*v4", each)) == 1


SOFTMAX_SUMS = f"""module {{
  func.func @main(%x: !X, %m: !M, %s: !M) {{
    %single = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %one = torch.constant.int 1
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._to_copy %x, %single, %none, %none, %none, %false, %none : !X, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !F
    %1 = torch.aten.amax %0, %last, %true : !F, !torch.list<int>, !torch.bool -> !K
    %2 = torch.aten.sub.Tensor %0, %1, %one : !F, !K, !torch.int -> !F
    %3 = torch.aten.exp %2 : !F -> !F
    %4 = {SUM} %3, %last, %true, %none : !F, {OF_ROWS}
    torch.overwrite.tensor.contents %1 overwrites %m : !K, !M
    torch.overwrite.tensor.contents %4 overwrites %s : !K, !M
    return
  }}
}}"""  # noqa: E501 - an op is a line


REGIONS["softmax sums"] = written(
    SOFTMAX_SUMS,
    {
        "!X": "!torch.vtensor<[64,3001],bf16>",
        "!F": "!torch.vtensor<[64,3001],f32>",
        "!K": "!torch.vtensor<[64,1],f32>",
        "!M": "!torch.tensor<[64,1],f32>",
    },
)


def test_no_thread_holds_a_masked_row_that_two_loops_read(kernels: Callable):
    """Would catch the vocabularies of BERT and GPT-2 under autocast: IREE compiled for minutes, or crashed."""
    [step], [code], transients = kernels("softmax sums")
    assert (step["tiling"], step["workgroup_size"], transients) == ("rows", [128, 1, 1], [])
    # 24 numbers a thread, of which those behind the end of the row are not read.
    assert len(re.findall(r"ld\.global\S*b16", code)) == 24
    assert ".local" not in code


COUNTED = """module {
  func.func @main(%x: !X, %m: !M) {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %absent = torch.constant.int -100
    %single = torch.constant.int 6
    %zero = torch.constant.int 0
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.ne.Scalar %x, %absent : !X, !torch.int -> !B
    %1 = torch.aten._to_copy %0, %single, %none, %none, %none, %false, %none : !B, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !F
    %2 = torch.aten.sum.dim_IntList %1, %dims, %false, %none : !F, !torch.list<int>, !torch.bool, !torch.none -> !S
    torch.overwrite.tensor.contents %2 overwrites %m : !S, !M
    return
  }
}"""  # noqa: E501 - an op is a line

COUNTED_TYPES = {
    "!X": "!torch.vtensor<[4096],si64>",
    "!B": "!torch.vtensor<[4096],i1>",
    "!F": "!torch.vtensor<[4096],f32>",
    "!S": "!torch.vtensor<[],f32>",
    "!M": "!torch.tensor<[],f32>",
}


REGIONS["counted"] = written(COUNTED, COUNTED_TYPES)


def test_whole_numbers_are_compared_and_counted_by_many_threads(kernels: Callable):
    """Would catch one thread that goes over all targets of a cross entropy, since they are wide."""
    [step], _, _ = kernels("counted")
    assert (step["tiling"], step["workgroup_size"]) == ("rows", [1024, 1, 1])


LOSS = f"""module {{
  func.func @main(%x: !X, %chosen: !K, %counts: !B, %loss: !MS, %number: !MS) {{
    %one = torch.constant.int 1
    %zero = torch.constant.int 0
    %single = torch.constant.int 6
    %nothing = torch.constant.float 0.0
    %none = torch.constant.none
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.amax %x, %last, %true : !X, !torch.list<int>, !torch.bool -> !K
    %1 = torch.aten.sub.Tensor %x, %0, %one : !X, !K, !torch.int -> !X
    %2 = torch.aten.exp %1 : !X -> !X
    %3 = {SUM} %2, %last, %true, %none : !X, {OF_ROWS}
    %4 = torch.aten.log %3 : !K -> !K
    %5 = torch.aten.add.Tensor %4, %0, %one : !K, !K, !torch.int -> !K
    %6 = torch.aten.sub.Tensor %5, %chosen, %one : !K, !K, !torch.int -> !K
    %7 = torch.aten.squeeze.dim %6, %one : !K, !torch.int -> !R
    %8 = torch.aten._to_copy %counts, %single, %none, %none, %none, %false, %none : !B, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !R
    %9 = torch.aten.mul.Tensor %7, %8 : !R, !R -> !R
    %10 = {SUM} %8, %first, %false, %none : !R, !torch.list<int>, !torch.bool, !torch.none -> !S
    %11 = {SUM} %9, %first, %false, %none : !R, !torch.list<int>, !torch.bool, !torch.none -> !S
    %12 = torch.aten.div.Tensor %11, %10 : !S, !S -> !S
    torch.overwrite.tensor.contents %12 overwrites %loss : !S, !MS
    torch.overwrite.tensor.contents %10 overwrites %number : !S, !MS
    return
  }}
}}"""  # noqa: E501 - an op is a line
LOSS_TYPES = {
    "!X": "!torch.vtensor<[1024,2048],f32>",
    "!K": "!torch.vtensor<[1024,1],f32>",
    "!B": "!torch.vtensor<[1024],i1>",
    "!R": "!torch.vtensor<[1024],f32>",
    "!S": "!torch.vtensor<[],f32>",
    "!MS": "!torch.tensor<[],f32>",
}


REGIONS["mean loss"] = written(LOSS, LOSS_TYPES)
ALL = f"""module {{
  func.func @main(%x: !X, %m: !M) {{
    %none = torch.constant.none
    %false = torch.constant.bool false
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %half = torch.constant.int 15
    %inner = torch.prim.ListConstruct %one, %two : (!torch.int, !torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = {SUM} %x, %inner, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !R
    %1 = {SUM} %0, %first, %false, %none : !R, !torch.list<int>, !torch.bool, !torch.none -> !S
    %2 = torch.prims.convert_element_type %1, %half : !S, !torch.int -> !H
    torch.overwrite.tensor.contents %2 overwrites %m : !H, !M
    return
  }}
}}"""
ALL_TYPES = {
    "!X": "!torch.vtensor<[2048,4,1024],f32>",
    "!R": "!torch.vtensor<[2048],f32>",
    "!S": "!torch.vtensor<[],f32>",
    "!H": "!torch.vtensor<[],bf16>",
    "!M": "!torch.tensor<[],bf16>",
}
REGIONS["sum of all"] = written(ALL, ALL_TYPES)


def test_what_follows_the_sum_of_partial_sums_is_part_of_its_kernel(kernels: Callable):
    """Would catch a launch that rounds one number: the partial sums are over two dimensions, no rows yet."""
    steps, code, _ = kernels("sum of all")
    assert [step["tiling"] for step in steps] == ["rows", "rows"]
    assert "cvt.rn.bf16.f32" in code[1]


def test_a_mean_loss_takes_one_kernel_behind_that_of_its_rows(kernels: Callable):
    """Would catch a launch for the count, for the sum and for their quotient, which take longer than they compute."""
    steps, _, transients = kernels("mean loss")
    assert [step["tiling"] for step in steps] == ["rows", "rows"]
    assert steps[0]["workgroups"] == [1024, 1, 1]
    assert steps[1]["workgroups"] == [1, 1, 1]
    assert sum(transients) <= 3 * 4 * 1024


def count_of_stored() -> str:
    text = COUNTED.replace("%m: !M)", "%b: !MB, %m: !M)").replace("%2 overwrites", "%3 overwrites")
    text = text.replace("    torch.overwrite", "    %3 = torch.aten.sqrt %2 : !S -> !S\n    torch.overwrite", 1)
    text = text.replace("    return", "    torch.overwrite.tensor.contents %0 overwrites %b : !B, !MB\n    return")
    return written(text, COUNTED_TYPES | {"!MB": "!torch.tensor<[4096],i1>"})


REGIONS["count of what is stored"] = count_of_stored()


def test_a_count_and_what_it_counts_are_no_kernel_of_one_thread(kernels: Callable):
    """Would catch a mask stored by the kernel that counts it and goes on with the number: one thread did all."""
    steps, _, _ = kernels("count of what is stored")
    threads = {step["tiling"]: step["workgroup_size"][0] for step in steps}
    assert (threads["pointwise"], threads["rows"]) == (128, 1024)


TRUTHS = """module {
  func.func @main(%x: !X, %b: !MB, %i: !MX) {
    %absent = torch.constant.int -100
    %zero = torch.constant.int 0
    %0 = torch.aten.ne.Scalar %x, %absent : !X, !torch.int -> !B
    %1 = torch.aten.mul.Tensor %x, %0 : !X, !B -> !X
    torch.overwrite.tensor.contents %0 overwrites %b : !B, !MB
    torch.overwrite.tensor.contents %1 overwrites %i : !X, !MX
    return
  }
}"""


REGIONS["truth values"] = written(
    TRUTHS,
    {
        "!X": "!torch.vtensor<[4096],si64>",
        "!B": "!torch.vtensor<[4096],i1>",
        "!MX": "!torch.tensor<[4096],si64>",
        "!MB": "!torch.tensor<[4096],i1>",
    },
)


def test_truth_values_are_stored_by_the_kernel_that_uses_them(kernels: Callable):
    """Would catch a launch more, in which IREE computes for its result what the next kernel computes again."""
    steps, _, _ = kernels("truth values")
    assert [step["tiling"] for step in steps] == ["pointwise"]


STORED_TERMS = f"""module {{
  func.func @main(%x: !X, %y: !X, %t: !M, %s: !MC) {{
    %zero = torch.constant.int 0
    %false = torch.constant.bool false
    %none = torch.constant.none
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.erf %x : !X -> !X
    %1 = torch.aten.exp %y : !X -> !X
    %2 = torch.aten.mul.Tensor %0, %1 : !X, !X -> !X
    %3 = {SUM} %2, %first, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !C
    torch.overwrite.tensor.contents %2 overwrites %t : !X, !M
    torch.overwrite.tensor.contents %3 overwrites %s : !C, !MC
    return
  }}
}}"""
STORED_TYPES = {
    "!X": "!torch.vtensor<[512,1536],f32>",
    "!M": "!torch.tensor<[512,1536],f32>",
    "!MC": "!torch.tensor<[1536],f32>",
    "!C": "!torch.vtensor<[1536],f32>",
}


REGIONS["stored terms"] = written(STORED_TERMS, STORED_TYPES)


def test_columns_of_stored_terms_have_a_kernel_of_their_own(kernels: Callable):
    """Would catch a thread that computes all terms of a column: BERT under autocast compiled for minutes."""
    steps, code, transients = kernels("stored terms")
    assert [step["tiling"] for step in steps] == ["pointwise", "columns"]
    assert transients == []
    assert all(len(each) < 40_000 for each in code)


def stored_terms_in_two_stages() -> str:
    text = STORED_TERMS.replace("%2, %first, %false, %none : !X,", "%parts, %first, %false, %none : !P,").replace(
        f"    %3 = {SUM}",
        f"""    %one = torch.constant.int 1
    %second = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %parts = {SUM} %2, %second, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !P
    %3 = {SUM}""",
    )
    types = {"!X": "!torch.vtensor<[64,512,128],f32>", "!M": "!torch.tensor<[64,512,128],f32>"}
    types |= {
        "!P": "!torch.vtensor<[64,128],f32>",
        "!MC": "!torch.tensor<[128],f32>",
        "!C": "!torch.vtensor<[128],f32>",
    }
    return written(text, types)


REGIONS["stored terms in two stages"] = stored_terms_in_two_stages()


def test_sums_of_columns_of_stored_terms_in_two_stages(kernels: Callable):
    """Would catch a sum that asks for one which is erased, what it adds up: all kernels lost their tiles."""
    steps, _, _ = kernels("stored terms in two stages")
    assert [step["tiling"] for step in steps if step["op"] == "dispatch"] == ["pointwise", "columns", "columns"]


ROTARY = """module {
  func.func @main(%x: !P, %cos: !T, %sin: !T, %m: !M) {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %three = torch.constant.int 3
    %heads = torch.constant.int 12
    %half = torch.constant.int 32
    %end = torch.constant.int 64
    %length = torch.constant.int 512
    %batch = torch.constant.int 8
    %whole = torch.constant.int 3
    %none = torch.constant.none
    %false = torch.constant.bool false
    %cpu = torch.constant.device "cpu"
    %order = torch.prim.ListConstruct %zero, %two, %one, %three : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order : !P, !torch.list<int> -> !X
    %1 = torch.aten.slice.Tensor %x, %three, %half, %end, %one : !P, !torch.int, !torch.int, !torch.int, !torch.int -> !Q
    %2 = torch.aten.slice.Tensor %x, %three, %zero, %half, %one : !P, !torch.int, !torch.int, !torch.int, !torch.int -> !Q
    %3 = torch.aten.permute %1, %order : !Q, !torch.list<int> -> !H
    %4 = torch.aten.permute %2, %order : !Q, !torch.list<int> -> !H
    %5 = torch.aten.neg %3 : !H -> !H
    %6 = torch.aten.arange.start_step %zero, %two, %one, %whole, %none, %cpu, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.Device, !torch.bool -> !torch.vtensor<[2],si32>
    %7 = torch.aten.unsqueeze %6, %one : !torch.vtensor<[2],si32>, !torch.int -> !torch.vtensor<[2,1],si32>
    %8 = torch.aten.eq.Scalar %7, %zero : !torch.vtensor<[2,1],si32>, !torch.int -> !torch.vtensor<[2,1],i1>
    %9 = torch.aten.unsqueeze %5, %three : !H, !torch.int -> !torch.vtensor<[8,12,512,1,32],f32>
    %10 = torch.aten.unsqueeze %4, %three : !H, !torch.int -> !torch.vtensor<[8,12,512,1,32],f32>
    %11 = torch.aten.where.self %8, %9, %10 : !torch.vtensor<[2,1],i1>, !torch.vtensor<[8,12,512,1,32],f32>, !torch.vtensor<[8,12,512,1,32],f32> -> !torch.vtensor<[8,12,512,2,32],f32>
    %sizes = torch.prim.ListConstruct %batch, %heads, %length, %end : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %12 = torch.aten.view %11, %sizes : !torch.vtensor<[8,12,512,2,32],f32>, !torch.list<int> -> !X
    %13 = torch.aten.mul.Tensor %0, %cos : !X, !T -> !X
    %14 = torch.aten.mul.Tensor %12, %sin : !X, !T -> !X
    %15 = torch.aten.add.Tensor %13, %14, %one : !X, !X, !torch.int -> !X
    torch.overwrite.tensor.contents %15 overwrites %m : !X, !M
    return
  }
}"""  # noqa: E501 - an op is a line
ROTARY_TYPES = {
    "!P": "!torch.vtensor<[8,512,12,64],f32>",
    "!X": "!torch.vtensor<[8,12,512,64],f32>",
    "!Q": "!torch.vtensor<[8,512,12,32],f32>",
    "!H": "!torch.vtensor<[8,12,512,32],f32>",
    "!T": "!torch.vtensor<[512,64],f32>",
    "!M": "!torch.tensor<[8,12,512,64],f32>",
}


REGIONS["rotary"] = written(ROTARY, ROTARY_TYPES)


def test_a_rotary_embedding_is_one_kernel(kernels: Callable):
    """Would catch halves that are stored, negated or turned, before they are chosen from."""
    steps, code, transients = kernels("rotary")
    assert [step["tiling"] for step in steps] == ["pointwise"]
    assert transients == []
    # Four numbers a thread: of the embedded, of both halves that may take its place, of the cosine and of the sine.
    assert len(re.findall(r"ld\.global\S*v4", code[0])) == 5
    assert len(re.findall(r"st\.global\S*v4", code[0])) == 1


MASKED = f"""module {{
  func.func @main(%x: !X, %y: !MX) {{
    %true = torch.constant.bool true
    %none = torch.constant.none
    %one = torch.constant.int 1
    %six = torch.constant.int 6
    %none_of_all = torch.constant.float 0.0
    %lowest = torch.constant.float 0xFFF0000000000000
    %last = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %zero = torch.aten.scalar_tensor %none_of_all, %six, %none, %none, %none
        : !torch.float, !torch.int, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[],f32>
    %m = torch.aten.amax %x, %last, %true : !X, !torch.list<int>, !torch.bool -> !K
    %b = torch.aten.eq.Scalar %m, %lowest : !K, !torch.float -> !torch.vtensor<[8192,1],i1>
    %s = torch.aten.where.self %b, %zero, %m : !torch.vtensor<[8192,1],i1>, !torch.vtensor<[],f32>, !K -> !K
    %d = torch.aten.sub.Tensor %x, %s, %one : !X, !K, !torch.int -> !X
    %e = torch.aten.exp %d : !X -> !X
    %t = {SUM} %e, %last, %true, %none : !X, {OF_ROWS}
    %q = torch.aten.div.Tensor %e, %t : !X, !K -> !X
    %r = torch.aten.where.self %b, %zero, %q : !torch.vtensor<[8192,1],i1>, !torch.vtensor<[],f32>, !X -> !X
    torch.overwrite.tensor.contents %r overwrites %y : !X, !MX
    return
  }}
}}"""
REGIONS["masked_softmax"] = written(MASKED, TYPES)


def test_a_masked_softmax_is_one_kernel(kernels: Callable):
    """Would catch rows that are read again to tell whether all of one is masked."""
    steps, code, transients = kernels("masked_softmax")
    assert [step["tiling"] for step in steps] == ["rows"]
    assert transients == []
    assert len(re.findall(r"ld\.global\S*v4", code[0])) == len(re.findall(r"st\.global\S*v4", code[0]))


SMALL = {name: type_.replace("8192", "64").replace("4096", "256") for name, type_ in TYPES.items()}
SMALL_JOINED = {
    "!X": "!torch.vtensor<[8,16],f32>",
    "!Y": "!torch.vtensor<[8,32],f32>",
    "!M": "!torch.tensor<[8,32],f32>",
}
ON_CPU = {
    "gradient_of_a_norm": written(GRADIENT_OF_A_NORM.replace("4096", "256"), SMALL),
    "families": written(FAMILIES, FAMILY_TYPES),
    "joined": written(JOINED, SMALL_JOINED),
    "mean_loss": written(LOSS, LOSS_TYPES),
    "stored_terms": written(STORED_TERMS, STORED_TYPES),
}


@pytest.fixture(scope="module")
def on_cpu() -> dict[str, Executable]:
    """Regions that a CPU runs, their text edited on the way as it would be for a GPU."""
    flags, runs, phase = CpuTarget().compile_flags(), CompilerRuns(), "global-optimization"
    text = merge_region_texts([named_region_text(text, name) for name, text in ON_CPU.items()])
    tensors = runs.run((*flags, f"--compile-to={phase}"), text, 60)
    _, edited = iree_worker.worker.ask({"task": "wrap"}, tensors.output, 60)
    for name in ON_CPU:
        function = edited.decode().partition(f"@{name}$async(")[2].partition("util.func")[0]
        assert function.count("flow.dispatch.region") + function.count(":2 = linalg.generic") > 0, name
    made = runs.run((*flags, f"--compile-from={phase}"), edited.decode(), 60)
    assert made.failure is None, made.failure
    return {name: Executable(CompiledRegion(made.output, name), "local-sync", name) for name in ON_CPU}


def test_the_gradient_of_a_norm_is_right_on_a_cpu(on_cpu: dict[str, Executable]):
    """Would catch a term that is computed of another row or column than the sum that takes it, found on a GPU only."""
    torch.manual_seed(0)
    run = on_cpu["gradient_of_a_norm"]
    x, tangent = torch.randn(64, 256, requires_grad=True), torch.randn(64, 256)
    weight, bias = torch.randn(256, requires_grad=True), torch.randn(256, requires_grad=True)
    expected = torch.autograd.grad(functional.layer_norm(x, (256,), weight, bias), [x, weight, bias], tangent)
    mean, inverse = x.mean(1, True).detach(), x.var(1, correction=0, keepdim=True).add(1e-5).rsqrt().detach()
    found = [prepare(torch.empty(each.shape)) for each in expected]
    run(*(prepare(each.detach()) for each in (tangent, weight, x, mean, inverse)), *found)
    for got, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-4, atol=1e-4)


def test_updates_that_share_a_kernel_are_right_on_a_cpu(on_cpu: dict[str, Executable]):
    """Would catch a parameter that is updated by another one's gradient."""
    torch.manual_seed(0)
    run = on_cpu["families"]
    g, m, p, h, n, q = (prepare(torch.randn(512, 1024)) for _ in range(6))
    s, t, c = prepare(torch.tensor(3.0)), prepare(torch.tensor(5.0)), prepare(torch.empty(512, 1))
    moments = m * 0.5 + g, n * 0.5 + h
    expected = moments[0], p - moments[0], moments[1], q - moments[1], s + 1, t + 1, g.exp().sum(1, True)
    run(g, m, p, h, n, q, s, t, c)
    for got, wanted in zip((m, p, n, q, s, t, c), expected, strict=True):
        torch.testing.assert_close(got, wanted)


def test_what_is_joined_is_right_on_a_cpu(on_cpu: dict[str, Executable]):
    """Would catch a part that is written over another."""
    x, y, made = prepare(torch.randn(8, 16)), prepare(torch.randn(8, 16)), prepare(torch.empty(8, 32))
    on_cpu["joined"](x, y, made)
    assert torch.equal(made, torch.cat([x * 2, y + 1], 1))


def test_a_mean_loss_is_right_on_a_cpu(on_cpu: dict[str, Executable]):
    """Would catch a count taken for the sum of the losses, and rows that are counted though they are masked."""
    torch.manual_seed(0)
    run = on_cpu["mean_loss"]
    x, chosen, counts = prepare(torch.randn(1024, 2048)), prepare(torch.randn(1024, 1)), torch.rand(1024) > 0.25
    loss, number = prepare(torch.empty(())), prepare(torch.empty(()))
    run(x, chosen, prepare(counts), loss, number)
    expected = ((x.logsumexp(1) - chosen[:, 0]) * counts).sum() / counts.sum()
    torch.testing.assert_close(loss, expected)
    assert number == counts.sum()


def test_columns_of_stored_terms_are_right_on_a_cpu(on_cpu: dict[str, Executable]):
    """Would catch sums of terms that are not computed yet."""
    torch.manual_seed(0)
    run = on_cpu["stored_terms"]
    x, y, terms, sums = (prepare(torch.randn(each)) for each in ((512, 1536), (512, 1536), (512, 1536), (1536,)))
    run(x, y, terms, sums)
    torch.testing.assert_close(terms, x.erf() * y.exp())
    torch.testing.assert_close(sums, (x.erf() * y.exp()).sum(0), rtol=1e-4, atol=1e-3)


BESIDE = """module {
  func.func @main(%x: !X, %y: !Y, %s: !MS, %o: !MX, %t: !MT, %u: !MT) {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %single = torch.constant.int 6
    %half = torch.constant.int 15
    %middle = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %p = torch.aten.sum.dim_IntList %x, %middle, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !P
    %0 = torch.aten.sum.dim_IntList %p, %first, %false, %none : !P, !torch.list<int>, !torch.bool, !torch.none -> !S
    %1 = torch.aten.sub.Tensor %x, %0, %one : !X, !S, !torch.int -> !X
    %2 = torch.aten.sum.dim_IntList %y, %first, %false, %none : !Y, !torch.list<int>, !torch.bool, !torch.none -> !T
    %3 = torch.prims.convert_element_type %2, %half : !T, !torch.int -> !H
    %4 = torch.prims.convert_element_type %3, %single : !H, !torch.int -> !T
    %5 = torch.aten.exp %y : !Y -> !Y
    %6 = torch.aten.mul.Tensor %5, %y : !Y, !Y -> !Y
    %7 = torch.aten.sum.dim_IntList %6, %first, %false, %none : !Y, !torch.list<int>, !torch.bool, !torch.none -> !T
    torch.overwrite.tensor.contents %0 overwrites %s : !S, !MS
    torch.overwrite.tensor.contents %1 overwrites %o : !X, !MX
    torch.overwrite.tensor.contents %4 overwrites %t : !T, !MT
    torch.overwrite.tensor.contents %7 overwrites %u : !T, !MT
    return
  }
}"""

BESIDE_TYPES = {
    "!MX": "!torch.tensor<[64,64,64],f32>",
    "!MS": "!torch.tensor<[64],f32>",
    "!MT": "!torch.tensor<[768],f32>",
    "!X": "!torch.vtensor<[64,64,64],f32>",
    "!Y": "!torch.vtensor<[16,768],f32>",
    "!P": "!torch.vtensor<[64,64],f32>",
    "!S": "!torch.vtensor<[64],f32>",
    "!T": "!torch.vtensor<[768],f32>",
    "!H": "!torch.vtensor<[768],bf16>",
}


REGIONS["beside"] = written(BESIDE, BESIDE_TYPES)


def test_results_are_written_once_and_small_sums_share_a_kernel(kernels: Callable):
    """Would catch a copy of a result that a kernel reads, a launch for each small sum, and one that widens it again."""
    steps, code, transients = kernels("beside")
    assert [step["op"] for step in steps] == ["dispatch"] * 4
    assert transients == [64 * 64 * 4]
    [sums] = [each for each, step in zip(code, steps, strict=True) if "768x16" in step["entry"]]
    assert "cvt.rn.bf16x2.f32" in sums  # rounded to half precision all the same


DEVIATIONS = """module {
  func.func @main(%x: !X, %y: !X, %s: !MS, %t: !MS) {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %middle = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %middle, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !P
    %1 = torch.aten.sum.dim_IntList %0, %first, %false, %none : !P, !torch.list<int>, !torch.bool, !torch.none -> !S
    %2 = torch.aten.sub.Tensor %x, %1, %one : !X, !S, !torch.int -> !X
    %3 = torch.aten.mul.Tensor %2, %2 : !X, !X -> !X
    %4 = torch.aten.sum.dim_IntList %3, %middle, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !P
    %5 = torch.aten.sum.dim_IntList %4, %first, %false, %none : !P, !torch.list<int>, !torch.bool, !torch.none -> !S
    %6 = torch.aten.sum.dim_IntList %y, %middle, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !P
    %7 = torch.aten.sum.dim_IntList %6, %first, %false, %none : !P, !torch.list<int>, !torch.bool, !torch.none -> !S
    %8 = torch.aten.sub.Tensor %y, %7, %one : !X, !S, !torch.int -> !X
    %9 = torch.aten.mul.Tensor %8, %8 : !X, !X -> !X
    %10 = torch.aten.sum.dim_IntList %9, %middle, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !P
    %11 = torch.aten.sum.dim_IntList %10, %first, %false, %none : !P, !torch.list<int>, !torch.bool, !torch.none -> !S
    torch.overwrite.tensor.contents %5 overwrites %s : !S, !MS
    torch.overwrite.tensor.contents %11 overwrites %t : !S, !MS
    return
  }
}"""

REGIONS["two deviations"] = written(DEVIATIONS, BESIDE_TYPES)


def test_small_sums_of_two_chains_share_kernels(kernels: Callable):
    """Would catch sums that are merged before what they need is moved: regions of two batch norms had IREE's tiles."""
    steps, _, _ = kernels("two deviations")
    assert [step["tiling"] for step in steps] == ["columns"] * 6


def test_what_a_region_reads_and_writes_is_no_early_result():
    """Would catch a new value written to an argument while another kernel still needs the old one."""
    text = """module {
  func.func @main(%s: !MS, %x: !X, %o: !MX) {
    %false = torch.constant.bool false
    %none = torch.constant.none
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %middle = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %first = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %old = torch.copy.to_vtensor %s : !S
    %p = torch.aten.sum.dim_IntList %x, %middle, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !P
    %0 = torch.aten.sum.dim_IntList %p, %first, %false, %none : !P, !torch.list<int>, !torch.bool, !torch.none -> !S
    %1 = torch.aten.sub.Tensor %x, %0, %one : !X, !S, !torch.int -> !X
    %2 = torch.aten.mul.Tensor %1, %old : !X, !S -> !X
    torch.overwrite.tensor.contents %0 overwrites %s : !S, !MS
    torch.overwrite.tensor.contents %2 overwrites %o : !X, !MX
    return
  }
}"""
    text = written(text, BESIDE_TYPES)
    [plan] = compile_regions({"a": text}, target_for_device("cuda:sm_90"), timeout=60, plans=True).values()
    assert isinstance(plan, LaunchPlan), plan
    steps = [step for step in plan.steps["steps"] if step["op"] != "barrier"]
    writes = [index for index, step in enumerate(steps) if step["op"] == "copy" and step["target"][0] == 0]
    assert writes == [len(steps) - 1]
