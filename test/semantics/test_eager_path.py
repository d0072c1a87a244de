"""What can't be compiled runs eagerly and says so, or is refused in strict mode: never a wrong value, never silence."""

from contextlib import nullcontext

import pytest
import torch
from differential import assert_same
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable

import dovetail
from dovetail.errors import EagerWarning, UnsupportedError

pytestmark = pytest.mark.usefixtures("op_by_op")


def assert_runs_eagerly(fn, *arguments, message: str) -> None:
    """The result is eager's, a warning and `stats()` say why; with `strict`, an error does, before anything ran."""
    reasons = dovetail.stats().eager
    with pytest.warns(EagerWarning, match=message):
        assert_same(fn, *arguments, eager=True, graphs=0)
    assert dovetail.stats().eager - reasons
    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True, options={"strict": True})
    with pytest.raises((torch._dynamo.exc.BackendCompilerFailed, UnsupportedError), match=message):
        compiled(*arguments)


def test_element_type_that_the_ir_lacks():
    """Catches a bare KeyError from the importer in place of the argument's name."""
    message = r"argument L\['x'\]: element type torch.uint16 is not supported"
    assert_runs_eagerly(lambda x: x.view(-1), torch.zeros(2, 2, dtype=torch.uint16), message=message)


def test_tensor_on_another_device():
    """Catches a result on the inputs' device where the user asked for another: types in the IR name none."""
    compiled = torch.compile(lambda x: x.to("meta"), backend="dovetail", fullgraph=True)
    with pytest.warns(EagerWarning, match="a tensor on meta is not supported, expected cpu"):
        assert compiled(torch.ones(3)).is_meta


def test_device():
    """Catches a device without memory that is handed to a kernel."""
    compiled = torch.compile(torch.sin, backend="dovetail")
    with pytest.warns(EagerWarning, match="a tensor on meta is not supported, expected cpu or cuda"):
        assert compiled(torch.ones(3, device="meta")).is_meta


def test_functionalize():
    """Catches errors of capture, reported as defects, inside of `functionalize`, which Dynamo steps into: of what it
    wraps, and of tensors that the function has by its closure."""
    held, message = torch.ones(3), "^dovetail runs a graph eagerly: a call inside of torch.func.functionalize"

    def scale(x):
        return x.add_(1) * 2

    def shift():
        return held.add_(1) * 2

    x = torch.ones(3)
    scaled, shifted = (torch.compile(each, backend="dovetail") for each in (scale, shift))
    with pytest.warns(EagerWarning, match=message):
        result = torch.func.functionalize(scaled)(x)
    assert (result.tolist(), x.tolist(), scaled(x).tolist()) == ([4.0] * 3, [2.0] * 3, [6.0] * 3)
    with pytest.warns(EagerWarning, match=message):
        result = torch.func.functionalize(lambda x: shifted() + x)(x)
    assert (result.tolist(), held.tolist()) == ([7.0] * 3, [2.0] * 3)


def test_element_type_inside_of_the_graph():
    """Catches a KeyError in place of the element type's name and the user's source line."""

    def fn(x):
        return x.to(torch.uint16).to(torch.int32)

    message = r"test_eager_path.py:\d+: element type torch.uint16"
    assert_runs_eagerly(fn, torch.ones(3, dtype=torch.int32), message=message)


@pytest.mark.parametrize("view", ["unfold", "expand"])
def test_write_through_repeated_elements(view):
    """Catches elements that are added up, or lost, where one element is shown more than once or not at all."""
    views = {"unfold": lambda x: x.unfold(0, 1, 2), "expand": lambda x: x[:1].expand(4)}

    def fn(x):
        views[view](x).fill_(2)
        return x + 1

    assert_runs_eagerly(
        fn, torch.ones(4), message=r"test_eager_path.py:\d+: a write through `unfold`, `expand` or strides"
    )


WINDOWS = {
    "all": lambda x: x.add_(1),
    "one row": lambda x: x[0].zero_(),
    "one element": lambda x: x[1, 1].fill_(5),
    "a list": lambda x: torch._foreach_mul_([x], 2),
}


