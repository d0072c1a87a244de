"""CUDA graphs of host functions: the same results as without, for as long as somebody holds them.

Without a GPU a stand-in replays what was captured op by op, which shows what is captured, replayed and kept, and when.
"""

from collections.abc import Callable

import pytest
import torch
from graph_stand_in import stand_in_for_graphs

from dovetail.runtime.cuda import drawing, torch_streams
from dovetail.runtime.cuda.recorded import MAX_CAPTURES, MAX_FAILURES, MAX_RECORDINGS, Recordable, Recorded
from dovetail.runtime.cuda.recording import Recording
from dovetail.runtime.host import below_autograd
from dovetail.runtime.stats import stats


@pytest.fixture(params=["stand-in", pytest.param("cuda", marks=pytest.mark.cuda)])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where tensors of a test lie."""
    if request.param == "cuda":
        return "cuda"
    stand_in_for_graphs(monkeypatch)
    return "cpu"


def recorded(run, *stays: bool, **facts) -> Recorded:
    stats(reset=True)
    return below_autograd(Recorded(run, Recordable("forward", "", stays, **facts)))


def linear(arguments: list) -> tuple:
    weight, x = arguments
    arguments.clear()
    hidden = torch.mm(x, weight)
    return hidden.relu(), hidden, weight


@pytest.fixture
def weight(device: str) -> torch.Tensor:
    return torch.randn(64, 64, device=device)


def inputs(count: int, device: str) -> list[torch.Tensor]:
    return [torch.randn(32, 64, device=device) for _ in range(count)]


def test_replays_compute_what_calls_do(device: str, weight: torch.Tensor) -> None:
    """Catches a replay that reads the recorded call's arguments."""
    run = recorded(linear, True, False)
    for x in inputs(10, device):
        made, hidden, same = run([weight, x])
        assert torch.equal(hidden, x @ weight)
        assert torch.equal(made, hidden.relu())
        assert same is weight
        assert made._version == 0
        del made, hidden
    assert stats().recordings == 1


def test_results_stay_as_long_as_they_are_held(device: str, weight: torch.Tensor) -> None:
    """Catches a replay over what an earlier call gave, also where only a view of it is left."""
    run = recorded(linear, True, False)
    given = inputs(9, device)
    held = [run([weight, x])[1][:4] for x in given]
    assert all(torch.equal(part, (x @ weight)[:4]) for part, x in zip(held, given, strict=True))
    assert stats().recordings == MAX_RECORDINGS
    [(reason, count)] = stats().without_effect.items()
    assert reason.endswith(f"results of {MAX_RECORDINGS} earlier calls are still held")
    assert count == 9 - 1 - MAX_RECORDINGS


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("storage", [torch.Tensor.untyped_storage, torch.Tensor.storage], ids=["untyped", "typed"])
def test_results_stay_as_long_as_their_storage_is_held(device: str, weight: torch.Tensor, storage: Callable) -> None:
    """Catches a replay over a result of which the caller has kept the storage alone: its object is one for all."""
    run = recorded(linear, True, False)
    given = inputs(4, device)
    held = [storage(run([weight, x])[1]) for x in given]
    for kept, x in zip(held, given, strict=True):
        got = torch.empty(0, device=device).set_(kept, 0, (32, 64), (64, 1))
        assert torch.equal(got, x @ weight)
    del held, kept, got
    before = stats().recordings
    for x in inputs(4, device):
        assert torch.equal(run([weight, x])[1], x @ weight)
    assert stats().recordings == before


def test_parameters_are_read_where_they_are(device: str, weight: torch.Tensor) -> None:
    """Catches a replay that reads a parameter's old values, or its old place."""
    run = recorded(linear, True, False)
    for x in inputs(4, device):
        assert torch.equal(run([weight, x])[1], x @ weight)
        weight.mul_(2)
    moved = weight.clone() + 1
    for x in inputs(3, device):
        assert torch.equal(run([moved, x])[1], x @ moved)
    assert stats().recordings == 2


