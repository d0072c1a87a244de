"""Lines that set something for all of the process; how each setting is read and put back."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from dovetail.tools.fuzz.rules import Rule, always, is_float, where


@dataclass(frozen=True)
class Setting:
    """One setting of PyTorch's.

    Attributes:
        lines: what a program may do to it.
        read: gives it.
        write: puts it back.
    """

    lines: tuple[str, ...]
    read: Callable[[], object]
    write: Callable


def _flushes_subnormal() -> bool:
    return not float(torch.full((), 1e-40, dtype=torch.float32, device="cpu") * 1)


def _check_sparse(is_on: bool) -> None:
    check = torch.sparse.check_sparse_tensor_invariants
    (check.enable if is_on else check.disable)()


_cuda = torch.backends.cuda

SETTINGS = {
    "default type": Setting(
        ("torch.set_default_dtype(torch.float64)",), torch.get_default_dtype, torch.set_default_dtype
    ),
    "deterministic": Setting(
        ("torch.use_deterministic_algorithms(True)", "torch.use_deterministic_algorithms(True, warn_only=True)"),
        torch.get_deterministic_debug_mode,
        torch.set_deterministic_debug_mode,
    ),
    "precision of products": Setting(
        ("torch.set_float32_matmul_precision('high')",),
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
    ),
    "warnings": Setting(("torch.set_warn_always(True)",), torch.is_warn_always_enabled, torch.set_warn_always),
    "subnormal numbers": Setting(("torch.set_flush_denormal(True)",), _flushes_subnormal, torch.set_flush_denormal),
    "gradients": Setting(
        ("torch.set_grad_enabled(False)", "torch.set_grad_enabled(True)"),
        torch.is_grad_enabled,
        torch.set_grad_enabled,
    ),
    "threads": Setting(("torch.set_num_threads(3)",), torch.get_num_threads, torch.set_num_threads),
    "cache of autocast": Setting(
        ("torch.set_autocast_cache_enabled(False)",), torch.is_autocast_cache_enabled, torch.set_autocast_cache_enabled
    ),
    "type of autocast": Setting(
        ("torch.set_autocast_dtype('cpu', torch.float16)",),
        lambda: torch.get_autocast_dtype("cpu"),
        lambda dtype: torch.set_autocast_dtype("cpu", dtype),
    ),
    "anomalies": Setting(
        ("torch.autograd.set_detect_anomaly(True)",), torch.is_anomaly_enabled, torch.set_anomaly_enabled
    ),
    "attention": Setting(
        ("torch.backends.cuda.enable_math_sdp(False)", "torch.backends.cuda.enable_cudnn_sdp(False)"),
        lambda: (_cuda.math_sdp_enabled(), _cuda.cudnn_sdp_enabled()),
        lambda each: (_cuda.enable_math_sdp(each[0]), _cuda.enable_cudnn_sdp(each[1])),
    ),
    "cuDNN": Setting(
        ("torch._C._set_cudnn_deterministic(True)",),
        torch._C._get_cudnn_deterministic,
        torch._C._set_cudnn_deterministic,
    ),
    "oneDNN": Setting(
        ("torch._C._set_mkldnn_enabled(False)",), torch._C._get_mkldnn_enabled, torch._C._set_mkldnn_enabled
    ),
    "sparse tensors": Setting(
        ("torch.sparse.check_sparse_tensor_invariants.enable()",),
        torch.sparse.check_sparse_tensor_invariants.is_enabled,
        _check_sparse,
    ),
}

_SETTING = "lambda each: (torch.set_warn_always(True), each.sin())[1]"

SETS = tuple(Rule(1, always(line), operands=0) for setting in SETTINGS.values() for line in setting.lines)

# What these give hangs on a setting, or they set one inside of what they call.
READS = (
    Rule(2, where(is_float, "torch.full({0}.shape, 0.3) + {0}")),
    Rule(1, where(is_float, "{0} * 1e-40 * 1e30")),
    Rule(1, where(is_float, "{0} * 2 if torch.is_grad_enabled() else {0} * 3")),
    Rule(1, where(is_float, f"checkpoint({_SETTING}, {{0}}, use_reentrant=False)")),
    Rule(1, where(is_float, f"torch.cond({{0}}.sum() > 0, {_SETTING}, torch.cos, ({{0}},))")),
)


def read() -> dict[str, object]:
    """Every setting, by name."""
    return {name: setting.read() for name, setting in SETTINGS.items()}


@contextmanager
def kept() -> Iterator[None]:
    """Puts all settings back at the end."""
    before = read()
    try:
        yield
    finally:
        for name, setting in SETTINGS.items():
            if setting.read() != before[name]:
                setting.write(before[name])
