"""Rows say of PyTorch's CPU kernels for which of them any strides of the operands will do."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map_only

from dovetail.backends.python.on_values import callable_for
from dovetail.dialects.torch_facts.ops import Kind, row_of_name
from dovetail.dialects.torch_facts.row import Kernel, Row
from dovetail.dialects.torch_facts.rows import OPS

# By PyTorch's name of the function; together they call the library kernels and the reductions, forward and backward.
FUNCTIONS = (
    "addbmm addmm addmv baddbmm bmm dot mm mv vdot nn.functional.conv2d nn.functional.embedding gather index_add "
    "index_copy index_fill index_put index_select masked_scatter masked_select scatter scatter_add take put nonzero "
    "nn.functional.max_pool2d nn.functional.avg_pool2d nn.functional.adaptive_avg_pool2d nn.functional.bilinear sort "
    "topk kthvalue median searchsorted bucketize linalg.inv_ex linalg.qr linalg.svd linalg.cholesky_ex linalg.eigh "
    "linalg.lu_factor_ex linalg.solve_ex triangular_solve __getitem__ all amax amin any argmax argmin count_nonzero "
    "cumsum linalg.vector_norm logsumexp max mean min norm prod std sum var var_mean softmax log_softmax "
    "nn.functional.layer_norm nn.functional.group_norm"
).split()

# What computes in an order that may be that of memory.
_COMPUTING = (Kind.LIBRARY, Kind.REDUCTION)


class Again(TorchDispatchMode):
    """Runs kernels again on operands with other strides; `differing` are those that then give other results."""

    def __init__(self):
        super().__init__()
        self.ran: set[str] = set()
        self.differing: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = f"{func.namespace}.{func._opname}.{func._overloadname}"
        row = row_of_name(name)
        if _computes_any_strides(row) and not func._schema.is_mutable:
            self.ran.add(name.split(".")[1])
            names, rows = [argument.name for argument in func._schema.arguments], row.in_rows
            given = [_laid_out_as(each, argument in rows) for argument, each in zip(names, args, strict=False)]
            named = {each: _laid_out_as(value, each in rows) for each, value in (kwargs or {}).items()}
            other = callable_for(func)(*given, **named)
            if not all(map(_is_close, tree_leaves(result), tree_leaves(other))):
                self.differing.add(name)
        return result


def _computes_any_strides(row: Row) -> bool:
    """Whether `row` says that operands of any strides give the same values; unwritten memory has none to compare."""
    return not row.sees_strides and row.kind in _COMPUTING and row.kernel is not Kernel.UNWRITTEN


def _laid_out_as(argument, in_rows: bool):
    return tree_map_only(torch.Tensor, _in_rows if in_rows else _laid_out, argument)


def _laid_out(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements in reverse order of dimensions, every other place in memory."""
    order = tuple(reversed(range(tensor.dim())))
    made = torch.stack([tensor.permute(order).contiguous()] * 2, dim=-1)
    return made[..., 0].permute(order)


def _in_rows(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements in reverse order of dimensions but for the last one, every other row."""
    order = (*reversed(range(tensor.dim() - 1)), tensor.dim() - 1)
    made = torch.stack([tensor.permute(order).contiguous()] * 2, dim=-2)
    return made[..., 0, :].permute(order)


def _is_close(first, second) -> bool:
    if not isinstance(first, torch.Tensor):
        return first == second
    return first.shape == second.shape and torch.allclose(first, second, rtol=1e-9, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_library_kernels_take_any_strides(name: str, monkeypatch: pytest.MonkeyPatch):
    """Catches a kernel that takes its operands for contiguous: the program would give it what lies otherwise."""
    from torch.testing._internal.common_methods_invocations import op_db  # takes seconds to import

    # For its messages, PyTorch looks for the name of its own test in the sources of all that is on the stack.
    monkeypatch.setattr("torch.testing._internal.common_utils.extract_test_fn", lambda: None)
    mode = Again()
    for info in (each for each in op_db if each.name == name):
        for number, sample in enumerate(info.sample_inputs("cpu", torch.float64, requires_grad=info.supports_autograd)):
            if number == 3:
                break
            with mode:
                result = info(sample.input, *sample.args, **sample.kwargs)
                results = [
                    each for each in tree_leaves(result) if isinstance(each, torch.Tensor) and each.requires_grad
                ]
                if results and not results[0].is_complex():
                    results[0].sum().backward()
    assert mode.ran
    assert not mode.differing


def test_attention_takes_any_strides_but_the_last():
    """Catches an attention kernel that takes more than its last dimension for contiguous."""
    query, key, value = (torch.rand(2, 3, 5, 8, dtype=torch.float64, requires_grad=True) for _ in range(3))
    mode = Again()
    with mode:
        torch.nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True).sum().backward()
    assert mode.ran >= {row.name for row in OPS if row.in_rows}
    assert not mode.differing


def test_unwritten_memory_is_not_compared():
    """Catches a failure by what happened to lie in memory that autograd allocates for a gradient."""
    assert not _computes_any_strides(row_of_name("aten.new_empty_strided.default"))
    assert _computes_any_strides(row_of_name("aten.mm.default"))


def test_what_is_known_of_no_op():
    """Catches an op that counts as a view for its name's sake, and a kernel that is known to rely on strides."""
    assert not row_of_name("aten.view.default").sees_strides
    assert row_of_name("mine.view.default").sees_strides
    assert row_of_name("aten.mkldnn_rnn_layer.default").sees_strides
    assert row_of_name("aten.bernoulli.p").sees_strides
    assert row_of_name("aten._linalg_det.default").sees_strides
    assert row_of_name("aten.native_group_norm.default").sees_strides
