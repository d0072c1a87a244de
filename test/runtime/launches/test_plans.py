"""Launching plans: the same results as IREE's runtime, and nothing written for arguments that do not fit."""

import os
import re
import subprocess
import sys
import threading

import pytest
import torch
from compiled_regions import compile_regions
from torch_mlir import ir

import dovetail
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import CompiledRegion
from dovetail.backends.target import CpuTarget
from dovetail.dialects.attributes import ROLE
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module
from dovetail.dialects.statements.plans import digest, plans
from dovetail.errors import OptionError
from dovetail.passes.launches.import_plans import import_plans
from dovetail.runtime.launches.iree_executable import Executable
from dovetail.runtime.load_plan import load_plan, unavailable

SIZE = 384

IN, INTO = f"!torch.vtensor<[{SIZE},{SIZE}],f32>", f"!torch.tensor<[{SIZE},{SIZE}],f32>"
ROW, ROW_INTO = f"!torch.vtensor<[{SIZE}],f32>", f"!torch.tensor<[{SIZE}],f32>"
STEPS, STEPS_INTO = "!torch.vtensor<[5],si64>", "!torch.tensor<[5],si64>"
SHIFT = [position % 7 / 2 for position in range(SIZE)]
REGION_TEXT = f"""
module {{
  func.func @main(%x: {IN}, %c: {ROW}, %soft: {INTO}, %total: {ROW_INTO}, %copied: {ROW_INTO}, %filled: {ROW_INTO},
                  %steps: {STEPS_INTO}, %shifted: {ROW_INTO}) {{
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %0 = torch.aten._softmax %x, %int1, %false : {IN}, !torch.int, !torch.bool -> {IN}
    %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none : {IN}, !torch.list<int>, !torch.bool, !torch.none -> {ROW}
    %2 = torch.aten._softmax %1, %int0, %false : {ROW}, !torch.int, !torch.bool -> {ROW}
    %3 = torch.vtensor.literal(dense<1.5> : tensor<{SIZE}xf32>) : {ROW}
    torch.overwrite.tensor.contents %0 overwrites %soft : {IN}, {INTO}
    torch.overwrite.tensor.contents %2 overwrites %total : {ROW}, {ROW_INTO}
    torch.overwrite.tensor.contents %c overwrites %copied : {ROW}, {ROW_INTO}
    torch.overwrite.tensor.contents %3 overwrites %filled : {ROW}, {ROW_INTO}
    %4 = torch.vtensor.literal(dense<[3, 1, 4, 1, 5]> : tensor<5xsi64>) : {STEPS}
    %5 = torch.vtensor.literal(dense<{SHIFT}> : tensor<{SIZE}xf32>) : {ROW}
    %6 = torch.aten.add.Tensor %c, %5, %int1 : {ROW}, {ROW}, !torch.int -> {ROW}
    torch.overwrite.tensor.contents %4 overwrites %steps : {STEPS}, {STEPS_INTO}
    torch.overwrite.tensor.contents %6 overwrites %shifted : {ROW}, {ROW_INTO}
    return
  }}
}}
"""
"""Several dispatches that wait for one another, a transient, copies, a fill, and constants, copied and added."""

pytestmark = pytest.mark.skipif(
    bool(unavailable("cpu")), reason=f"needs the extension, which the install builds: {unavailable('cpu')}"
)


@pytest.fixture(scope="module")
def compiled() -> LaunchPlan:
    outcome = compile_regions({"main": REGION_TEXT}, CpuTarget(), timeout=120, plans=True)["main"]
    assert isinstance(outcome, LaunchPlan), outcome
    return outcome


