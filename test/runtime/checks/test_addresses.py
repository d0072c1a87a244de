"""Where tensors lie: the extension, which answers for many at once, and what answers for one must say the same."""

import pytest
import torch

from dovetail.backends.target import ALIGNMENT
from dovetail.dialects.statements.devices import CPU
from dovetail.runtime.checks import addresses
from dovetail.runtime.extension import unusable

pytestmark = pytest.mark.skipif(bool(unusable()), reason=f"needs the extension, which the install builds: {unusable()}")

TENSORS = {
    "rows": torch.ones(4, 8),
    "parameter": torch.nn.Parameter(torch.ones(3)),
    "scalar": torch.tensor(2.0),
    "columns": torch.ones(4, 8).t(),
    "one element of any step": torch.ones(64).as_strided((1, 1), (7, 5)),
    "one row of any step": torch.ones(64).as_strided((1, 3), (7, 1)),
    "repeated": torch.ones(1).expand(3),
    "empty": torch.ones(0, 3),
    "empty of any step": torch.ones(64).as_strided((0, 3), (1, 9)),
    "misaligned": torch.ones(9)[1:],
    "negative": torch._neg_view(torch.ones(4)),
    "without memory": torch._efficientzerotensor(3),
    "half": torch.ones(3, dtype=torch.bfloat16),
    "bool": torch.ones(3, dtype=torch.bool),
    "complex": torch.ones(3, dtype=torch.complex64),
    "eight bits": torch.ones(3).to(torch.float8_e4m3fn),
}


@pytest.mark.parametrize("tensor", TENSORS.values(), ids=TENSORS.keys())
def test_both_say_the_same(tensor: torch.Tensor):
    """Would catch a region that is handed memory with other numbers than the tensor shows, or too little of it."""
    good = torch.ones(2)
    assert addresses.are_importable(CPU)((good, tensor, good)) == addresses.is_importable(tensor)
    expected = [good.data_ptr(), tensor.data_ptr()]
    assert memoryview(addresses.addresses([good, tensor])).cast("Q").tolist() == expected


def test_without_the_extension(monkeypatch: pytest.MonkeyPatch):
    """Would catch an install without a C compiler that can't run what mutates its arguments."""
    given = tuple(TENSORS.values())
    expected = addresses.addresses(given), [addresses.are_importable(CPU)((each,)) for each in given]
    monkeypatch.setattr(addresses, "extension", lambda: None)
    assert (addresses.addresses(given), [addresses.are_importable(CPU)((each,)) for each in given]) == expected


def test_what_differs_from_before_is_asked_anew(monkeypatch: pytest.MonkeyPatch):
    """Would catch tensors that pass for those of the last call, and some that lie well and are refused since it."""
    monkeypatch.setattr(addresses, "extension", lambda: None)
    asked, good = addresses.Importable(ALIGNMENT), torch.ones(8)
    assert asked((torch.zeros(8), torch.zeros(8)))
    assert asked((good, good))
    for tensor in TENSORS.values():
        assert asked((good, tensor)) == addresses.is_importable(tensor)


def test_what_is_no_tensor_is_refused():
    """Would catch a pointer that is read from some other object's bytes."""
    with pytest.raises(TypeError):
        addresses.addresses([torch.ones(1), 3])
    with pytest.raises(TypeError):
        addresses.Importable(ALIGNMENT)((None,))
