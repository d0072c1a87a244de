"""Keeps Inductor out of processes that need nothing of it: to import it takes longer than to load a program."""

import torch
from torch._dynamo.variables import optimizer


def ask_inductor_of_gpus_only() -> None:
    """Has Dynamo import Inductor for gradients on GPUs alone.

    Of each gradient of a compiled optimizer it asks a module of Inductor whether CUDA graphs will find it in place. Of
    any that is not on a GPU the answer is yes, whoever is asked.
    """
    asked = getattr(optimizer, "_is_static_for_cudagraphs", None)  # not of each version
    if asked is None or asked.__module__ == __name__:
        return

    def is_static(x: torch.Tensor) -> bool:
        return asked(x) if x.is_cuda else True

    optimizer._is_static_for_cudagraphs = is_static
