"""Torch's types, read and built."""

import gc
import weakref

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context
from dovetail.dialects.torch_facts.read_once import read_once, types_read_once
from dovetail.dialects.torch_facts.types import (
    DTYPE_NAMES,
    holds_tensors,
    is_memory_type,
    is_tensor,
    is_torch_type,
    is_value_type,
    memory_type,
    require_shaped_info,
    require_tensor_info,
    tensor_info,
    torch_type,
    value_type,
    with_dtype,
    with_shape,
)


@pytest.fixture
def context() -> ir.Context:
    return make_context()


@pytest.mark.parametrize("dtype", sorted(DTYPE_NAMES))
def test_what_is_built_is_read_back(dtype: str, context: ir.Context):
    """Catches an element type that is written otherwise than it is read."""
    made = with_dtype(with_shape(torch_type("vtensor<[2,3],f32>", context), [4, 1, 0]), dtype)
    info = require_tensor_info(made)
    assert (info.shape, info.dtype, info.numel, info.contiguous_strides) == ((4, 1, 0), dtype, 0, (1, 1, 1))


@pytest.mark.parametrize("text", ["[],f32", "[2,3],complex<f64>", "[?,3],si64"])
def test_value_and_memory_are_each_others(text: str, context: ir.Context):
    """Catches memory of another size than its value's, or a type lost whose sizes are not all known."""
    value, memory = torch_type(f"vtensor<{text}>", context), torch_type(f"tensor<{text}>", context)
    assert (memory_type(value), value_type(memory)) == (memory, value)
    assert (is_value_type(value), is_memory_type(value)) == (True, False)
    assert (is_value_type(memory), is_memory_type(memory)) == (False, True)


def test_sizes_that_are_not_known_are_said(context: ir.Context):
    """Catches a tensor of unknown size that is taken for one with few elements."""
    unknown = torch_type("vtensor<[?,3],f32>", context)
    assert tensor_info(unknown) is None
    assert not is_tensor(unknown)
    with pytest.raises(ValueError, match=r"static sizes, got '!torch\.vtensor<\[\?,3\],f32>'"):
        require_tensor_info(unknown)
    assert require_shaped_info(unknown).shape == (None, 3)
    assert not require_shaped_info(unknown).is_static
    assert with_shape(with_shape(unknown, [1, 2]), [None, 3]) == unknown
    with pytest.raises(ValueError, match=r"a ranked torch tensor type, got '!torch\.none'"):
        require_shaped_info(torch_type("none", context))


@pytest.mark.parametrize(
    ("text", "holds"),
    [("int", False), ("list<int>", False), ("list<vtensor>", True), ("tensor<[1],f32>", True), ("none", False)],
)
def test_what_holds_tensors(text: str, holds: bool, context: ir.Context):
    """Catches a list of tensors that is taken for a constant, and cloned wherever it is used."""
    assert holds_tensors(torch_type(text, context)) == holds
    assert is_torch_type(torch_type(text, context), text)


@pytest.mark.usefixtures("young_garbage")
def test_types_are_forgotten_with_the_block():
    """Catches what is known of types outliving a pass: each type would keep its context alive."""
    context = ir.Context()
    alive = weakref.ref(context)
    with types_read_once():
        assert not is_tensor(ir.Type.parse("i32", context))
        del context
    gc.collect()
    assert alive() is None


def test_what_an_inner_block_read_is_known_after_it(context: ir.Context):
    """Catches each pass, and each check that a module is loaded with, reading the same types again."""
    asked = []
    described = read_once(lambda type_: asked.append(type_) or str(type_))
    with types_read_once():
        for _ in range(2):
            with types_read_once():
                described(ir.Type.parse("i32", context))
    assert len(asked) == 1


def test_types_of_two_contexts_are_told_apart(context: ir.Context):
    """Catches what is known of a type being found for one of another context, or for another type."""
    other = make_context()
    with types_read_once():
        infos = [require_tensor_info(torch_type(f"vtensor<[{n}],f32>", of)) for of in (context, other) for n in (2, 3)]
    assert [info.shape for info in infos] == [(2,), (3,), (2,), (3,)]
