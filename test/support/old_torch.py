"""What PyTorch 2.11, the oldest that Dovetail runs with, fails by itself."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
import torch

IS_2_11 = torch.__version__.startswith("2.11.")


def cases(names: Iterable, fail_in_2_11: Mapping[Any, str]) -> list:
    """Parameters of a test: `names`, those marked that PyTorch 2.11 fails for the reasons given. 2.13 passes them."""
    reasons = fail_in_2_11 if IS_2_11 else {}
    marks = {name: pytest.mark.xfail(reason=f"PyTorch 2.11 {why}; 2.13 does not") for name, why in reasons.items()}
    return [pytest.param(name, marks=marks[name]) if name in marks else name for name in names]
