"""Reading launch plans for CUDA from the IR: everything that a launch needs stands there."""

import sys
import threading

import pytest
import torch
from driver_stand_in import Kernel, on_device, stand_in
from torch_mlir import ir

from dovetail import runtime
from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.statements.plans import digest, plans
from dovetail.errors import OptionError
from dovetail.runtime import load_plan as runtime_plans
from dovetail.runtime.cuda.open_plan import MOST_PLANS, OpenPlan
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.plan_record import Argument
from dovetail.runtime.cuda.read_plan import load_cuda_plan, read_record
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, Range

CODE = b"\x7fELF code"
BUFFER = "!dovetail.buffer"
IN, OUT = "!torch.vtensor<[16],f32>", "!torch.tensor<[16],f32>"


def module_of(steps: str, code: bytes = CODE) -> ir.Module:
    text = f"""
    module attributes {{dovetail.level = "launches", dovetail.target = "cuda:sm_90"}} {{
      func.func private @region(%x: {IN}, %out: {OUT}) attributes {{dovetail.role = "region"}} {{
        torch.overwrite.tensor.contents %x overwrites %out : {IN}, {OUT}
        return
      }}
      func.func private @region_plan(%x: {IN}, %out: {OUT})
          attributes {{dovetail.code = "{digest(code)}", dovetail.plan = @region, dovetail.role = "plan"}} {{
        %a = "dovetail.subspan"(%x) {{length = 64 : i64, offset = 0 : i64}} : ({IN}) -> {BUFFER}
        %b = "dovetail.subspan"(%out) {{length = 32 : i64, offset = 16 : i64}} : ({OUT}) -> {BUFFER}
        {steps}
        return
      }}
    }}"""
    return parse_module(text, make_context())


LAUNCH = f""""dovetail.dispatch"(%a, %b) {{constants = [4294967295, 7], entry = "add",
    operandSegmentSizes = array<i32: 2, 0>, shared_memory = 2048 : i64,
      workgroup_size = [128, 2, 1], workgroups = [8, 4, 2]}} : ({BUFFER}, {BUFFER}) -> ()"""
MEMORY = f"""
    %t = "dovetail.transient"() {{bytes = 100 : i64}} : () -> {BUFFER}
    %u = "dovetail.transient"() {{bytes = 300 : i64}} : () -> {BUFFER}
    %c = "dovetail.constant"() {{data = "01020304"}} : () -> {BUFFER}
    %d = "dovetail.constant"() {{data = "05060708"}} : () -> {BUFFER}
    %ts = "dovetail.subspan"(%t) {{length = 64 : i64, offset = 32 : i64}} : ({BUFFER}) -> {BUFFER}
    %us = "dovetail.subspan"(%u) {{length = 4 : i64, offset = 8 : i64}} : ({BUFFER}) -> {BUFFER}
    %cs = "dovetail.subspan"(%d) {{length = 4 : i64, offset = 0 : i64}} : ({BUFFER}) -> {BUFFER}
    "dovetail.fill_buffer"(%ts) {{pattern = -1 : i16}} : ({BUFFER}) -> ()
    "dovetail.barrier"() : () -> ()
    "dovetail.copy_buffer"(%cs, %us) : ({BUFFER}, {BUFFER}) -> ()"""


def test_a_launch() -> None:
    """Catches a number of the plan that a launch does not get."""
    module = module_of(LAUNCH)
    [plan] = plans(module).values()
    record = read_record(plan)
    ranges = (Range(0, 0, 64), Range(1, 16, 32))
    assert record.steps == (Dispatch("add", (8, 4, 2), (128, 2, 1), 2048, (0xFFFFFFFF, 7), ranges),)
    assert record.arguments == (Argument(torch.float32, (16,), False), Argument(torch.float32, (16,), True))
    assert (record.region, record.transient_bytes, record.constants) == ("region", 0, b"")


def test_a_launch_that_waits() -> None:
    """Catches code that waits and is launched as if it did not: after all before it has ended."""
    module = module_of(LAUNCH.replace("workgroups =", "waits, workgroups ="))
    [plan] = plans(module).values()
    [step] = read_record(plan).steps
    assert isinstance(step, Dispatch)
    assert step.waits


