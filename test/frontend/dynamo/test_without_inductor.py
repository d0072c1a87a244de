"""What stays out of a process that needs nothing of it."""

import pytest
from new_process import run_python

PROGRAM = """
import sys
import torch

parameter = torch.nn.Parameter(torch.ones(3))
parameter.grad = torch.ones(3)
torch.compile(torch.optim.SGD([parameter], lr=0.5).step, backend="dovetail")()
assert parameter.tolist() == [0.5] * 3
print("torch._inductor.lowering" in sys.modules)
"""


@pytest.mark.host
def test_a_compiled_optimizer_does_not_import_inductor():
    """Catches seconds of imports for a question about CUDA graphs, which Dynamo asks of gradients on CPUs, too."""
    run = run_python(PROGRAM)
    assert run.stdout.strip() == "False", run
