"""Which overload of an op writes its result to memory that it is given."""

from functools import cache

import torch


@cache
def out_overload(name: str) -> str | None:
    """Of "aten.mul.Scalar", the overload that takes what it does and `out`: "aten.mul.out"; None without such a kernel.

    Those with other names than "out" PyTorch makes of the op and a copy, most of them.
    """
    namespace, base, overload = name.split(".")
    packet = getattr(torch.ops.aten, base, None) if namespace == "aten" else None
    if packet is None or "out" not in packet.overloads() or overload not in packet.overloads():
        return None
    taken = [each.name for each in getattr(packet, overload)._schema.arguments]
    written = [each.name for each in packet.out._schema.arguments]
    return f"aten.{base}.out" if written == [*taken, "out"] else None
