"""Regions launched one after the other on tensors that are looked at once, with a stand-in for the driver."""

import weakref

import pytest
import torch
from driver_stand_in import EXTENSION, Kernel, StandIn, Status, stand_in

from dovetail.errors import AliasMismatch, LaunchError
from dovetail.runtime.cuda import driver, steps
from dovetail.runtime.cuda.launches import Launches
from dovetail.runtime.cuda.library import load_library
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.plan_record import Argument, PlanRecord
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, Range

ADD = Kernel("add", (8, 8, 4))
COUNT = Kernel("count", (8,))
X, OUT = Argument(torch.float32, (16,), False), Argument(torch.bfloat16, (4, 4), True)
ADDITION = Dispatch("add", (8, 4, 2), (128, 1, 2), 2048, (7,), (Range(0, 0, 64), Range(1, 16, 16)))
COUNTING = Dispatch("count", (1, 1, 1), (32, 1, 1), 0, (), (Range(1, 0, 32),))


def plan_of(*steps: Dispatch | Fill | Copy, transient_bytes: int = 0, constants: bytes = b"") -> Plan:
    return Plan(PlanRecord("update", (X, OUT), transient_bytes, constants, steps), load_library(b"\x7fELF code"))


def seen(_: bytes) -> None:
    """A check that finds nothing."""


def arguments() -> list[torch.Tensor]:
    return [torch.zeros(4, 4, dtype=torch.bfloat16), torch.zeros(16), torch.zeros(16)]


def run_of(check=seen) -> Launches:
    return Launches([(plan_of(ADDITION, COUNTING), (1, 0)), (plan_of(ADDITION), (2, 0))], 3, check, 0)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    """A GPU whose tensors are the CPU's, for the extension, which reads memory, as for the driver."""
    return stand_in(monkeypatch, ADD, COUNT, launched_by=EXTENSION)


def test_all_regions_are_launched_in_order(gpu: StandIn) -> None:
    """Catches addresses of another argument, an offset or words that are left out, an old stream, a second order."""
    run, given = run_of(), arguments()
    out, x, y = (each.data_ptr() for each in given)
    expected = [
        ("add", (8, 4, 2), (128, 1, 2), 2048, 77, [x, out + 16, 7]),
        ("count", (1, 1, 1), (32, 1, 1), 0, 77, [out]),
        ("add", (8, 4, 2), (128, 1, 2), 2048, 77, [y, out + 16, 7]),
    ]
    assert run(given)
    assert gpu.launches() == expected
    gpu.stream = 99
    before = len(gpu.calls)
    assert run(given)
    assert gpu.launches()[3:] == [(*each[:4], 99, each[5]) for each in expected]
    assert [call[0] for call in gpu.calls[before:]] == ["cuLaunchKernelEx"] * 3


def test_sets_of_bindings_are_one_parameter(gpu: StandIn) -> None:
    """Catches addresses of sets that are parameters each, and words that are taken for addresses of a set left out."""
    gpu.kernels = (Kernel("add", (48, 4)),)
    ranges = (Range(0, 0, 32), Range(1, 0, 16), Range(0, 32, 32), Range(1, 16, 16))
    step = Dispatch("add", (8, 2, 1), (128, 1, 1), 0, (7,), ranges, sets=3)
    given = arguments()
    assert Launches([(plan_of(step), (1, 0)), (plan_of(step), (2, 0))], 3, seen, 0)(given)
    out, *inputs = (each.data_ptr() for each in given)
    assert [launch[-1] for launch in gpu.launches()] == [[x, out, x + 32, out + 16, 0, 0, 7] for x in inputs]


def test_nothing_runs_on_what_lies_otherwise(gpu: StandIn) -> None:
    """Catches a kernel that takes a strided tensor for one in rows, or faults on one that is not aligned."""
    run, given = run_of(), arguments()
    others = [
        torch.zeros(32)[::2],
        torch.zeros(17)[1:],
        torch.zeros(15),
        torch.zeros(4, 4),
        torch.zeros(16, dtype=torch.float64),
        torch._neg_view(torch.zeros(16)),
        torch.zeros(16, device="meta"),
        None,
    ]
    for other in others:
        assert not run([given[0], given[1], other])
    assert not gpu.launches()


