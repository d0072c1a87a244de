"""What `import dovetail` and the backend's entry point load, and how long they take beyond torch."""

import functools
import json
import subprocess
import sys

import pytest

LIMIT_MS = 100
RUNS = 5

MEASURE = """
import json, sys, time
import {before}
loaded = set(sys.modules)
start = time.perf_counter()
import {module}
milliseconds = (time.perf_counter() - start) * 1e3
print(json.dumps([milliseconds, sorted(set(sys.modules) - loaded)]))
"""

CASES = [("torch", "dovetail"), ("torch._dynamo", "dovetail.torch_backend")]


@functools.cache
def measure(before: str, module: str, run: int) -> tuple[float, list[str]]:
    """Returns the milliseconds that importing `module` takes after `before`, and the modules that it loads."""
    script = MEASURE.format(before=before, module=module)
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    milliseconds, modules = json.loads(done.stdout)
    return milliseconds, modules


@pytest.mark.parametrize(("before", "module"), CASES)
def test_import_is_fast(before: str, module: str) -> None:
    """Catches an import that every user of torch would pay for: torch reads the entry points of all its backends.

    A busy machine slows single runs, so one run under the limit is enough.
    """
    slow = []
    for run in range(RUNS):
        milliseconds, _modules = measure(before, module, run)
        if milliseconds < LIMIT_MS:
            return
        slow.append(round(milliseconds))
    pytest.fail(f"import {module} takes {min(slow)} ms beyond {before}, in the best of {slow}; limit {LIMIT_MS} ms")


@pytest.mark.parametrize(("before", "module"), CASES)
def test_import_loads_nothing_else(before: str, module: str) -> None:
    """Catches MLIR, IREE or another heavy dependency that is loaded before a graph needs it."""
    _milliseconds, modules = measure(before, module, 0)
    foreign = {name.partition(".")[0] for name in modules} - {"dovetail", "torch"} - sys.stdlib_module_names
    assert not foreign, f"import {module} also loads {sorted(foreign)}; import these where they are used"
