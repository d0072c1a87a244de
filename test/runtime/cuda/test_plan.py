"""Launching on a GPU, with a stand-in for its driver: what is launched, with which parameters, and what is refused."""

import gc
import sys
import threading
from dataclasses import replace

import pytest
import torch
from driver_stand_in import EXTENSION, PYTHON, Kernel, StandIn, Status, on_device, stand_in

from dovetail.errors import LaunchError
from dovetail.runtime.cuda import driver
from dovetail.runtime.cuda.library import load_library
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.plan_record import Argument, PlanRecord
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, Range
from dovetail.runtime.stats import stats

ADD = Kernel("add", (8, 8, 4))
ADDITION = Dispatch("add", (8, 1, 1), (128, 1, 1), 2048, (7,), (Range(0, 0, 64), Range(1, 16, 48)))
X, OUT = Argument(torch.float32, (16,), False), Argument(torch.float32, (4, 4), True)


def plan_of(*steps: Dispatch | Fill | Copy, transient_bytes: int = 0, constants: bytes = b"") -> Plan:
    return Plan(PlanRecord("region_0", (X, OUT), transient_bytes, constants, steps), load_library(b"\x7fELF code"))


def arguments() -> tuple[torch.Tensor, torch.Tensor]:
    return on_device(torch.zeros(16)), on_device(torch.zeros(4, 4))