@pytest.fixture(scope="module")
def planned(compiled: LaunchPlan) -> ir.Module:
    """The region at level `launches`."""
    module = parse_module(REGION_TEXT, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
    import_plans(module, {"main": (compiled.steps, digest(compiled.code))})
    module.operation.verify()
    return module


@pytest.fixture(scope="module")
def plan(compiled: LaunchPlan, planned: ir.Module):
    return load_plan(plans(planned)["main"], compiled.code)


def tensors() -> list[torch.Tensor]:
    rows = [torch.full((SIZE,), 7.0) for _ in range(4)]
    destinations = [torch.full((SIZE, SIZE), 7.0), *rows[:3], torch.full((5,), 7), rows[3]]
    return [torch.randn(SIZE, SIZE), torch.randn(SIZE), *destinations]


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def assert_right(x, c, soft, total, copied, filled, steps, shifted):
    torch.testing.assert_close(soft, x.softmax(1))
    torch.testing.assert_close(total, x.softmax(1).sum(0).softmax(0))
    assert torch.equal(copied, c)
    assert torch.equal(filled, torch.full_like(filled, 1.5))
    assert steps.tolist() == [3, 1, 4, 1, 5]
    assert torch.equal(shifted, c + torch.tensor(SHIFT))


def test_what_a_plan_says(planned: ir.Module):
    """Would catch a host program that IREE writes in another form now, of which only a part is read."""
    names = [op.operation.name.removeprefix("dovetail.") for op in plans(planned)["main"].body.blocks[0].operations]
    assert names.count("transient") == 1
    assert names.count("constant") == 2
    assert names.count("dispatch") >= 2
    assert names.count("copy_buffer") >= 1
    assert names.count("fill_buffer") == 1
    assert "barrier" in names[names.index("dispatch") :]
    assert set(Module(planned).regions) == {"main"}


def test_same_bits_as_through_the_runtime(plan, two_threads):
    """Would catch a binding, an order or a workgroup that is another one: the code is the same, so are the results."""
    compiled = compile_regions({"main": REGION_TEXT}, CpuTarget(), timeout=120)["main"]
    assert isinstance(compiled, CompiledRegion)
    ours, theirs = tensors(), tensors()
    theirs[:2] = ours[:2]
    for _ in range(3):
        plan(*ours)
    Executable(compiled, "local-sync", "main")(*theirs)
    assert all(map(torch.equal, ours, theirs))
    assert_right(*ours)


def test_what_only_fills_and_copies_is_planned():
    """Would catch a region without code that IREE's runtime runs, and one that is not found again in the cache."""
    x = torch.randn(6, 7)
    for _ in range(2):
        torch._dynamo.reset()
        dovetail.stats(reset=True)
        copied, filled = torch.compile(lambda x: (x.clone(), torch.full((300, 4), 2.5)), backend="dovetail")(x)
        assert torch.equal(copied, x)
        assert torch.equal(filled, torch.full((300, 4), 2.5))
        assert dovetail.stats().launches == {"plan": 1}


def test_fills_reach_the_end():
    """Would catch a fill that ends before its memory does, or beyond it: a block is 64 KiB, and none is whole."""

    def made(x):
        return torch.zeros(16_385), torch.full((5, 33_333), True), torch.full((3, 27_777), -2.5).double(), x + 1

    x = torch.ones(2)
    dovetail.stats(reset=True)
    assert all(map(torch.equal, torch.compile(made, backend="dovetail")(x), made(x)))
    assert dovetail.stats().launches == {"plan": 1}


def test_a_launch_without_code_is_refused(compiled: LaunchPlan, planned: ir.Module):
    """Would catch a plan whose kernels are looked for in a library that has none."""
    without = parse_module(str(planned).replace(digest(compiled.code), digest(b"")), make_context())
    with pytest.raises(ValueError, match=r"^region 'main': the plan does not fit its code, which has no entry '"):
        load_plan(plans(without)["main"], b"")


WRONG = {
    "too small": (torch.empty(SIZE - 1, SIZE), rf"shape \({SIZE - 1}, {SIZE}\)"),
    "too large": (torch.empty(SIZE + 1, SIZE), rf"shape \({SIZE + 1}, {SIZE}\)"),
    "misaligned": (torch.empty(SIZE * SIZE + 1)[1:].view(SIZE, SIZE), "aligned to 64 bytes"),
    "transposed": (torch.empty(SIZE, SIZE).t(), rf"strides \(1, {SIZE}\)"),
    "expanded": (torch.empty(SIZE).expand(SIZE, SIZE), r"strides \(0, 1\)"),
    "other dtype": (torch.empty(SIZE, SIZE, dtype=torch.float64), "got torch.float64"),
    "same size, other dtype": (torch.empty(SIZE, SIZE, dtype=torch.int32), "got torch.int32"),
    "other device": (torch.empty(SIZE, SIZE, device="meta"), "on meta"),
    "other rank": (torch.empty(SIZE * SIZE), rf"shape \({SIZE * SIZE},\)"),
}


ELSEWHERE = ("misaligned", "transposed", "expanded")
"""The right tensors in another place: inputs of these are copied."""


@pytest.mark.parametrize(
    ("case", "index"), [(case, index) for case in WRONG for index in (0, 2) if index or case not in ELSEWHERE]
)
def test_a_wrong_argument_is_named_and_nothing_is_written(plan, case: str, index: int):
    """Would catch memory that is read or written beyond its end, or a call that fails half-way."""
    wrong, message = WRONG[case]
    arguments = tensors()
    arguments[index] = wrong
    with pytest.raises(ValueError, match=rf"region 'main', argument {index}: .*{message}.*: use prepare\(\)"):
        plan(*arguments)
    assert all(torch.all(each == 7) for position, each in enumerate(arguments) if position >= 2 and position != index)


@pytest.mark.parametrize("case", [*ELSEWHERE, "negative", "without memory"])
def test_an_input_that_lies_elsewhere_is_copied(plan, case: str):
    """Would catch a copy that does not count, dies before it is read, or holds what memory holds, not the numbers.

    Zeros that PyTorch makes without memory ended the process.
    """
    x, *others = tensors()
    views = {"negative": torch._neg_view(x), "expanded": x[0].expand(SIZE, SIZE)}
    if case == "without memory":
        given = torch._efficientzerotensor((SIZE, SIZE))
    else:
        given = views[case] if case in views else WRONG[case][0].copy_(x)
    dovetail.stats(reset=True)
    plan(given, *others)
    assert dovetail.stats().copies == {"region input neither contiguous nor aligned": 1}
    assert_right(given, *others)


def test_wrong_counts_and_types_are_named(plan):
    """Would catch a read beyond the arguments."""
    arguments = tensors()
    for given in (arguments[:-1], [*arguments, arguments[0]], []):
        with pytest.raises(TypeError, match=rf"region 'main': expected 8 arguments and nothing else, got {len(given)}"):
            plan(*given)
    with pytest.raises(TypeError, match=r"expected 8 arguments and nothing else"):
        plan(*arguments, name=1)
    with pytest.raises(TypeError, match=r"region 'main', argument 1: got NoneType; expected torch.float32"):
        plan(arguments[0], None, *arguments[2:])


def test_a_parameter_is_an_input(plan):
    """Would catch tensors that require grad, or subclasses such as Parameter, being refused."""
    x, *others = tensors()
    plan(torch.nn.Parameter(x), *others)
    assert_right(x, *others)


def test_threads_share_a_plan(plan, two_threads):
    """Would catch state of a call that another one sees: transients, teams, arguments."""
    wrong = []

    def work():
        for _ in range(20):
            arguments = tensors()
            plan(*arguments)
            if not torch.allclose(arguments[2], arguments[0].softmax(1)) or not torch.equal(arguments[4], arguments[1]):
                wrong.append(arguments)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child_can_call(plan, two_threads):
    """The team of threads does not survive a fork: a child (a data loader's worker) would wait for it for ever."""
    arguments = tensors()
    plan(*arguments)
    # Made here, since ATen's own kernels would wait for the team in the child.
    arguments = [torch.ones(SIZE, SIZE), torch.ones(SIZE), *arguments[2:]]
    child = os.fork()
    if child == 0:
        try:
            plan(*arguments)
            right = abs(arguments[2][0, 0].item() - 1 / SIZE) < 1e-6 and arguments[5][0].item() == 1.5
        except BaseException:  # the child must not go on as a second pytest
            os._exit(1)
        os._exit(0 if right else 2)
    _, status = os.waitpid(child, 0)
    assert status == 0
    plan(*arguments)
    assert_right(*arguments)


def test_code_that_is_not_the_plans_is_refused(compiled: LaunchPlan, planned: ir.Module):
    """Would catch a foreign shared object, which could do anything, or a truncated one, which ends the process."""
    code = compiled.code
    for foreign in (code[:-1], code[: len(code) // 2], b""):
        with pytest.raises(ValueError, match=r"region 'main': the plan is for code .*, got "):
            load_plan(plans(planned)["main"], foreign)


def _with_code(planned: ir.Module, code: bytes) -> ir.Module:
    """The module, its plan naming `code`."""
    text = re.sub(r'dovetail.code = "\w+"', f'dovetail.code = "{digest(code)}"', str(planned))
    return parse_module(text, make_context())


@pytest.mark.parametrize("code", [b"no code", b"\x7fELF"])
def test_what_is_no_executable_is_refused(planned: ir.Module, code: bytes):
    """Would catch a loader's error that names neither the file nor the reason."""
    module = _with_code(planned, code)
    with pytest.raises(OSError, match="can't be loaded: "):
        load_plan(plans(module)["main"], code)


def test_a_shared_object_of_another_kind_is_refused(planned: ir.Module):
    """Would catch a call into a library that is not IREE's."""
    with open(next(iter(_shared_objects())), "rb") as file:
        code = file.read()
    module = _with_code(planned, code)
    with pytest.raises(ValueError, match="the plan does not fit its code, which is no executable library of version 6"):
        load_plan(plans(module)["main"], code)


def _shared_objects() -> list[str]:
    from dovetail.runtime import _launch

    return [_launch.__file__]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: re.sub(r'entry = "\w', 'entry = "?', text, count=1), r"has no entry '\?"),
        (lambda text: text.replace("constants = []", "constants = [1]", 1), r"the plan gives \d, 1, 0 and 0"),
        (lambda text: text.replace("constants = []", f"constants = [{1 << 32}]", 1), "too large"),
        (lambda text: re.sub(r"workgroups = \[\d+, \d+, \d+\]", "workgroups = [1, 1, 65536]", text), "too many"),
        (lambda text: re.sub(r"workgroups = \[\d+, \d+, \d+\]", "workgroups = [4294967296, 1, 1]", text), "too many"),
    ],
)
def test_a_plan_that_does_not_fit_its_code_is_refused(compiled, planned, change, message: str):
    """Would catch code that is given fewer buffers or constants than it reads: any bytes would be addresses."""
    changed = parse_module(change(str(planned)), make_context())
    with pytest.raises(ValueError, match=message):
        load_plan(plans(changed)["main"], compiled.code)