def test_transients_and_constants() -> None:
    """Catches two transients in one place, and a range of the second that starts in the first."""
    module = module_of(MEMORY)
    [plan] = plans(module).values()
    record = read_record(plan)
    assert record.transient_bytes == 256 + 512
    assert record.constants == bytes([1, 2, 3, 4]) + bytes(252) + bytes([5, 6, 7, 8]) + bytes(252)
    assert record.steps == (Fill(Range(2, 32, 64), 0xFFFF, 2), Copy(Range(3, 256, 4), Range(2, 264, 4)))


def test_a_launch_without_threads_is_refused() -> None:
    """Catches a plan for the CPU that is taken for one of a GPU's."""
    steps = LAUNCH.replace("shared_memory = 2048 : i64,", "").replace("workgroup_size = [128, 2, 1],", "")
    module = module_of(steps)
    [plan] = plans(module).values()
    with pytest.raises(ValueError, match="region 'region': the launch of 'add' does not say how many threads"):
        load_cuda_plan(plan, CODE)


def test_other_code_is_refused() -> None:
    """Catches a plan that launches other code than it was made for."""
    module = module_of(LAUNCH)
    [plan] = plans(module).values()
    with pytest.raises(ValueError, match=f"region 'region': the plan is for code {digest(CODE)}, got "):
        load_cuda_plan(plan, b"other")


def test_the_plan_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a plan that wants a GPU before it is called."""
    module = module_of(LAUNCH)
    [plan] = plans(module).values()
    run = load_cuda_plan(plan, CODE)
    assert run.library.code == CODE
    gpu = stand_in(monkeypatch, Kernel("add", (8, 8, 4, 4)))
    x, out = on_device(torch.zeros(16)), on_device(torch.zeros(16))
    run(x, out)
    expected = [x.data_ptr(), out.data_ptr() + 16, 0xFFFFFFFF, 7]
    assert gpu.launches() == [("add", (8, 4, 2), (128, 2, 1), 2048, 77, expected)]


def test_the_module_says_which_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a plan for a GPU that goes to the CPU's extension, as code for which it asks the CPU's loader."""
    module = module_of(LAUNCH)
    [plan] = plans(module).values()
    assert isinstance(runtime_plans.load_plan(plan, CODE), Plan)
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    assert runtime_plans.unavailable("cuda") == ""
    assert runtime_plans.unavailable("cpu") == "DOVETAIL_LAUNCH=iree.runtime"


def test_the_cpus_extension_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a plan for a GPU that fails where the install had no C compiler."""
    monkeypatch.delattr(runtime, "_launch", raising=False)
    monkeypatch.setitem(sys.modules, "dovetail.runtime._launch", None)
    module = module_of(LAUNCH)
    [plan] = plans(module).values()
    assert isinstance(runtime_plans.load_plan(plan, CODE), Plan)


def test_launches_from_python_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches launches that are slow for want of a C compiler, and nobody is told."""
    assert runtime_plans.planned("cpu") == "plan"
    monkeypatch.setattr(runtime_plans, "unusable", lambda: "no compiler")
    assert runtime_plans.planned("cuda") == "plan, step by step from Python: no compiler"


def test_launches_on_one_thread_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches launches that are slow since PyTorch's threads were not found, and nobody is told."""
    monkeypatch.setattr(runtime_plans, "unthreaded", lambda: "no OpenMP")
    assert runtime_plans.planned("cpu") == "plan, on one thread: no OpenMP"
    assert runtime_plans.planned("cuda") == "plan"


def test_code_that_cannot_be_loaded_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a kernel that spills and is launched all the same, and code for a GPU that isn't here taken for bad."""
    step = {"op": "dispatch", "entry": "slow", "workgroups": ["n", 1, 1], "constants": ["n"], "bindings": [[0, 0, 64]]}
    launched = LaunchPlan({"steps": [{"op": "barrier"}, step]}, CODE)
    assert runtime_plans.unloadable(launched, "cuda:0") == ""
    gpu = stand_in(monkeypatch, Kernel("slow", (8, 4), 5000))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert runtime_plans.unloadable(launched, "cuda:2") == ""
    spills = "the code kernel 'slow' keeps 5000 bytes a thread"
    assert runtime_plans.unloadable(launched, "cuda:1").startswith(spills)
    assert ("cuCtxSetCurrent", 1001) in gpu.calls


