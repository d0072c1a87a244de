"""Copies of Dynamo's graphs say what the graph says, and refer to none of the call's arguments."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("op_by_op")


@pytest.mark.parametrize("checkpointed", [False, True])
def test_parameters_can_be_swapped_after_a_call(checkpointed: bool):
    """Catches a weak reference to a parameter, with which `swap_tensors`, and so `load_state_dict`, refuses it."""
    linear = torch.nn.Linear(3, 3, bias=False)

    def fn(x):
        return torch.utils.checkpoint.checkpoint(linear, x, use_reentrant=False) if checkpointed else linear(x)

    compiled = torch.compile(fn, backend="dovetail", fullgraph=True)
    x = torch.ones(2, 3)
    compiled(x).sum().backward()
    linear.weight.grad = None
    torch.utils.swap_tensors(linear.weight, torch.nn.Parameter(torch.eye(3)))
    torch.testing.assert_close(compiled(x), x)