# Below the properties, which PyTorch's own test utilities freeze for a whole process.
_cudnn, _cuda = torch.backends.cudnn, torch.backends.cuda
SWITCHES = {
    "deterministic algorithms": (torch.are_deterministic_algorithms_enabled, torch.use_deterministic_algorithms),
    "cudnn.enabled": (lambda: _cudnn.enabled, torch._C._set_cudnn_enabled),
    "cudnn.benchmark": (lambda: _cudnn.benchmark, torch._C._set_cudnn_benchmark),
    "cudnn.deterministic": (lambda: _cudnn.deterministic, torch._C._set_cudnn_deterministic),
    "cudnn.allow_tf32": (lambda: _cudnn.allow_tf32, torch._C._set_cudnn_allow_tf32),
    "matmul.allow_tf32": (lambda: _cuda.matmul.allow_tf32, lambda on: setattr(_cuda.matmul, "allow_tf32", on)),
    "flash attention": (_cuda.flash_sdp_enabled, _cuda.enable_flash_sdp),
    "efficient attention": (_cuda.mem_efficient_sdp_enabled, _cuda.enable_mem_efficient_sdp),
    "attention by products": (_cuda.math_sdp_enabled, _cuda.enable_math_sdp),
    "cudnn's attention": (_cuda.cudnn_sdp_enabled, _cuda.enable_cudnn_sdp),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_switches_act_on_the_next_call(device: str, name: str) -> None:
    """Catches a replay by the kernels of the capture, though the user has asked for others since."""
    is_on, turn = SWITCHES[name]

    def choosing(arguments: list) -> tuple:
        return (arguments.pop() * (2 if is_on() else 3),)

    run, x, before = recorded(choosing, False), torch.ones(4, device=device), is_on()
    try:
        for on in [before] * 3 + [not before] * 3 + [before] * 2:
            turn(on)
            assert run([x])[0].tolist() == [2.0 if on else 3.0] * 4
    finally:
        turn(before)
    assert stats().recordings == 2


def test_places_that_always_change_are_given_up(device: str, weight: torch.Tensor) -> None:
    """Catches a function that is recorded anew with each call, which costs more than it gains."""
    run, kept = recorded(linear, True, False), []
    for x in inputs(MAX_CAPTURES + 4, device):
        kept.append(torch.randn_like(weight))
        assert torch.equal(run([kept[-1], x])[1], x @ kept[-1])
    assert stats().recordings == MAX_CAPTURES
    assert [each for each in stats().without_effect if "lie elsewhere again" in each]


def test_recordings_outlive_the_last_capture(device: str, weight: torch.Tensor) -> None:
    """Catches a recording that is given up for another one, though no other is made any more."""
    run, others = recorded(linear, True, False), [torch.randn_like(weight) for _ in range(MAX_CAPTURES + 2)]
    for other in others:
        run([other, weight])
    oldest = others[MAX_CAPTURES + 1 - MAX_RECORDINGS]
    noted = sum(stats().without_effect.values())
    run([oldest, weight])
    assert sum(stats().without_effect.values()) == noted


def test_updates_in_place(device: str) -> None:
    """Catches an update of a copy."""

    def update(arguments: list) -> tuple:
        x, y = arguments
        arguments.clear()
        x.add_(y)
        return (x,)

    run, x = recorded(update, True, False), torch.zeros(128, device=device)
    for turn in range(1, 6):
        [same] = run([x, torch.full((128,), float(turn), device=device)])
        assert same is x
    assert x[0].item() == 15
    assert stats().recordings == 1


def test_results_in_an_arguments_memory_are_the_given_ones(device: str, weight: torch.Tensor) -> None:
    """Catches a view of the graph's copy of an argument, where the caller gets one of the argument."""

    def views(arguments: list) -> tuple:
        weight, x = arguments
        arguments.clear()
        return weight.t(), x[1:], x

    run = recorded(views, True, False)
    for x in inputs(4, device):
        transposed, rows, same = run([weight, x])
        assert (transposed.data_ptr(), transposed.stride()) == (weight.data_ptr(), (1, 64))
        assert rows.data_ptr() == x[1:].data_ptr()
        assert same is x


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)
def test_random_numbers_are_eagers(device: str) -> None:
    """Catches replays that draw the same numbers again, and an offset that does not move as eager's."""

    def noisy(arguments: list) -> tuple:
        [x] = arguments
        arguments.clear()
        return torch.rand_like(x) + x, torch.randn_like(x)

    run, x = recorded(noisy, False), torch.zeros(1000, device=device)
    torch.cuda.manual_seed(3)
    found = []
    for _ in range(5):
        found += [each.clone() for each in run([x])]
    found.append(torch.rand(10, device=device))
    torch.cuda.manual_seed(3)
    expected = [draw(x) for _ in range(5) for draw in (torch.rand_like, torch.randn_like)]
    assert all(map(torch.equal, found, [*expected, torch.rand(10, device=device)]))
    assert stats().recordings == 1


