"""The names of the functions that Dynamo traces are for its logs: where these are off nobody looks for them."""

import pytest
import torch
from new_process import run_python
from torch._dynamo import funcname_cache

PROGRAM = """
import torch

torch._logging.set_logs(trace_call=True, trace_source=True)
torch.compile(torch.nn.SiLU(), backend="dovetail")(torch.ones(2))
"""


@pytest.mark.usefixtures("op_by_op")
def test_no_file_is_split_into_tokens():
    """Catches a tenth of a second for each large file that a model's code stands in, spent for logs that are off."""
    funcname_cache.clearcache()
    torch._dynamo.reset()
    torch.compile(torch.nn.SiLU(), backend="dovetail")(torch.ones(2))
    assert not funcname_cache.cache


@pytest.mark.host
def test_logs_that_are_on_say_them():
    """Would catch logs that lack the names."""
    run = run_python(PROGRAM)
    lines = [line for line in run.stderr.splitlines() if "in forward (SiLU.forward)" in line]
    assert any("TRACE FX call silu" in line for line in lines), run
    assert any("TRACE starts_line" in line for line in lines), run
