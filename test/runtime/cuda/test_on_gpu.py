"""Launching on a GPU: hand-written kernels through the driver, on torch's streams and memory."""

import gc
import subprocess
import sys
import threading
import time
from array import array
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from gpu_kernels import FAULT, SCALE, SCALE_SETS, SHARED, SIZE, SPILLING, TURN_AROUND, dispatch, plan

from dovetail.errors import LaunchError
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, Range

pytestmark = pytest.mark.cuda

SUPPORT = Path(__file__).parents[2] / "support"


def numbers(seed: int = 0) -> torch.Tensor:
    return torch.randn(SIZE, generator=torch.Generator().manual_seed(seed)).cuda()


def test_launch() -> None:
    """Catches parameters, a grid or a block that do not arrive as they should."""
    scale, x, out = plan(SCALE, dispatch("scale", 3)), numbers(), torch.empty(SIZE, device="cuda")
    scale(x, out)
    assert torch.equal(out, x * 3)


def test_sets_of_bindings() -> None:
    """Catches sets that a kernel does not find where the launch puts them."""
    half = 4 * SIZE // 2
    ranges = [Range(buffer, start, half) for start in (half, 0) for buffer in (0, 1)]
    step = Dispatch("scale", (SIZE // 256, 2, 1), (128, 1, 1), 0, (3,), tuple(ranges), sets=4)
    scale, x, out = plan(SCALE_SETS, step), numbers(), torch.empty(SIZE, device="cuda")
    scale(x, out)
    assert torch.equal(out, x * 3)


def test_machine_code(tmp_path: Path) -> None:
    """Catches a cubin that is loaded as text, or computes something else than its PTX."""
    triton = pytest.importorskip("triton", reason="its ptxas assembles; every CUDA build of torch has it")
    ptxas = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
    major, minor = torch.cuda.get_device_capability()
    (tmp_path / "scale.ptx").write_text(SCALE)
    command = [ptxas, f"-arch=sm_{major}{minor}", tmp_path / "scale.ptx", "-o", tmp_path / "scale.cubin"]
    subprocess.run(command, check=True, timeout=60)
    x, out = numbers(), torch.empty(SIZE, device="cuda")
    plan((tmp_path / "scale.cubin").read_bytes(), dispatch("scale", 5))(x, out)
    assert torch.equal(out, x * 5)


def test_steps_run_in_order() -> None:
    """Catches a copy or a fill on another stream than the launches beside it."""
    constants = numbers(1).cpu().numpy().tobytes()
    steps = (
        dispatch("scale", 2, target=2),  # the transient
        dispatch("scale", 3, source=2),
        Copy(Range(3, 0, 1024), Range(1, 1024, 1024)),  # the constants
        Fill(Range(1, 2048, 64), 0x3F800000, 4),
        Fill(Range(1, 2112, 64), 0x3F80, 2),
        Fill(Range(1, 2176, 64), 1, 1),
        Fill(Range(1, 2240, 64), 0x400921FB54442D18, 8),
    )
    made, x, out = plan(SCALE, *steps, transient_bytes=4 * SIZE, constants=constants), numbers(), numbers(2)
    made(x, out)
    expected = x * 6
    expected[256:512] = numbers(1)[:256]
    raw = expected.view(torch.uint8)
    raw[2048:2112].view(torch.float32).fill_(1)
    raw[2112:2176].view(torch.int16).fill_(0x3F80)
    raw[2176:2240].fill_(1)
    raw[2240:2304].view(torch.float64).fill_(torch.pi)
    assert torch.equal(out.view(torch.uint8), raw)


def test_streams() -> None:
    """Catches work on another stream than torch's current one: it would read what is not written yet."""
    scale, streams, found = plan(SCALE, dispatch("scale", 3)), [torch.cuda.Stream() for _ in range(8)], []
    x = numbers()
    torch.cuda.synchronize()
    for turn in range(20):
        for stream in streams:
            with torch.cuda.stream(stream):
                torch.cuda._sleep(20_000)
                late = x + turn
                out = torch.empty_like(late)
                scale(late, out)
                found.append((turn, out * 1))
    torch.cuda.synchronize()
    assert all(torch.equal(out, (x + turn) * 3) for turn, out in found)


def test_threads_share_a_plan() -> None:
    """Catches parameters of one thread in another's launch, and a thread for which the driver has no context."""
    scale, wrong = plan(SCALE, dispatch("scale", 3)), []

    def work(seed: int) -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            x = numbers(seed)
            for turn in range(200):
                out = torch.empty_like(x)
                scale(x + turn, out)
                if not torch.equal(out, (x + turn) * 3):
                    wrong.append((seed, turn))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_thread_that_has_used_no_gpu() -> None:
    """Catches a launch that fails in a thread without a context, where torch's allocator asks for none."""
    scale, x, out = plan(SCALE, dispatch("scale", 3)), numbers(), torch.empty(SIZE, device="cuda")
    scale(x, out)
    thread = threading.Thread(target=lambda: scale(out, x))
    thread.start()
    thread.join()
    assert torch.equal(x, out * 3)


def around(steps: int) -> Plan:
    """A plan that adds `steps` and turns its input around as often, by kernels that wait for those before them.

    They alternate between two halves of the transient, so that each writes what the one before it read.
    """
    middle = [Range(2, start, 4 * SIZE) for start in (0, 4 * SIZE)]
    places = [Range(0, 0, 4 * SIZE), *(middle[number % 2] for number in range(steps - 1)), Range(1, 0, 4 * SIZE)]
    launches = [
        Dispatch("turn_around", (SIZE // 128, 1, 1), (128, 1, 1), 0, (), pair, waits=True) for pair in pairwise(places)
    ]
    return plan(TURN_AROUND, *launches, transient_bytes=8 * SIZE)


def needs_overlaps() -> None:
    if torch.cuda.get_device_capability() < (9, 0):
        pytest.skip("kernels of this GPU can't wait by themselves: run it on one of sm_90 or later")


def test_kernels_that_wait_by_themselves() -> None:
    """Catches a kernel that is launched early and reads what the one before it has not written, or an older value that
    a cache has kept."""
    needs_overlaps()
    made, x, out = around(501), numbers().round(), torch.empty(SIZE, device="cuda")
    for _ in range(20):
        made(x, out)
        assert torch.equal(out, x.flip(0) + 501)


def test_kernels_that_wait_in_a_capture() -> None:
    """Catches a graph whose kernels begin before a fill, a copy, a kernel of torch's or another stream has ended."""
    needs_overlaps()
    made, x, out, graph = around(101), numbers().round(), torch.empty(SIZE, device="cuda"), torch.cuda.CUDAGraph()
    given, beside, side = torch.empty_like(x), torch.empty_like(x), torch.cuda.Stream()
    made(x, out)
    with torch.cuda.graph(graph):
        given.copy_(x)
        made(given, out)
        given.zero_()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            made(out, beside)
        torch.cuda.current_stream().wait_stream(side)
        made(beside, given)
        out.add_(given)
    for _ in range(20):
        out.fill_(-1), beside.fill_(-1), given.fill_(-1)
        graph.replay()
        assert torch.equal(beside, x + 202)
        assert torch.equal(given, x.flip(0) + 303)
        assert torch.equal(out, 2 * x.flip(0) + 404)


def test_first_call_in_a_capture() -> None:
    """Catches code that can't be loaded, or constants that can't be uploaded, while a graph is being captured."""
    steps = (dispatch("scale", 2, target=2), dispatch("scale", 3, source=2), Copy(Range(3, 0, 64), Range(1, 0, 64)))
    made = plan(SCALE + "\n// of this test", *steps, transient_bytes=4 * SIZE, constants=bytes(64))
    x, graph = numbers(), torch.cuda.CUDAGraph()
    out = torch.zeros_like(x)
    with torch.cuda.graph(graph):
        made(x + 1, out)
        result = out * 2
    for seed in range(1, 4):
        x.copy_(numbers(seed))
        graph.replay()
        expected = (x + 1) * 6
        expected[:16] = 0
        torch.testing.assert_close(result, expected * 2)


def test_constants_outlive_their_plan_under_a_graph() -> None:
    """Catches a graph of the user's that reads constants given back when their plan was forgotten."""
    contents = array("f", range(1, 17)).tobytes()
    made = plan(SCALE, Copy(Range(3, 0, 64), Range(1, 0, 64)), constants=contents)
    x, out, graph = numbers(), torch.zeros(SIZE, device="cuda"), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made(x, out)
    del made
    gc.collect()
    other = plan(SCALE, Copy(Range(3, 0, 64), Range(1, 0, 64)), constants=bytes([255]) * 64)
    other(x, torch.zeros(SIZE, device="cuda"))
    graph.replay()
    assert out[:16].tolist() == list(range(1, 17))


def test_training_with_dropout_in_a_graph_of_the_users() -> None:
    """Catches a forward that asks for the generator's state while the user captures, which PyTorch refuses."""
    compiled = torch.compile(lambda x: torch.nn.functional.dropout(x, 0.5) * 3, backend="dovetail")
    x, graph, side = (
        torch.rand(4096, device="cuda").add_(1).requires_grad_(),
        torch.cuda.CUDAGraph(),
        torch.cuda.Stream(),
    )
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            compiled(x).sum().backward()
    torch.cuda.current_stream().wait_stream(side)
    x.grad = None
    with torch.cuda.graph(graph):
        made = compiled(x)
        made.sum().backward()
    masks = []
    for _ in range(2):
        graph.replay()
        torch.testing.assert_close(x.grad * x.detach(), made.detach())
        masks.append(x.grad != 0)
    assert not torch.equal(*masks)


def test_nothing_waits_for_the_host() -> None:
    """Catches a call that waits for the GPU."""
    scale, x, out = plan(SCALE, dispatch("scale", 3)), numbers(), torch.empty(SIZE, device="cuda")
    scale(x, out)
    torch.cuda.synchronize()
    torch.cuda._sleep(400_000_000)
    begin = time.perf_counter()
    scale(x, out)
    seconds = time.perf_counter() - begin
    assert not torch.cuda.current_stream().query()
    assert seconds < 0.05


def test_more_shared_memory_than_by_default() -> None:
    """Catches a launch that is refused because nobody asked for more than 48 KiB."""
    made, x, out = plan(SHARED, dispatch("through_shared", shared=98304 + 512)), numbers(), numbers(1)
    made(x, out)
    assert torch.equal(out, x)


def test_too_much_shared_memory_is_named() -> None:
    """Catches a refusal without the kernel's name."""
    made = plan(SHARED, dispatch("through_shared", shared=1 << 20))
    with pytest.raises(LaunchError, match="region 'region_0': kernel 'through_shared' asks for 1048576 bytes"):
        made(numbers(), numbers())


def test_kernel_that_spills_is_refused() -> None:
    """Catches a kernel that runs a hundred times slower than it should."""
    made = plan(SPILLING, dispatch("spilling"))
    with pytest.raises(LaunchError, match="'spilling' keeps 8192 bytes a thread in local memory"):
        made(numbers(), numbers())
    with pytest.raises(LaunchError, match="kernel 'spilling' keeps 8192 bytes"):
        made.library.check(0, [dispatch("spilling")])


def test_bad_code_is_named() -> None:
    """Catches the driver's message on PTX that gets lost."""
    made = plan(SCALE.replace("mul.f32", "mul.f33"), dispatch("scale", 3))
    with pytest.raises(LaunchError, match=r"region 'region_0': PTX can't be loaded onto cuda:0 \(.*\): CUDA_ERROR"):
        made(numbers(), numbers())


def test_other_parameters_are_refused() -> None:
    """Catches a kernel that reads parameters which it was not given."""
    made = plan(SCALE, dispatch("scale"))
    with pytest.raises(LaunchError, match=r"takes parameters of \[8, 8, 4\] bytes, the plan gives \[8, 8\]"):
        made(numbers(), numbers())


def test_out_of_memory_leaves_the_next_call_alone() -> None:
    """Catches parameters of a call without memory that the next one gets."""
    large = plan(SCALE, dispatch("scale", 3), transient_bytes=1 << 45)
    with pytest.raises(torch.OutOfMemoryError):
        large(numbers(), numbers())
    scale, x, out = plan(SCALE, dispatch("scale", 3)), numbers(), numbers(1)
    scale(x, out)
    assert torch.equal(out, x * 3)


def test_unaligned_input_is_copied() -> None:
    """Catches a vector load that faults."""
    scale, out = plan(SCALE, dispatch("scale", 3)), numbers(1)
    x = torch.randn(SIZE + 1, device="cuda")[1:]
    scale(x, out)
    assert torch.equal(out, x * 3)


def test_result_elsewhere_is_refused() -> None:
    """Catches a kernel on addresses of the CPU's."""
    scale = plan(SCALE, dispatch("scale", 3))
    with pytest.raises(ValueError, match=r"region 'region_0', argument 1: got .* on cpu"):
        scale(numbers(), torch.empty(SIZE))
    with pytest.raises(ValueError, match=r"region 'region_0', argument 0: got .* on cpu"):
        scale(torch.empty(SIZE), numbers())


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two GPUs: python -m dovetail.tools.gpu on such a host")
def test_two_gpus() -> None:
    """Catches a kernel of one GPU on another, and a thread that is left on another GPU."""
    scale = plan(SCALE, dispatch("scale", 3))
    for number in (0, 1, 0):
        x = numbers(number).to(f"cuda:{number}")
        out = torch.empty_like(x)
        scale(x, out)
        assert torch.equal(out, x * 3)
        assert torch.cuda.current_device() == 0


def in_new_process(code: str) -> str:
    """What `code` prints, its process ended."""
    head = f"import sys; sys.path.insert(0, {str(SUPPORT)!r})\nfrom gpu_kernels import *\n"
    ran = subprocess.run([sys.executable, "-c", head + code], capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_sticky_error_is_named() -> None:
    """Catches a kernel's failure that is blamed on a later launch, or swallowed."""
    code = f"""
FAULT = {FAULT!r}
from dovetail.errors import LaunchError
x, out = torch.zeros(SIZE, device="cuda"), torch.zeros(SIZE, device="cuda")
scale = plan(SCALE, dispatch("scale", 3))
scale(x, out)
plan(FAULT, dispatch("fault"))(x, out)
try:
    torch.cuda.synchronize()
except RuntimeError:
    pass
try:
    scale(x, out)
except LaunchError as error:
    print(error)
"""
    said = in_new_process(code)
    assert "region 'region_0', step 0, kernel 'scale' on cuda:0: CUDA_ERROR_ILLEGAL_ADDRESS" in said
    assert "CUDA_LAUNCH_BLOCKING=1" in said


def test_forked_child_is_told() -> None:
    """Catches a child process that launches on its parent's handles, and a parent that is harmed by it."""
    code = """
import os
x, out = torch.ones(SIZE, device="cuda"), torch.zeros(SIZE, device="cuda")
scale = plan(SCALE, dispatch("scale", 3))
scale(x, out)
torch.cuda.synchronize()
reading, writing = os.pipe()
if not os.fork():
    try:
        scale(x, out)
    except RuntimeError as error:
        os.write(writing, str(error).encode())
    os._exit(0)
os.wait()
print(os.read(reading, 10000).decode())
scale(out, x)
print(x.sum().item())
"""
    said = in_new_process(code)
    assert "was forked from" in said
    assert "9216.0" in said