class _Event:
    """Stands in for one of a GPU."""

    def __init__(self, said: list[str]) -> None:
        self.said = said

    def record(self) -> None:
        self.said.append("done")

    def wait(self) -> None:
        self.said.append("wait")


@pytest.mark.parametrize("draws", [False, True])
def test_replays_that_draw_wait_for_those_on_another_stream(draws: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a graph whose offset of random numbers the next one on another stream overwrites before it is read."""
    said: list[str] = []
    stand_in_for_graphs(monkeypatch)
    monkeypatch.setattr(torch.cuda, "Event", lambda: _Event(said))
    monkeypatch.setattr(drawing, "_last", {})
    runs = [recorded(lambda given: (torch.rand_like(given.pop()),), False, draws=draws) for _ in range(2)]
    for stream in (7, 7, 8, 8, 0, 7, 7, 8, 8, 7):
        if not stream:  # all are recorded
            said.clear()
            drawing._last.clear()
        monkeypatch.setattr(torch_streams, "raw_stream", lambda _, stream=stream or 9: stream)
        for run in runs:
            run([torch.ones(4)])
    assert stats().recordings == 4
    twice = ["done"] * 2
    assert said == ([*twice, *twice, "wait", *twice, *twice, "wait", *twice] if draws else [])


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)
def test_random_numbers_on_two_streams_are_eagers(device: str) -> None:
    """Catches two graphs under way at once that draw the same numbers, the later one's."""

    def noisy(arguments: list) -> tuple:
        torch.cuda._sleep(5_000_000)
        return (torch.rand_like(arguments.pop()),)

    run, x = recorded(noisy, False, draws=True), torch.zeros(1000, device=device)
    streams = [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    torch.cuda.manual_seed(3)
    found = []
    for _ in range(6):
        for stream in streams:
            with torch.cuda.stream(stream):
                found.append(run([x])[0])
        torch.cuda.synchronize()
        found = [*found[:-2], *(each.clone() for each in found[-2:])]
    torch.cuda.synchronize()
    torch.cuda.manual_seed(3)
    assert all(torch.equal(each, torch.rand_like(x)) for each in found)
    assert stats().recordings == 2


def test_what_waits_is_given_up_with_a_reason(device: str) -> None:
    """Catches a function that can't be captured, and then fails instead of running as it is."""

    def waiting(arguments: list) -> tuple:
        [x] = arguments
        arguments.clear()
        return (x * x.sum().item(),)

    run = recorded(waiting, False)
    for turn in range(4):
        x = torch.full((8,), float(turn), device=device)
        [made] = run([x])
        assert torch.equal(made, x * 8 * turn)
    assert stats().recordings == 0
    [(reason, count)] = stats().without_effect.items()
    assert reason.startswith("reduce_overhead: @forward is not replayed: ")
    assert count == 3


def test_what_always_waits_is_not_captured_again(device: str) -> None:
    """Catches a capture, which waits for the GPU, in each call of what none can be made of."""
    calls = []

    def waiting(arguments: list) -> tuple:
        calls.append(torch_streams.raw_stream(0))
        return (arguments.pop() * torch.ones((), device=device).item(),)

    run = recorded(waiting, False)
    for _ in range(MAX_FAILURES + 5):
        run([torch.ones(8, device=device)])
    assert len(calls) == MAX_FAILURES + 5 + MAX_FAILURES
    assert sum(stats().without_effect.values()) == MAX_FAILURES + 4


@pytest.mark.parametrize("turn", [1, 4])
def test_one_failure_of_a_capture_is_of_that_call(device: str, weight: torch.Tensor, turn: int) -> None:
    """Catches recordings that are dropped, and never made again, since memory was short once while one was captured."""
    calls = []

    def short_once(arguments: list) -> tuple:
        calls.append(len(calls))
        if len(calls) == turn + 1:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return linear(arguments)

    run, held = recorded(short_once, True, False), []
    for x in inputs(6, device):
        held.append(run([weight, x])[1])
        assert torch.equal(held[-1], x @ weight)
    assert stats().recordings == 4
    assert [each for each in stats().without_effect if each.endswith("CUDA out of memory")]


def test_one_expanded_tangent_is_of_that_call(device: str) -> None:
    """Catches a backward that is never replayed since one of its tangents, as of a sum, was expanded."""
    run, one = recorded(lambda given: (given.pop() * 2,), False), torch.ones(1, device=device)
    for turn in range(6):
        given = one.expand(64) if turn < 3 else torch.full((64,), float(turn), device=device)
        assert torch.equal(run([given])[0], given * 2)
    assert stats().recordings == 1
    [(reason, count)] = stats().without_effect.items()
    assert reason.endswith("elements of an argument share memory")
    assert count == 2


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)
def test_streams_have_recordings_of_their_own(device: str, weight: torch.Tensor) -> None:
    """Catches one recording's memory in use on two streams at once."""
    run, streams = recorded(linear, True, False), [torch.cuda.Stream() for _ in range(2)]
    torch.cuda.synchronize()
    for x in inputs(6, device):
        torch.cuda.synchronize()
        found = []
        for stream in streams:
            with torch.cuda.stream(stream):
                torch.cuda._sleep(50_000)
                found.append(run([weight, x])[1] * 1)
        torch.cuda.synchronize()
        assert all(torch.equal(each, x @ weight) for each in found)
    assert stats().recordings == 2


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)
def test_inside_of_a_capture_it_runs_as_it_is(device: str, weight: torch.Tensor) -> None:
    """Catches a graph inside of a graph."""
    run = recorded(linear, True, False)
    given = inputs(4, device)
    for x in given:
        run([weight, x])
    graph, x = torch.cuda.CUDAGraph(), given[0].clone()
    with torch.cuda.graph(graph):
        made = run([weight, x])[1]
    x.copy_(given[3])
    graph.replay()
    assert torch.equal(made, given[3] @ weight)


