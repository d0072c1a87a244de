"""lit's configuration for the whole repository: `lit -v .` runs everything, `lit -v test/passes/x.mlir` one file.

The suite's root is the repository, so that both work from there; test/lit.local.cfg says which files are tests.
"""

import sys
from pathlib import Path

import lit.formats

from dovetail.tools.command_server import start

repository = Path(__file__).resolve().parent

config.name = "dovetail"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = str(repository)
config.test_exec_root = str(repository / "build" / "lit")
config.maxIndividualTestTime = 60
config.excludes = {entry.name for entry in repository.iterdir()} - {"test"}

# As in test/conftest.py: nothing is downloaded, and the user's cache is left alone.
config.environment["HF_HUB_OFFLINE"] = "1"
config.environment["DOVETAIL_CACHE_DIR"] = str(repository / "build" / "cache")
config.environment["DOVETAIL_CACHE_PROGRAMS"] = "0"
# Tests run beside one another: threads that wait for others spin meanwhile.
config.environment["OMP_NUM_THREADS"] = "1"

# Commands are forks of processes; test/packaging/test_install.py runs them as their users do. Forks of one that has
# imported PyTorch take longer than all that FileCheck does, or most passes: these have processes of their own.
serving, passing, checking = (start(config.environment) for _ in range(3))
# What asks PyTorch: a run, and which of ATen's kernels write to memory that they are given.
asking = r"[^|]*(--run-check|write-joined|write-scattered)"
config.substitutions += [
    (rf"\bdovetail-opt\b(?!{asking})", f"{passing} dovetail-opt"),
    (rf"\bdovetail-opt\b(?={asking})", f"{serving} dovetail-opt"),
    *((rf"\b{each}\b", f"{serving} {each}") for each in ("dovetail-compile", "dovetail-run")),
    (r"\bFileCheck\b", f"{checking} filecheck"),
    (r"%python\b", sys.executable),
]