def test_the_way_is_told(monkeypatch):
    """Would catch a misspelt choice that is taken for the default."""
    monkeypatch.setenv("DOVETAIL_LAUNCH", "plan")
    with pytest.raises(OptionError, match=r"DOVETAIL_LAUNCH=plan: expected one of: plans, iree.runtime"):
        unavailable("cpu")


def _alone(lines: str) -> str:
    """What a process of its own prints, of which `launch` is the extension."""
    start = "import os, torch\nfrom dovetail.runtime.extension import extension\nlaunch = extension()\n"
    return subprocess.run(
        [sys.executable, "-c", start + lines], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_lack_of_memory_says_so():
    """Catches a SystemError: the number of threads was asked for while the MemoryError was on its way."""
    lines = """
fill = (1, False, "", (), (), ((1, 0, 1 << 20),), 0, 4)
memory = (((4,), 2, 32, False, True),), (), (), (1 << 46,)
plan = launch.Plan("region", launch.Library(b""), *memory, b"", (fill,), lambda index, given: given)
try:
    plan(torch.empty(4))
except MemoryError:
    print("lacks memory")
"""
    assert _alone(lines) == "lacks memory"


def test_code_that_can_not_be_loaded_leaves_no_file_open():
    """Catches a file of number 0, as the first is where the process has closed its input, that is never closed."""
    lines = """
os.close(0)
try:
    launch.Library(b"no code")
except OSError:
    print(os.path.exists("/proc/self/fd/0"))
"""
    assert _alone(lines) == "False"