def test_backward_takes_what_a_replay_saved(device: str, weight: torch.Tensor) -> None:
    """Catches a backward that is recorded for memory which the next forward does not write."""
    forward = Recorded(linear, Recordable("forward", "", (True, False)))

    def gradient(arguments: list) -> tuple:
        hidden, tangent = arguments
        arguments.clear()
        return (tangent * (hidden > 0),)

    backward = Recorded(gradient, Recordable("backward", "", (True, False), (0,)), forward)
    stats(reset=True)
    for x in inputs(6, device):
        made, hidden, _ = forward([weight, x])
        tangent = torch.randn_like(made)
        [found] = backward([hidden, tangent])
        assert torch.equal(found, tangent * (x @ weight > 0))
        del made, hidden, found
    assert stats().recordings == 2
    foreign = torch.randn(32, 64, device=device)
    assert torch.equal(backward([foreign, tangent])[0], tangent * (foreign > 0))
    [reason] = stats().without_effect
    assert reason.endswith("were saved by a call that was not replayed")


def test_replays_do_not_ask_where_all_results_lie(
    device: str, weight: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a backward that collects the forward's results for each value that it takes: 72 times, of a ResNet."""
    asked = []
    where = Recording.made
    monkeypatch.setattr(Recording, "made", lambda recording: asked.append(recording) or where(recording))
    forward = Recorded(
        lambda given: tuple(given.pop().clone() for _ in range(9)), Recordable("forward", "", (True,) * 9)
    )
    facts = Recordable("backward", "", (*[True] * 9, False), tuple(range(9)))
    backward = Recorded(lambda given: (sum(given.copy()),), facts, forward)
    given = inputs(9, device)
    tangent = torch.randn_like(given[0])
    stats(reset=True)
    for _ in range(6):
        saved = forward(given.copy())
        backward([*saved, tangent])
        del saved
    assert stats().recordings == 2
    assert len(asked) == 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)], ids=["last", "first"])
