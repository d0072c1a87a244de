"""What tests of code for GPUs share."""

import pytest
from compiled_regions import compile_regions

from dovetail.backends.compiling import iree
from dovetail.backends.compiling.outcomes import Outcome
from dovetail.backends.cuda import assembler
from dovetail.backends.target import target_for_device


@pytest.fixture(scope="module")
def compiled(request: pytest.FixtureRequest) -> dict[str, Outcome]:
    """All of the module's `REGIONS`, as PTX, by one run of the compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembler, "assembler", lambda: "")
        patch.setattr(iree, "_failures", {})
        return compile_regions(request.module.REGIONS, target_for_device("cuda:sm_90"), timeout=60, plans=True, jobs=1)
