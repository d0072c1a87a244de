"""PyTorch's numbers of element types."""

from dovetail.backends.python.aten import _SCALAR_TYPES
from dovetail.dialects.torch_facts.types import DTYPE_NAMES
from dovetail.passes.rewriting.constants import _DTYPE_NUMBERS


def test_each_element_type_has_its_number():
    """Would catch an element type of the IR that can't be filled, and a tensor that is filled as another type."""
    assert set(_DTYPE_NUMBERS) == DTYPE_NAMES
    assert {name: _SCALAR_TYPES[number] for name, number in _DTYPE_NUMBERS.items()} == {
        name: name for name in DTYPE_NAMES
    }