def test_nothing_runs_on_tensors_of_a_gpu_elsewhere(gpu: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches memory of the host's at whose address a GPU would read."""
    monkeypatch.setattr(steps, "_CUDA", 2)
    assert not run_of()(arguments())
    assert not gpu.launches()


def test_nothing_runs_before_the_check(gpu: StandIn) -> None:
    """Catches an update of one of two tensors that overlap, and a check of other addresses."""
    given, found = arguments(), []

    def refuse(addresses: bytes) -> None:
        found.extend(memoryview(addresses).cast("Q"))
        raise AliasMismatch("they overlap")

    with pytest.raises(AliasMismatch):
        run_of(refuse)(given)
    assert found == [each.data_ptr() for each in given]
    assert not gpu.launches()


def test_thread_without_a_context_gets_one(gpu: StandIn) -> None:
    """Catches a thread that launches before it has done anything on the GPU: the driver refuses that."""
    run, given = run_of(), arguments()
    run(given)
    gpu.context = 0
    assert run(given)
    assert [launch[0] for launch in gpu.launches()] == ["add", "count", "add"] * 2
    assert gpu.context == 1000


def test_refused_launch_is_named(gpu: StandIn) -> None:
    """Catches a launch that fails and is passed over, is repeated for ever, or is taken for another region's."""
    run, given = run_of(), arguments()
    run(given)
    launched = len(gpu.launches())
    gpu.refusals["cuLaunchKernelEx"] = [Status.SUCCESS, Status.SUCCESS, Status.OUT_OF_MEMORY]
    position = r"region 'update', step 0, kernel 'add' on cuda:0: CUDA_ERROR_OUT_OF_MEMORY, out of memory$"
    with pytest.raises(LaunchError, match=position):
        run(given)
    assert len(gpu.launches()) - launched == 3


def test_sticky_error_says_that_the_process_is_lost(gpu: StandIn) -> None:
    """Catches an earlier kernel's failure that is blamed on this launch."""
    gpu.refusals["cuLaunchKernelEx"] = [Status.ILLEGAL_ADDRESS]
    with pytest.raises(LaunchError, match=r"ILLEGAL_ADDRESS.* launched before failed.*CUDA_LAUNCH_BLOCKING=1"):
        run_of()(arguments())


def test_code_that_cannot_be_loaded_is_named(gpu: StandIn) -> None:
    """Catches a first region that has run when the second one's code turns out not to load."""
    gpu.kernels = (COUNT,)
    with pytest.raises(LaunchError, match="region 'update': looking for kernel 'add': CUDA_ERROR_NOT_FOUND"):
        run_of()(arguments())
    assert not gpu.launches()


def test_current_device_is_left_as_it_was(gpu: StandIn) -> None:
    """Catches launches in the context of another GPU than the tensors', and a thread that is left on another one."""
    run, given = run_of(), arguments()
    run(given)
    gpu.context, gpu.device = 1001, 1
    assert run(given)
    contexts = [call[1] for call in gpu.calls if call[0] == "cuCtxSetCurrent"]
    assert contexts[-2:] == [1000, 1001]


def test_forked_child_is_refused(gpu: StandIn) -> None:
    """Catches a child process that launches on handles of its parent's."""
    run, given = run_of(), arguments()
    run(given)
    driver._note_fork()
    with pytest.raises(LaunchError, match=r"was forked from .* after that had used CUDA.*'spawn'"):
        run(given)
    assert len(gpu.launches()) == 3


def test_what_is_dropped_is_freed(gpu: StandIn) -> None:
    """Catches plans that live as long as the process, since what launches them refers to itself."""
    run = run_of()
    run(arguments())
    dropped = weakref.ref(run)
    del run
    assert dropped() is None


def test_regions_have_transients_and_constants(gpu: StandIn) -> None:
    """Catches a transient that is another region's tensor, and constants of the region before."""
    fill, copy = Fill(Range(2, 64, 32), 7, 4), Copy(Range(3, 16, 32), Range(1, 0, 32))
    one = plan_of(fill, Copy(Range(2, 64, 32), Range(1, 0, 32)), transient_bytes=96)
    two, three = (plan_of(copy, fill, transient_bytes=512, constants=bytes(size)) for size in (48, 64))
    given = arguments()
    assert Launches([(one, (1, 0)), (two, (2, 0)), (three, (1, 0))], 3, seen, 0)(given)
    out = given[0].data_ptr()
    constants = [call[1] for call in gpu.calls if call[0] == "cuMemcpyHtoDAsync"]
    filled = [call[1] for call in gpu.calls if call[0] == "cuMemsetD32Async"]
    copies = [call[1:4] for call in gpu.calls if call[0] == "cuMemcpyDtoDAsync"]
    assert filled == [filled[0]] * 3
    assert copies == [(out, filled[0], 32), *((out, each + 16, 32) for each in constants)]
