"""A device "cuda" for machines without a GPU: two of them, in the host's memory, with the CPU's kernels.

It shows Dynamo, autograd, PyTorch's tracing and Dovetail what a GPU's tensors show them: their device, which decides
where ops run, what may be mixed and in which thread gradients are computed. It launches no code for GPUs, has no
streams, and draws the CPU's random numbers.
"""

import ctypes
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".cpp")
BUILT = SOURCE.parent.parent.parent / "build" / "emulated_cuda.so"
CAPABILITY = (9, 0)


def install() -> None:
    """Makes `torch.device("cuda")` work in this process.

    Raises:
        RuntimeError: if PyTorch is imported already, which looks for devices only then.
    """
    if "torch" in sys.modules:
        raise RuntimeError("the emulated device must be installed before PyTorch is imported")
    library = ctypes.CDLL(str(_built()))
    import torch.cuda

    torch.cuda._lazy_init = lambda: None
    torch.cuda.is_initialized = lambda: True
    torch._C._cuda_getDevice = lambda: library.emulated_exchange(-1)
    torch.cuda._exchange_device = lambda index: library.emulated_exchange(index)
    torch.cuda._maybe_exchange_device = lambda index: library.emulated_exchange(index)
    torch.cuda.device_count = lambda: 2
    torch.cuda.is_current_stream_capturing = lambda: False
    torch.cuda.get_device_capability = lambda device=None: CAPABILITY
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_bf16_supported = lambda including_emulation=True: True
    torch.UntypedStorage.clone = _clone
    torch.cuda.get_rng_state = lambda device="cuda": torch.get_rng_state()
    torch.cuda.set_rng_state = lambda state, device="cuda": torch.set_rng_state(state)


def _clone(storage):
    """A PyTorch without CUDA makes no storage there by itself, but that of a tensor."""
    import torch

    given = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage, 0, (storage.nbytes(),))
    return given.clone().untyped_storage()


def _built() -> Path:
    """The compiled source; compiled anew where it, or PyTorch, is newer."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        raise RuntimeError("PyTorch is not installed")
    folder = Path(spec.origin).parent
    newest = max(path.stat().st_mtime for path in (SOURCE, folder / "version.py"))
    if BUILT.exists() and BUILT.stat().st_mtime > newest:
        return BUILT
    BUILT.parent.mkdir(exist_ok=True)
    include, library = folder / "include", folder / "lib"
    flags = ["-O1", "-std=c++20", "-fPIC", "-shared", f"-I{include}", f"-I{include / 'torch/csrc/api/include'}"]
    linked = [f"-L{library}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{library}"]
    part = BUILT.with_suffix(f".{id(flags)}.part")
    subprocess.run(["g++", *flags, str(SOURCE), "-o", str(part), *linked], check=True)
    part.replace(BUILT)
    return BUILT


if __name__ == "__main__":
    _built()