@pytest.mark.parametrize("where", ["argument", "made"])
@pytest.mark.parametrize("case", WINDOWS)
def test_write_through_strides_that_overlap(case, where):
    """Catches a row that keeps its old numbers where the row before it, which lies in the same memory, was written."""
    windows = [(3, 4), (2, 1)]

    def fn(x):
        view = x if where == "argument" else x.as_strided(*windows)
        WINDOWS[case](view)
        return view * 1

    memory = torch.arange(20.0)
    given = memory.as_strided(*windows) if where == "argument" else memory
    assert_runs_eagerly(fn, given, message=r"a write through `unfold`, `expand` or strides that overlap")


def test_strides_that_overlap_are_read():
    """Catches a program that runs eagerly for its sliding windows, which it does not write."""

    def fn(memory, given):
        view = memory.as_strided((3, 4), (2, 1))
        memory.add_(1)
        return view * 2, given.sum(0)

    assert_same(fn, torch.arange(20.0), torch.arange(9.0).as_strided((2, 3), (3, 2)))


@pytest.mark.parametrize("view", [lambda x: x.t(), lambda x: x[:, ::2], lambda x: x.as_strided((2, 3), (1, 5))])
def test_writes_between_strides(view):
    """Catches an argument that is taken for overlapping since it is no row after row: it runs eagerly."""
    assert_same(lambda x: x.add_(1), view(torch.arange(36.0).view(6, 6)), dynamic=True)


def _kept_version(x):
    with torch.autograd._unsafe_preserve_version_counter(x):
        return x.add_(1) * 2


VERSIONS = {
    "read": lambda x: x * x._version,
    "read after a write": lambda x: x.add_(1) * x._version,
    "told by": lambda x: x * 2 if x._version == 0 else x * 3,
    "kept": _kept_version,
}


@pytest.mark.parametrize("case", VERSIONS)
def test_version_counters(case):
    """Catches a counter that is 0 in each call, as one of a traced tensor is, and one that moves though it is kept."""
    compiled = torch.compile(VERSIONS[case], backend="dovetail")
    with pytest.warns(EagerWarning, match="a program that reads or sets `_version` is not supported yet"):
        actual = _called(compiled)
    torch.testing.assert_close(actual, _called(VERSIONS[case]))


def _called(fn) -> list:
    """The results of three calls with one tensor, which is written behind each, and its versions then."""
    x = torch.ones(3)
    return [(fn(x).clone(), x.add_(1)._version) for _ in range(3)]


def _allow_tf32() -> None:
    torch.backends.cuda.matmul.allow_tf32 = True


SETTINGS = {
    "set_default_dtype": (lambda: torch.set_default_dtype(torch.float64), torch.get_default_dtype),
    "_set_deterministic_algorithms": (
        lambda: torch.use_deterministic_algorithms(True),
        torch.get_deterministic_debug_mode,
    ),
    "set_float32_matmul_precision": (
        lambda: torch.set_float32_matmul_precision("high"),
        torch.get_float32_matmul_precision,
    ),
    "set_warn_always": (lambda: torch.set_warn_always(True), torch.is_warn_always_enabled),
    "set_autocast_cache_enabled": (lambda: torch.set_autocast_cache_enabled(False), torch.is_autocast_cache_enabled),
    "enable_cudnn_sdp": (lambda: torch.backends.cuda.enable_cudnn_sdp(False), torch.backends.cuda.cudnn_sdp_enabled),
    "_set_cublas_allow_tf32": (_allow_tf32, lambda: torch.backends.cuda.matmul.allow_tf32),
    "_set_check_sparse_tensor_invariants": (
        torch.sparse.check_sparse_tensor_invariants.enable,
        torch.sparse.check_sparse_tensor_invariants.is_enabled,
    ),
}


