"""Recurrent networks, which PyTorch's kernels in Python take apart otherwise than those in C++ do."""

import copy

import pytest
import torch
from torch import nn

import dovetail
from test.support.differential import assert_same

CELLS = [nn.LSTM, nn.GRU, nn.RNN]


@pytest.fixture(autouse=True)
def _traced(op_by_op: None):
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


@pytest.mark.host  # cuDNN's dropout draws numbers of its own
@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_dropout_between_layers(cell: type, grad: bool):
    """Nothing was dropped out between layers, in training: silently other numbers, and other ones drawn later."""
    layers = 2 if grad else 3  # whose order shows without gradients, too
    copied = copy.deepcopy(cell(4, 5, num_layers=layers, dropout=0.5, bidirectional=not grad, batch_first=True))
    with torch.set_grad_enabled(grad):
        assert_same(copied, torch.rand(3, 2, 4, requires_grad=grad), train=grad)


@pytest.mark.parametrize("options", [{}, {"bias": False, "batch_first": True}, {"proj_size": 3, "num_layers": 2}])
def test_weights_alone_need_gradients(options: dict):
    """An LSTM whose input needs no gradient ran eagerly, by a defect; its kernel has no gradient for the weights."""
    assert_same(copy.deepcopy(nn.LSTM(4, 5, **options)), torch.rand(2, 2, 4))


@pytest.mark.parametrize("options", [{}, {"batch_first": True, "bidirectional": True, "num_layers": 2}])
def test_lstm_of_any_size(options: dict):
    """Each number of steps or rows was compiled anew: the kernel in C++ asks for a number of elements."""
    cell = copy.deepcopy(nn.LSTM(4, 5, **options))
    before = dovetail.stats()
    with torch.no_grad():
        inputs = [(torch.rand(*size, 4),) for size in ((6, 3), (4, 7), (11, 2))]
        assert_same(cell, *inputs[0], train=False, later=inputs[1:], dynamic=True)
    after = dovetail.stats()
    assert after.graphs - before.graphs == 1
    assert after.specialised == before.specialised


@pytest.mark.parametrize(
    ("cell", "options"), [(nn.LSTM, {}), (nn.GRU, {}), (nn.RNN, {"num_layers": 2, "dropout": 0.5})]
)
def test_trained_on_any_batch(cell: type, options: dict):
    """Each number of rows was compiled anew."""
    cell = copy.deepcopy(cell(4, 5, **options))
    before = dovetail.stats().graphs
    inputs = [(torch.rand(2, rows, 4, requires_grad=True),) for rows in (6, 4, 11)]
    assert_same(cell, *inputs[0], later=inputs[1:], dynamic=True)
    assert dovetail.stats().graphs - before == 1
