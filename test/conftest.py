"""What every pytest file shares."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# As in lit.cfg.py: nothing is downloaded, and the user's cache is left alone.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["DOVETAIL_CACHE_DIR"] = str(REPOSITORY / "build" / "cache")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return REPOSITORY


@pytest.fixture(autouse=True)
def independence() -> Iterator[None]:
    """Gives each test the same random stream and no graph that an earlier test compiled.

    torch is looked up and not imported: most tests of tools and layering live without it.
    """
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    yield
    if "torch._dynamo" in sys.modules:
        sys.modules["torch._dynamo"].reset()