@pytest.fixture(params=[EXTENSION, PYTHON])
def gpu(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> StandIn:
    return stand_in(monkeypatch, ADD, launched_by=request.param)


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """Several GPUs, whose tensors only Python sees."""
    return stand_in(monkeypatch, ADD)


def test_launch_gets_addresses_words_and_stream(gpu: StandIn) -> None:
    """Catches parameters in another order, an offset that is left out, a grid in place of a block, an old stream."""
    x, out = arguments()
    plan = plan_of(ADDITION)
    plan(x, out)
    gpu.stream = 99
    plan(x, out)
    expected = [x.data_ptr(), out.data_ptr() + 16, 7]
    assert gpu.launches() == [("add", (8, 1, 1), (128, 1, 1), 2048, stream, expected) for stream in (77, 99)]


def test_sets_of_bindings_are_one_parameter(gpu: StandIn) -> None:
    """Catches addresses of sets that are parameters each, and words that are taken for addresses of a set left out."""
    gpu.kernels = (Kernel("add", (48, 4)),)
    ranges = (Range(0, 0, 32), Range(1, 0, 32), Range(0, 32, 32), Range(1, 32, 32))
    x, out = arguments()
    plan_of(Dispatch("add", (8, 2, 1), (128, 1, 1), 0, (7,), ranges, sets=3))(x, out)
    first, second = x.data_ptr(), out.data_ptr()
    assert gpu.launches() == [("add", (8, 2, 1), (128, 1, 1), 0, 77, [first, second, first + 32, second + 32, 0, 0, 7])]


def test_what_waits_by_itself_may_begin_early(gpu: StandIn) -> None:
    """Catches a kernel that does not wait and is launched while what it reads is written."""
    plan_of(ADDITION, replace(ADDITION, waits=True))(*arguments())
    assert gpu.overlaps() == [False, True]


def test_old_drivers_are_refused_by_name(gpu: StandIn) -> None:
    """Catches an error of the bindings about a missing function, in the first call, that does not say what to do."""
    gpu.version = 12030
    wanted = "region 'region_0': needs a driver for CUDA 12.4 or later, this one is for 12.3$"
    with pytest.raises(LaunchError, match=wanted):
        plan_of(ADDITION)(*arguments())


def test_a_status_is_not_taken_for_the_end_of_parameters(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches an earlier kernel's failure that looks like a kernel without parameters."""
    monkeypatch.setattr(StandIn, "cuFuncGetParamInfo", lambda *_: (Status.ILLEGAL_ADDRESS, 0, 0))
    with pytest.raises(LaunchError, match="asking for the parameters of 'add': CUDA_ERROR_ILLEGAL_ADDRESS"):
        plan_of(ADDITION)(*arguments())


def test_everything_but_the_launch_is_prepared_once(gpu: StandIn) -> None:
    """Catches code that each call loads anew."""
    plan = plan_of(ADDITION)
    plan(*arguments())
    before = len(gpu.calls)
    plan(*arguments())
    assert [call[0] for call in gpu.calls[before:]] == ["cuLaunchKernelEx"]
    assert ("cuFuncSetAttribute", ADD, "shared", 2048) in gpu.calls


def test_transients_and_constants_are_buffers(gpu: StandIn) -> None:
    """Catches a transient at the constants' address, and constants that are uploaded with each call."""
    plan = plan_of(
        Fill(Range(2, 256, 64), 0x3F800000, 4),
        Copy(Range(3, 16, 32), Range(1, 8, 32)),
        transient_bytes=512,
        constants=bytes(64),
    )
    _, out = arguments()
    plan(*arguments())
    plan(on_device(torch.zeros(16)), out)
    assert gpu.names() == ["cuMemAlloc", "cuMemcpyHtoDAsync", *["cuMemsetD32Async", "cuMemcpyDtoDAsync"] * 2]
    (_, target, bits, count, stream), copied = gpu.calls[-2:]
    assert (bits, count, stream) == (0x3F800000, 16, 77)
    [uploaded] = [call[1] for call in gpu.calls if call[0] == "cuMemcpyHtoDAsync"]
    assert copied == ("cuMemcpyDtoDAsync", out.data_ptr() + 8, int(uploaded) + 16, 32, 77)
    assert target % 16 == 0


@pytest.mark.parametrize(("width", "name"), [(1, "cuMemsetD8Async"), (2, "cuMemsetD16Async"), (4, "cuMemsetD32Async")])
def test_fills_by_width(gpu: StandIn, width: int, name: str) -> None:
    """Catches a count in bytes where the driver counts elements."""
    x, out = arguments()
    plan_of(Fill(Range(1, 0, 64), 1, width))(x, out)
    assert gpu.calls[-1] == (name, out.data_ptr(), 1, 64 // width, 77)


def test_eight_bytes_are_filled_as_two_columns(gpu: StandIn) -> None:
    """Catches halves in the wrong order, and a pitch that leaves every other number out."""
    x, out = arguments()
    plan_of(Fill(Range(1, 8, 32), 0x1111111122222222, 8))(x, out)
    start = out.data_ptr() + 8
    low, high = (start, 8, 0x22222222, 1, 4, 77), (start + 4, 8, 0x11111111, 1, 4, 77)
    assert [call[1:] for call in gpu.calls[-2:]] == [low, high]


def misfits() -> list:
    wide = torch.zeros(4, 8)
    return [
        ((torch.zeros(16, dtype=torch.float64), torch.zeros(4, 4)), 0, ValueError, "torch.float64"),
        ((torch.zeros(15), torch.zeros(4, 4)), 0, ValueError, "shape (15,)"),
        ((torch.zeros(16), torch.zeros(16)), 1, ValueError, "shape (16,)"),
        ((torch.zeros(16), wide[:, ::2]), 1, ValueError, "strides (8, 2)"),
        ((torch.zeros(16), torch.zeros(17)[1:].view(4, 4)), 1, ValueError, "address"),
        ((torch.zeros(16), None), 1, TypeError, "NoneType"),
        ((3.0, torch.zeros(4, 4)), 0, TypeError, "float"),
    ]


@pytest.mark.parametrize(("given", "position", "kind", "what"), misfits())
def test_misfit_is_refused_before_anything_is_written(
    gpu: StandIn, given: tuple, position: int, kind: type[Exception], what: str
) -> None:
    """Catches an argument of the wrong form that passes for an earlier call's, and an error that does not name it."""
    plan = plan_of(ADDITION)
    plan(*arguments())
    tensors = [on_device(each) if isinstance(each, torch.Tensor) else each for each in given]
    with pytest.raises(kind, match=f"region 'region_0', argument {position}: got .*expected torch.float32") as raised:
        plan(*tensors)
    assert what in str(raised.value)
    assert len(gpu.launches()) == 1


def test_other_devices_are_named(gpus: StandIn) -> None:
    """Catches a tensor of the CPU, or of another GPU, whose address a kernel would read."""
    x, out = arguments()
    with pytest.raises(ValueError, match=r"argument 1: got .* on cpu; expected .* on one GPU"):
        plan_of(ADDITION)(x, torch.zeros(4, 4))
    with pytest.raises(ValueError, match=r"argument 0: got .* expected .* on cuda:0"):
        plan_of(ADDITION)(torch.zeros(16), out)
    with pytest.raises(ValueError, match=r"argument 0: got .* expected .* on cuda:0"):
        plan_of(ADDITION)(on_device(torch.zeros(16), 1), out)
    assert not gpus.launches()


def test_too_few_arguments(gpu: StandIn) -> None:
    """Catches an argument behind the last one that is read, and memory of the host's that a kernel would read."""
    _, out = arguments()
    with pytest.raises(TypeError, match="region 'region_0': got 1 arguments, expected 2"):
        plan_of(ADDITION)(out)
    with pytest.raises(ValueError, match=r"argument 0: got .* on meta; expected .* on cuda:0"):
        plan_of(ADDITION)(torch.zeros(16, device="meta"), out)
    assert not gpu.launches()


def test_input_that_lies_otherwise_is_copied(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a strided or unaligned input that a kernel reads as if it lay row by row."""
    made = []
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *sizes, **how: made.append(empty(*sizes, **how)) or made[-1])
    stats(reset=True)
    values = torch.arange(32.0)
    plan = plan_of(ADDITION)
    plan(*arguments())
    plan(on_device(values[::2]), on_device(torch.zeros(4, 4)))
    assert gpu.launches()[1][-1][0] == made[0].data_ptr()
    assert torch.equal(made[0], values[::2])
    assert stats().copies == {"region input neither contiguous nor aligned": 1}


def test_each_device_gets_its_own_code_and_stream(gpus: StandIn) -> None:
    """Catches kernels of one GPU that are launched on another, and a thread that is left on another GPU."""
    plan = plan_of(ADDITION)
    plan(*arguments())
    plan(on_device(torch.zeros(16), 1), on_device(torch.zeros(4, 4), 1))
    assert [launch[4] for launch in gpus.launches()] == [77, 78]
    assert [each[0] for each in gpus.calls].count("cuModuleLoadDataEx") == 2
    at = [number for number, each in enumerate(gpus.calls) if each[0] == "cuLaunchKernelEx"][1]
    contexts = [call for call in gpus.calls if call[0] == "cuCtxSetCurrent"]
    assert gpus.calls[at - 1] == ("cuCtxSetCurrent", 1001)
    assert contexts[-1] == ("cuCtxSetCurrent", 1000)


def test_current_device_is_left_as_it_was(gpu: StandIn) -> None:
    """Catches launches in the context of another GPU than the tensors', and a thread that is left on another one."""
    plan = plan_of(ADDITION)
    plan(*arguments())
    gpu.context = 1001
    plan(*arguments())
    contexts = [call[1] for call in gpu.calls if call[0] == "cuCtxSetCurrent"]
    assert contexts[-2:] == [1000, 1001]
    gpu.refusals["cuCtxSetCurrent"] = [Status.ILLEGAL_ADDRESS]
    with pytest.raises(LaunchError, match=r"region 'region_0', making the thread's device cuda:0: .*ILLEGAL_ADDRESS"):
        plan(*arguments())


def test_plans_of_one_code_share_it(gpu: StandIn) -> None:
    """Catches code that is loaded once a region instead of once a device."""
    plan_of(ADDITION)(*arguments())
    plan_of(ADDITION)(*arguments())
    assert [each[0] for each in gpu.calls].count("cuModuleLoadDataEx") == 1


def test_thread_without_a_context_gets_one(gpu: StandIn) -> None:
    """Catches a thread that launches before it has done anything on the GPU: the driver refuses that."""
    plan = plan_of(ADDITION)
    plan(*arguments())
    gpu.context = 0
    plan(*arguments())
    assert len(gpu.launches()) == 2
    assert gpu.context == 1000


def test_refused_launch_is_named(gpu: StandIn) -> None:
    """Catches a launch that fails and is passed over, and a message that does not say which one it is."""
    gpu.refusals["cuLaunchKernelEx"] = [Status.OUT_OF_MEMORY]
    plan = plan_of(Fill(Range(1, 0, 64), 0, 4), ADDITION)
    position = r"region 'region_0', step 1, kernel 'add' on cuda:0: CUDA_ERROR_OUT_OF_MEMORY, out of memory$"
    with pytest.raises(LaunchError, match=position):
        plan(*arguments())
    plan(*arguments())
    assert len(gpu.launches()) == 2


def test_sticky_error_says_that_the_process_is_lost(gpu: StandIn) -> None:
    """Catches an earlier kernel's failure that is blamed on this launch."""
    gpu.refusals["cuLaunchKernelEx"] = [Status.ILLEGAL_ADDRESS]
    with pytest.raises(LaunchError, match=r"ILLEGAL_ADDRESS.* launched before failed.*CUDA_LAUNCH_BLOCKING=1"):
        plan_of(ADDITION)(*arguments())


def test_code_that_cannot_be_loaded_is_named(gpu: StandIn) -> None:
    """Catches code for another card that fails without a word, or is taken for loaded by the next call."""
    gpu.refusals["cuModuleLoadDataEx"] = [Status.NO_BINARY_FOR_GPU] * 2
    plan = plan_of(ADDITION)
    for _ in range(2):
        with pytest.raises(LaunchError, match=r"region 'region_0': machine code can't be loaded onto cuda:0: .*BINARY"):
            plan(*arguments())
    plan(*arguments())
    assert len(gpu.launches()) == 1


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Kernel("sub", (8, 8, 4)), "looking for kernel 'add': CUDA_ERROR_NOT_FOUND"),
        (Kernel("add", (8, 8)), r"takes parameters of \[8, 8\] bytes, the plan gives \[8, 8, 4\]"),
        (Kernel("add", (8, 8, 4, 8)), r"takes parameters of \[8, 8, 4, 8\] bytes"),
        (Kernel("add", (16, 4)), r"takes parameters of \[16, 4\] bytes"),
        (Kernel("add", (8, 8, 4), 24576), "'add' keeps 24576 bytes a thread in local memory, expected at most"),
    ],
)
def test_code_that_the_plan_does_not_fit(gpu: StandIn, kernel: Kernel, message: str) -> None:
    """Catches parameters that a kernel would read behind those it is given, and kernels that spill."""
    gpu.kernels = (kernel,)
    with pytest.raises(LaunchError, match=message):
        plan_of(ADDITION)(*arguments())


def test_library_is_checked_before_a_plan_is_made(gpu: StandIn) -> None:
    """Catches a kernel that spills, found only when the first call is under way."""
    library = load_library(b"\x7fELF other")
    gpu.kernels = (ADD, Kernel("slow", (8,), 9999))
    library.check(0, [ADDITION])
    with pytest.raises(LaunchError, match="kernel 'slow' keeps 9999 bytes"):
        library.check(0, [ADDITION, Dispatch("slow", (1, 1, 1), (1, 1, 1), 0, (), (Range(0, 0, 64),))])


@pytest.mark.parametrize("workgroups", [(2**31, 1, 1), (1, 65536, 1), (1, 1, 65536)])
def test_more_workgroups_than_a_gpu_takes_are_refused_first(gpu: StandIn, workgroups: tuple[int, int, int]) -> None:
    """Catches a launch that the driver refuses when the steps before it have written."""
    wanted = r"region 'region_0', step 1, kernel 'add' on cuda:0: \(.*\) workgroups, expected at most \(2147483647, "
    with pytest.raises(LaunchError, match=wanted):
        plan_of(Fill(Range(1, 0, 64), 0, 4), replace(ADDITION, workgroups=workgroups))(*arguments())
    assert "cuMemsetD32Async" not in gpu.names()


def test_what_the_extension_does_not_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a step beyond the end of its buffer whose error does not say of which region it is."""
    stand_in(monkeypatch, ADD, launched_by=EXTENSION)
    with pytest.raises(LaunchError, match=r"^region 'region_0': takes 64 bytes from 16 of buffer 1$"):
        plan_of(Fill(Range(1, 16, 64), 0, 4))(*arguments())


def test_calls_at_the_same_time_share_no_parameters(gpu: StandIn) -> None:
    """Catches a second thread, or a finalizer in the midst of a call, that overwrites what a launch will read."""
    plan = plan_of(ADDITION)
    inner = arguments()
    launch, depth = gpu.launch, []

    def nested(*given):
        if not depth:
            depth.append(1)
            plan(*inner)
        return launch(*given)

    outer = arguments()
    gpu.launch = nested  # type: ignore[method-assign]
    plan(*outer)
    assert [each[-1][0] for each in gpu.launches()] == [inner[0].data_ptr(), outer[0].data_ptr()]


def test_threads(gpu: StandIn) -> None:
    """Catches parameters of one thread in another's launch."""
    plan = plan_of(ADDITION)
    given = [arguments() for _ in range(4)]
    threads = [threading.Thread(target=lambda each=each: [plan(*each) for _ in range(200)]) for each in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pairs = [(x.data_ptr(), out.data_ptr() + 16) for x, out in given]
    launched = [tuple(launch[-1][:2]) for launch in gpu.launches()]
    assert len(launched) == 800
    assert {pair: launched.count(pair) for pair in pairs} == dict.fromkeys(pairs, 200)


def test_constants_stay_as_long_as_their_code(gpu: StandIn) -> None:
    """Catches constants given back with a plan, while a graph of the user's still reads them, and a wait for that."""
    steps, addresses = Copy(Range(3, 0, 32), Range(1, 0, 32)), []
    for contents in (bytes(64), bytes(64), bytes([1] * 64)):
        plan_of(steps, constants=contents)(*arguments())
        addresses.append(gpu.calls[-1][2])
    assert "cuMemFree" not in [call[0] for call in gpu.calls]
    assert addresses[0] == addresses[1] != addresses[2]
    assert [each[0] for each in gpu.calls].count("cuMemAlloc") == 2


def test_forked_child_is_refused(gpu: StandIn) -> None:
    """Catches a child process that launches on handles of its parent's."""
    plan = plan_of(ADDITION)
    plan(*arguments())
    driver._note_fork()
    plan.start_anew()
    with pytest.raises(LaunchError, match=r"was forked from .* after that had used CUDA.*'spawn'"):
        plan(*arguments())
    assert len(gpu.launches()) == 1


@pytest.mark.usefixtures("young_garbage")
def test_a_plan_that_dies_in_a_forked_child_says_nothing(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches "Exception ignored" for each plan that a child process drops: no handle is good there."""
    ignored: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    plan = plan_of(Copy(Range(3, 0, 32), Range(1, 0, 32)), constants=bytes(64))
    plan(*arguments())
    driver._note_fork()
    del plan
    gc.collect()
    assert not ignored
