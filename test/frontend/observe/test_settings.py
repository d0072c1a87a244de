"""Which calls in a program set something for all of the process."""

import pytest
import torch

from dovetail.frontend.observe.settings import makes_setting


def calls(target) -> torch.fx.Node:
    return torch.fx.Graph().call_function(target)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (torch.set_default_dtype, True),
        (torch.set_autocast_enabled, True),
        (torch.set_autocast_cache_enabled, True),
        (torch._C._set_nnpack_enabled, True),
        (torch._C._set_deterministic_algorithms, True),
        (torch.backends.cuda.enable_cudnn_sdp, True),
        (torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp, True),
        (torch.__future__.set_overwrite_module_params_on_conversion, True),
        (torch.seed, True),
        (torch.cuda.seed_all, True),
        (torch.cuda.set_sync_debug_mode, True),
        (torch.cuda.reset_peak_memory_stats, True),
        (torch.get_rng_state, False),
        (torch.cuda.is_available, False),
        (torch._C._set_grad_enabled, False),
        (torch._C._set_fwd_grad_enabled, False),
        (torch._C._functorch.set_inplace_requires_grad_allowed, False),
        (torch.Tensor.add_, False),
        (torch.ops.aten.add.Tensor, False),
        (getattr, False),
    ],
    ids=lambda each: getattr(each, "__name__", str(each)),
)
def test_settings_are_told_by_their_names(target, expected: bool):
    """Catches a setting that is made while a program is traced alone, and transforms that no longer compile."""
    assert makes_setting(calls(target)) == expected


def test_methods_are_no_settings():
    """Catches a method that is asked for its module, which its name has not."""
    graph = torch.fx.Graph()
    assert not makes_setting(graph.call_method("set_", (graph.placeholder("x"),)))