@pytest.mark.parametrize("device", ["cuda", "cuda:", "cuda:x", "gpu:0"])
def test_a_device_without_a_number_is_no_bad_code(device: str) -> None:
    """Catches a device that is misspelt, as a bare "cuda", taken for code that can't be loaded: a quiet failure."""
    with pytest.raises(OptionError, match=f"^device '{device}': expected 'cpu' or a GPU with its number"):
        runtime_plans.unloadable(LaunchPlan({"steps": []}, CODE), device)


@pytest.mark.parametrize(
    ("sets", "parameters", "reason"),
    [
        (0, (8, 8, 4), ""),
        (0, (8, 8), "the code kernel 'add' takes parameters of [8, 8] bytes, the plan gives [8, 8, 4]"),
        (3, (24, 4), ""),
        (3, (8, 8, 4), "the code kernel 'add' takes parameters of [8, 8, 4] bytes, the plan gives [24, 4]"),
    ],
)
def test_code_that_does_not_fit_its_plan_says_why(
    monkeypatch: pytest.MonkeyPatch, sets: int, parameters: tuple[int, ...], reason: str
) -> None:
    """Catches a kernel of other parameters that passes for compiled, and whose first call raises."""
    step = {"op": "dispatch", "entry": "add", "workgroups": [8, 2, 1], "constants": [7], "sets": sets}
    stand_in(monkeypatch, Kernel("add", parameters))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    plan = LaunchPlan({"steps": [{**step, "bindings": [[0, 0, 64], [1, 0, 64]]}]}, CODE)
    assert runtime_plans.unloadable(plan, "cuda:0") == reason


ANY = -(2**63)
OPEN_IN, OPEN_OUT = "!torch.vtensor<[?,4],f32>", "!torch.tensor<[?,4],f32>"
OPEN = f"""
module attributes {{dovetail.level = "launches", dovetail.target = "cuda:sm_90"}} {{
  func.func private @region(%x: {OPEN_IN}, %n: !torch.int, %out: {OPEN_OUT}) attributes {{dovetail.role = "region"}} {{
    torch.overwrite.tensor.contents %x overwrites %out : {OPEN_IN}, {OPEN_OUT}
    return
  }}
  func.func private @region_plan(%x: {OPEN_IN}, %n: !torch.int, %out: {OPEN_OUT})
      attributes {{dovetail.code = "{digest(CODE)}", dovetail.plan = @region, dovetail.role = "plan"}} {{
    %rows = "dovetail.size"(%x) {{dim = 0 : i64}} : ({OPEN_IN}) -> index
    %same = "dovetail.size"(%out) {{dim = 0 : i64}} : ({OPEN_OUT}) -> index
    %word = "dovetail.size"(%n) : (!torch.int) -> index
    "dovetail.check_equal"(%rows, %same) : (index, index) -> ()
    "dovetail.check_range"(%rows) {{least = 1 : i64, most = 100 : i64}} : (index) -> ()
    %eight = arith.constant 8 : index
    %sixteen = arith.constant 16 : index
    %bytes = arith.muli %rows, %sixteen : index
    %groups = arith.ceildivsi %rows, %eight : index
    %t = "dovetail.transient"(%bytes) {{bytes = {ANY} : i64}} : (index) -> {BUFFER}
    %a = "dovetail.subspan"(%x, %bytes) {{length = {ANY} : i64, offset = 0 : i64}} : ({OPEN_IN}, index) -> {BUFFER}
    %b = "dovetail.subspan"(%out, %bytes) {{length = {ANY} : i64, offset = 0 : i64}} : ({OPEN_OUT}, index) -> {BUFFER}
    %c = "dovetail.subspan"(%t, %bytes) {{length = {ANY} : i64, offset = 0 : i64}} : ({BUFFER}, index) -> {BUFFER}
    "dovetail.dispatch"(%a, %c, %groups, %word) {{constants = [{ANY}], entry = "add",
        operandSegmentSizes = array<i32: 2, 2>, shared_memory = 0 : i64,
        workgroup_size = [128, 1, 1], workgroups = [{ANY}, 1, 1]}} : ({BUFFER}, {BUFFER}, index, index) -> ()
    "dovetail.copy_buffer"(%c, %b) : ({BUFFER}, {BUFFER}) -> ()
    return
  }}
}}"""


def open_plan() -> OpenPlan:
    module = parse_module(OPEN, make_context())
    [plan] = plans(module).values()
    made = load_cuda_plan(plan, CODE)
    assert isinstance(made, OpenPlan)
    return made


