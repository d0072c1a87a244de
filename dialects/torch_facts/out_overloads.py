"""Which overload of an op writes its result to memory that it is given."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@cache
def out_overload(name: str) -> str | None:
    """Of "aten.mul.Scalar", the overload that takes what it does and `out`: "aten.mul.out"; None without such a kernel.

    Those with other names than "out" PyTorch makes of the op and a copy, most of them.
    """
    import torch  # a second, which a command is spared whose modules have no such op

    namespace, base, overload = name.split(".")
    packet = getattr(torch.ops.aten, base, None) if namespace == "aten" else None
    if packet is None or "out" not in packet.overloads() or overload not in packet.overloads():
        return None
    taken, written = (each._schema.arguments for each in (getattr(packet, overload), packet.out))
    is_alike = [argument.name for argument in written] == [*(value.name for value in taken), "out"]
    return f"aten.{base}.out" if is_alike and all(map(_takes, written, taken)) else None


def _takes(parameter: "torch.Argument", other: "torch.Argument") -> bool:
    """Whether `parameter` takes what `other` does: of a number a tensor is made, of tensors no bound of `clamp`."""
    kinds = str(other.type), str(parameter.type)
    return kinds[0] == kinds[1] or kinds == ("number", "Tensor")
