"""Kernels that wait by themselves for what was launched before them: they may be launched while that ends."""

import re

_KERNEL = re.compile(rb"^(\.visible \.entry (\w+)\([^{]*\n\{\n)(.*?^\}\n)", re.MULTILINE | re.DOTALL)
_WAIT = b"\tgriddepcontrol.wait;\n"
_LASTING, _PLAIN = b"ld.global.nc.", b"ld.global."


def waiting(ptx: bytes) -> tuple[bytes, frozenset[str]]:
    """`ptx` whose kernels first wait until all that was launched before them has ended and its writes are seen.

    Reads by the way that takes memory to stay the same while a kernel runs become plain ones: a kernel that waits runs
    while what it will read is written. Those that turn what they read through shared memory stay as they are: they read
    on behind a barrier, before which only reads of that kind are moved, which is worth more.

    Returns:
        The code, and the names of the kernels that wait: those that begin as IREE's do.
    """
    waits: list[str] = []

    def edited(kernel: re.Match[bytes]) -> bytes:
        start, name, rest = kernel.groups()
        if b"bar.sync" in rest and b"shfl." not in rest:
            return kernel[0]
        waits.append(name.decode())
        return start + _WAIT + rest.replace(_LASTING, _PLAIN)

    return _KERNEL.sub(edited, ptx), frozenset(waits)