def test_what_a_forward_makes_on_the_cpu_only_outside_of_captures(
    device: str, weight: torch.Tensor, monkeypatch: pytest.MonkeyPatch, order: tuple[int, ...]
) -> None:
    """Catches a backward that is never replayed since the first forward, which was not, made its seed on the CPU."""
    calls = []

    def attend(arguments: list) -> tuple:
        hidden = linear(arguments)[1]
        calls.append(hidden)
        early = len(calls) == 1
        return hidden, torch.zeros((), dtype=torch.int64 if early else torch.int32, device="cpu" if early else device)

    def gradient(arguments: list) -> tuple:
        hidden, tangent, seed = (arguments[order.index(place)] for place in range(3))
        arguments.clear()
        return (tangent * (hidden > 0) + seed.numel(),)

    if device == "cpu":
        monkeypatch.setattr(torch.Tensor, "get_device", lambda self: -1 if self.dtype is torch.int64 else 0)
    forward = Recorded(attend, Recordable("forward", "", (True, False)))
    stays = tuple(place != 1 for place in order)
    saved = tuple(index for index, place in enumerate(order) if place != 1)
    backward = Recorded(gradient, Recordable("backward", "", stays, saved), forward)
    stats(reset=True)
    for x in inputs(5, device):
        hidden, seed = forward([weight, x])
        tangent = torch.randn_like(hidden)
        [found] = backward([(hidden, tangent, seed)[place] for place in order])
        assert torch.equal(found, tangent * (x @ weight > 0) + 1)
        del hidden, seed, found
    assert stats().recordings == 2
    assert not stats().without_effect


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)
def test_tensors_of_the_cpu_are_no_arguments(device: str) -> None:
    """Catches a number on the CPU whose first value all replays would take."""
    run = recorded(lambda arguments: (arguments[0] * arguments[1],), False, False)
    for turn in range(4):
        x = torch.ones(4, device=device)
        assert run([x, torch.tensor(float(turn))])[0][0].item() == turn
    assert [each for each in stats().without_effect if "not all tensors on one GPU" in each]


def test_memory_taken_away_is_noticed(device: str, weight: torch.Tensor) -> None:
    """Catches a replay into memory that the user has given back."""
    run = recorded(linear, True, False)
    for x in inputs(3, device):
        made = run([weight, x])[1]
        made.untyped_storage().resize_(0)
        del made
    for x in inputs(3, device):
        assert torch.equal(run([weight, x])[1], x @ weight)


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)
def test_a_failed_capture_leaves_nothing_behind(device: str, weight: torch.Tensor) -> None:
    """Catches a thread that is left on the capture's stream, a generator that no op may use, an allocator in a pool."""

    def waiting(arguments: list) -> tuple:
        [x] = arguments
        arguments.clear()
        noisy = x + torch.rand_like(x)
        return (noisy * x.sum().item(),)

    run, x, stream = recorded(waiting, False), torch.ones(8, device=device), torch.cuda.current_stream()
    torch.cuda.manual_seed(3)
    found = [run([x])[0] for _ in range(4)]
    assert torch.cuda.current_stream() == stream
    torch.cuda.manual_seed(3)
    expected = [(x + torch.rand_like(x)) * 8 for _ in range(4)]
    assert all(map(torch.equal, found, expected))
    with pytest.raises(torch.OutOfMemoryError):  # the allocator asks whether it is in a pool
        torch.empty(1 << 45, dtype=torch.uint8, device=device)
    other = recorded(linear, True, False)
    for given in inputs(4, device):
        assert torch.equal(other([weight, given])[1], given @ weight)
    assert stats().recordings == 1


def failing(arguments: list) -> tuple:
    raise ValueError("of the function's own")


@pytest.mark.parametrize("device", [pytest.param("cuda", marks=pytest.mark.cuda)], indirect=True)
def test_an_error_of_the_functions_own_comes_through(device: str) -> None:
    """Catches an error inside of a capture that is taken for one of it."""
    run, x = recorded(failing, False), torch.ones(8, device=device)
    for _ in range(3):
        with pytest.raises(ValueError, match="of the function's own"):
            run([x])
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    assert torch.rand(2, device=device).shape == (2,)
