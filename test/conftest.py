"""What every pytest file shares."""

import functools
import gc
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

STACKLESS = SimpleNamespace(extract_stack=list, format_list=list, format_stack=list)
REPOSITORY = Path(__file__).resolve().parent.parent
LONGEST = ("benchmark", "docs", "fuzz", "integration", "packaging", "tools")

# As in lit.cfg.py: nothing is downloaded, and the user's cache is left alone.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["DOVETAIL_CACHE_DIR"] = str(REPOSITORY / "build" / "cache")
# A test tests the compiler, not what an earlier run's made.
os.environ.setdefault("DOVETAIL_CACHE_PROGRAMS", "0")

# Dynamo would collect garbage after each graph, a twentieth of a small one's compilation.
os.environ["TORCH_DYNAMO_RUN_GC_AFTER_COMPILE"] = "0"

# pytest-xdist's workers are as many as the cores: threads that wait for those of other workers spin meanwhile, and the
# compiler, run twice at once for the regions of one graph, costs half as much again.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# Tracing makes so many objects that collecting them as often as Python would takes a tenth of the time. Most of a
# million are gone before they are looked at; older ones are looked at after five million, as with smaller steps.
gc.set_threshold(1_000_000, 5, 100)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        default="cpu",
        choices=("cpu", "cuda", "emulated-cuda"),
        help="where tests make their tensors; emulated-cuda: in the host's memory, by the CPU's kernels",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Has tests make tensors on the device, in programs, too; an emulated one must be there before PyTorch is.

    Whoever only gives them to workers is spared the import of PyTorch, for which these would wait.
    """
    device = config.getoption("--device")
    if config.getoption("tx", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        return
    if device == "emulated-cuda":
        import emulated_cuda

        emulated_cuda.install()
    if device != "cpu":
        import torch

        torch.set_default_device("cuda")


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """The type of device that tests make their tensors on: "cpu" or "cuda"."""
    return request.config.getoption("--device").removeprefix("emulated-")


@pytest.fixture(autouse=True)
def on_emulated_device(request: pytest.FixtureRequest, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is emulated runs regions op by op, by the CPU's kernels."""
    if request.config.getoption("--device") != device:
        request.getfixturevalue("op_by_op")
        from dovetail.dialects.torch_facts.kernel_layouts import KERNELS

        monkeypatch.setitem(KERNELS, "cuda", "cpu")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The folders with the longest tests go first, so that no worker is left alone with one at the end."""
    for item in items:
        if item.get_closest_marker("host") and item.config.getoption("--device") != "cpu":
            item.add_marker(pytest.mark.skip(reason="is about code for the CPU: run it without --device"))
        if item.get_closest_marker("compiled") and item.config.getoption("--device") == "emulated-cuda":
            reason = "needs compiled regions or a GPU's own kernels: run it without --device, or with --device cuda"
            item.add_marker(pytest.mark.skip(reason=reason))
    on_gpu = [item for item in items if item.get_closest_marker("cuda")]
    if on_gpu and not _has_gpu():
        skip = pytest.mark.skip(reason="needs an NVIDIA GPU: run `python -m dovetail.tools.gpu` on a host with one")
        for item in on_gpu:
            item.add_marker(skip)
    items.sort(key=lambda item: item.path.relative_to(REPOSITORY / "test").parts[0] not in LONGEST)


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return REPOSITORY


@pytest.fixture(autouse=True)
def independence(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Gives each test the same random stream and no graph that an earlier test compiled.

    torch is looked up and not imported: most tests of tools and layering live without it.
    """
    if "torch._dynamo.guards" in sys.modules:
        # Its log holds Inductor's options, too.
        monkeypatch.setattr("torch._dynamo.utils._scrubbed_inductor_config_for_logging", lambda: None, raising=False)
        # Six states of a generator that counts, as no CPU has: fake tensors, a twentieth of tracing.
        monkeypatch.setattr("torch._decomp.decompositions_for_rng.PhiloxState.reset", lambda _: None, raising=False)
        # Where fake tensors were first asked for, each time: a stack as deep as pytest's, with the lines of its files.
        monkeypatch.setattr("torch._subclasses.fake_tensor.traceback", STACKLESS)
    if "torch.testing._internal.opinfo.core" in sys.modules:
        # For each list of samples: a look for a test of unittest's on the stack, as deep as pytest's.
        monkeypatch.setattr("torch.testing._internal.opinfo.core.extract_test_fn", lambda: None)
        monkeypatch.setattr("torch.testing._internal.common_utils.extract_test_fn", lambda: None)
    if "torch" in sys.modules:
        # pytest listens to every logger that doesn't propagate, and PyTorch writes its trace only where somebody does:
        # each graph, guard and timing as JSON. This logger is none that pytest finds.
        monkeypatch.setattr("torch._logging._internal.trace_log", logging.Logger("torch.__trace"))
        # `torch.manual_seed` keeps, for kinds of device that never come, the stack that it was called from, as text.
        for kind in ("cuda", "mtia", "xpu"):
            monkeypatch.setattr(f"torch.{kind}.traceback", STACKLESS)
        sys.modules["torch"].default_generator.manual_seed(0)
    yield
    if "torch._dynamo" in sys.modules:
        sys.modules["torch._dynamo"].reset()


@pytest.fixture
def op_by_op(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs regions op by op through ATen, without IREE's compiler, which takes most of the time of a small test.

    For tests of what stands around the regions: what shares memory, is written, returned and differentiated. What IREE
    has to do with that, the rows of docs/semantics.md hold, which run through it.
    """
    monkeypatch.setattr("dovetail.compiler.begun", lambda *_: nullcontext())
    monkeypatch.setattr("dovetail.compiler.build", lambda *_: {})
    monkeypatch.setattr("dovetail.compiler.make_context", _context)


@pytest.fixture
def young_garbage() -> Iterator[None]:
    """Has `gc.collect` look at what was made since: at PyTorch and what earlier tests made takes a third of a second.

    What is older counts as in use, so that a test of what dies finds no less that lives.
    """
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def remembered_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs IREE's compiler once for each text, whichever test asks first.

    For tests that have a cache of their own, and are about something else than that the compiler runs.
    """
    from remembered_runs import remembering

    from dovetail.backends.compiling.compiler_runs import CompilerRuns

    folder = REPOSITORY / "build" / "cache" / "runs"
    for name in ("run", "run_passes"):
        monkeypatch.setattr(CompilerRuns, name, remembering(getattr(CompilerRuns, name), folder))


@functools.cache
def _context() -> Any:
    """One context for many graphs: making it takes a tenth of a small graph's compilation."""
    from dovetail.dialects.context import make_context

    return make_context()