@pytest.fixture
def settings():
    """Puts back what `SETTINGS` change, when called and at the end."""

    def put_back() -> None:
        torch.set_default_dtype(torch.float32)
        torch.use_deterministic_algorithms(False)
        torch.set_float32_matmul_precision("highest")
        torch.set_warn_always(False)
        torch.set_autocast_cache_enabled(True)
        torch.backends.cuda.enable_cudnn_sdp(True)
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.sparse.check_sparse_tensor_invariants.disable()

    yield put_back
    put_back()


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_the_process(name, settings):
    """Catches a setting that a program makes when it is compiled, and in no call after that."""
    change, read = SETTINGS[name]

    def fn(x):
        change()
        return x * 2

    compiled = torch.compile(fn, backend="dovetail")
    # PyTorch 2.11 leaves this one to Python, beside the graph.
    known = TorchInGraphFunctionVariable._get_handlers()
    is_traced = name != "set_autocast_cache_enabled" or torch.set_autocast_cache_enabled in known
    says = pytest.warns(EagerWarning, match=f"{name} in a program is not supported yet")
    with says if is_traced else nullcontext():
        compiled(torch.ones(3))
    changed = read()
    settings()
    compiled(torch.ones(3))
    assert read() == changed
    settings()
    assert read() != changed


def test_seed_of_its_own():
    """Catches calls that all draw after the seed that the program took when it was compiled."""

    def fn(x):
        torch.seed()
        return torch.rand_like(x)

    compiled = torch.compile(fn, backend="dovetail")
    with torch.random.fork_rng(devices=[]):
        with pytest.warns(EagerWarning, match="seed in a program is not supported yet"):
            compiled(torch.ones(3))
        torch.manual_seed(1)
        compiled(torch.ones(3))
        assert torch.initial_seed() != 1


def test_settings_in_a_branch(settings):
    """Catches a setting that only the first call makes, since no node of the graph itself does."""

    def sine(x):
        torch.set_warn_always(True)
        return x.sin()

    compiled = torch.compile(lambda x: torch.cond(x.sum() > 0, sine, torch.cos, (x,)), backend="dovetail")
    with pytest.warns(EagerWarning, match=r"test_eager_path.py:\d+: set_warn_always in a program is not supported yet"):
        compiled(torch.ones(3))
    for number, is_set in ((1, True), (-1, False)):
        settings()
        compiled(torch.full((3,), number))
        assert torch.is_warn_always_enabled() is is_set


def test_what_eager_refuses():
    """Catches a compiled program where eager raises: a leaf that requires grad is written."""
    compiled = torch.compile(lambda x: x.mul_(2), backend="dovetail", fullgraph=True)
    with pytest.raises((RuntimeError, torch._dynamo.exc.TorchRuntimeError), match="leaf Variable"):
        compiled(torch.ones(3, requires_grad=True))


def test_writes_over_what_is_still_read():
    """Catches an in-place op that eager refuses since it reads what it writes, compiled as if it had read before."""

    def fn(x):
        return x[1:].add_(x[:-1])

    torch._dynamo.reset()
    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    with pytest.raises(RuntimeError, match="refer to a single memory location"), pytest.warns(EagerWarning):
        compiled(torch.ones(4))


def test_more_ways_of_sharing_than_the_bound():
    """Catches a variant a call without end, calls beyond it that are wrong or silent, and a file of ours named."""
    from dovetail.variants import MAX_VARIANTS

    torch._dynamo.reset()
    compiled = torch.compile(lambda x, y: x.mul_(2).sum() + y.sum(), backend="dovetail", fullgraph=True)
    base = torch.ones(64)
    for distance in range(1, MAX_VARIANTS + 1):
        base.fill_(1)
        assert compiled(base[:30], base[distance : distance + 30]) == 60 + 30 + 30 - distance
    base.fill_(1)
    with pytest.warns(EagerWarning, match=f"share memory in more than {MAX_VARIANTS} ways") as warned:
        assert compiled(base[:30], base[20:50]) == 60 + 30 + 10
    assert [each.filename for each in warned] == [__file__]