def test_numbers_follow_from_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a grid, a word, a length or a transient of the first sizes in a call with others."""
    run, gpu = open_plan(), stand_in(monkeypatch, Kernel("add", (8, 8, 4)))
    for rows in (16, 20, 16):
        x, out = (on_device(torch.zeros(rows, 4)) for _ in range(2))
        run(x, -rows, out)
        name, grid, _, _, _, (source, _, word) = gpu.launches()[-1]
        assert (name, grid, source, word) == ("add", (-(-rows // 8), 1, 1), x.data_ptr(), 2**32 - rows)
        assert gpu.calls[-1][0] == "cuMemcpyDtoDAsync"
        assert (gpu.calls[-1][1], gpu.calls[-1][3]) == (out.data_ptr(), 16 * rows)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((torch.zeros(4, 4), 1, torch.zeros(5, 4)), "region 'region': got sizes 4 and 5, which must be equal"),
        ((torch.zeros(101, 4), 1, torch.zeros(101, 4)), "region 'region': got a size of 101, expected 1 to 100"),
        ((torch.zeros(4, 5), 1, torch.zeros(4, 4)), r"region 'region': argument 0: got shape \(4, 5\), expected"),
        ((torch.zeros(4, 4), 1.5, torch.zeros(4, 4)), "region 'region': argument 1: got float, expected an int"),
    ],
)
def test_sizes_that_a_plan_is_not_for(monkeypatch: pytest.MonkeyPatch, given: tuple, message: str) -> None:
    """Catches a launch beyond the end of memory."""
    run, gpu = open_plan(), stand_in(monkeypatch, Kernel("add", (8, 8, 4)))
    with pytest.raises(ValueError, match=message):
        run(*(on_device(each) if isinstance(each, torch.Tensor) else each for each in given))
    assert not gpu.launches()


@pytest.mark.parametrize(
    ("computed", "numbers", "message"),
    [
        ("divsi %rows, %word", 0, "'divsi' of 4 and 0: "),
        ("ceildivsi %rows, %word", 0, "'ceildivsi' of 4 and 0: "),
        ("shrui %rows, %word", -1, "'shrui' of 4 and -1: "),
    ],
)
def test_numbers_that_cannot_be_computed_are_named(
    monkeypatch: pytest.MonkeyPatch, computed: str, numbers: int, message: str
) -> None:
    """Catches an error of Python's that does not say of which region it is."""
    module = parse_module(OPEN.replace("arith.ceildivsi %rows, %eight", f"arith.{computed}"), make_context())
    [plan] = plans(module).values()
    run, gpu = load_cuda_plan(plan, CODE), stand_in(monkeypatch, Kernel("add", (8, 8, 4)))
    with pytest.raises(ValueError, match=f"region 'region': {message}"):
        run(on_device(torch.zeros(4, 4)), numbers, on_device(torch.zeros(4, 4)))
    assert not gpu.launches()


def test_no_rows_launch_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a launch of no workgroup, which the driver refuses, for a tensor that has no elements in this call."""
    module = parse_module(OPEN.replace("least = 1", "least = 0"), make_context())
    [plan] = plans(module).values()
    run, gpu = load_cuda_plan(plan, CODE), stand_in(monkeypatch, Kernel("add", (8, 8, 4)))
    run(on_device(torch.zeros(0, 4)), 0, on_device(torch.zeros(0, 4)))
    assert not gpu.launches()


def test_sizes_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a plan for each size that was ever met."""
    run = open_plan()
    stand_in(monkeypatch, Kernel("add", (8, 8, 4)))
    for rows in range(1, MOST_PLANS + 20):
        run(on_device(torch.zeros(rows, 4)), 0, on_device(torch.zeros(rows, 4)))
    assert len(run._plans) == MOST_PLANS


def test_sizes_are_forgotten_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a call that raises since another thread's call of new sizes came in between."""
    run = open_plan()
    stand_in(monkeypatch, Kernel("add", (8, 8, 4)))
    failures: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for rows in [*range(first, 101), *range(1, first)] * 4:
                run(on_device(torch.zeros(rows, 4)), 0, on_device(torch.zeros(rows, 4)))
        except BaseException as error:
            failures.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(first,)) for first in (1, 26, 51, 76)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not failures
    assert len(run._plans) <= MOST_PLANS + len(threads)
