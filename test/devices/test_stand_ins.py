"""What kernels on a GPU are asked by, so that they can be asked at all."""

import pytest
import torch

from dovetail.frontend.observe.eager_errors import eager_error

INDEXED = {
    "filled": (torch.ops.aten.index_fill.int_Scalar, lambda index: (torch.tensor(1.0), 0, index, 2.0)),
    "gathered": (torch.ops.aten.gather.default, lambda index: (torch.tensor([1.0])[0], 0, index[0])),
}


@pytest.mark.parametrize("name", INDEXED)
def test_index_lies_in_a_tensor_of_no_dimensions(name, device, monkeypatch):
    """Catches an index out of range in what is asked while a graph is compiled: on a GPU, all later work fails."""
    func, arguments = INDEXED[name]
    asked = []
    monkeypatch.setattr("dovetail.frontend.observe.eager_errors._OF_TYPES", _Everything(asked))
    eager_error(func, arguments(torch.tensor([0])), {})
    assert device == "cpu" or not asked


class _Everything:
    """In place of the pattern of errors about types: notes each error."""

    def __init__(self, asked: list[str]) -> None:
        self.search = asked.append
