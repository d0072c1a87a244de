"""What `import dovetail`, the backend's entry point and `dovetail-opt` load, and how long they take beyond torch."""

import functools
import json
import subprocess
import sys

import pytest

LIMIT_MS = 100
RUNS = 5

MEASURE = """
import json, sys, time

def measure(before, module):
    __import__(before)
    loaded = set(sys.modules)
    start = time.perf_counter()
    __import__(module)
    milliseconds = (time.perf_counter() - start) * 1e3
    return milliseconds, sorted(set(sys.modules) - loaded)

print(json.dumps([measure("torch", "dovetail"), measure("torch._dynamo", "dovetail.torch_backend")]))
"""

MODULES = ["dovetail", "dovetail.torch_backend"]


@functools.cache
def measure(module: str, run: int) -> tuple[float, list[str]]:
    """The milliseconds that importing `module` takes after torch, and the modules that it loads, in a new process."""
    milliseconds, modules = _measured(run)[MODULES.index(module)]
    return milliseconds, modules


@functools.cache
def _measured(run: int) -> list[tuple[float, list[str]]]:
    done = subprocess.run([sys.executable, "-c", MEASURE], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("module", MODULES)
def test_import_is_fast(module: str) -> None:
    """Catches an import that every user of torch would pay for: torch reads the entry points of all its backends.

    A busy machine slows single runs, so one run under the limit is enough.
    """
    slow = []
    for run in range(RUNS):
        milliseconds, _modules = measure(module, run)
        if milliseconds < LIMIT_MS:
            return
        slow.append(round(milliseconds))
    pytest.fail(f"import {module} takes {min(slow)} ms, in the best of {slow}; limit {LIMIT_MS} ms")


@pytest.mark.parametrize("module", MODULES)
def test_import_loads_nothing_else(module: str) -> None:
    """Catches MLIR, IREE or another heavy dependency that is loaded before a graph needs it."""
    _milliseconds, modules = measure(module, 0)
    foreign = {name.partition(".")[0] for name in modules} - {"dovetail", "torch"} - sys.stdlib_module_names
    assert not foreign, f"import {module} also loads {sorted(foreign)}; import these where they are used"


def test_passes_need_no_torch() -> None:
    """Catches a fact of ops that imports PyTorch where it is defined: a second more for each `dovetail-opt`."""
    program = "import sys, dovetail.tools.opt.command; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
