"""lit's configuration for the whole repository: `lit -v .` runs everything, `lit -v test/passes/x.mlir` one file.

The suite's root is the repository, so that both work from there; test/lit.local.cfg says which files are tests.
"""

import sys
from pathlib import Path

import lit.formats

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

config.substitutions += [
    *((rf"\bdovetail-{each}\b", f"{sys.executable} -m dovetail.tools.{each}") for each in ("opt", "compile", "run")),
    (r"\bFileCheck\b", f"{sys.executable} -m filecheck"),
    (r"%python\b", sys.executable),
]
