"""Kernels that wait by themselves for what was launched before them: they may be launched while that ends."""

import re

_KERNEL = re.compile(rb"^\.visible \.entry [^{]*\n\{\n", re.MULTILINE)
_WAIT = b"\tgriddepcontrol.wait;\n"
_LASTING, _PLAIN = b"ld.global.nc.", b"ld.global."


def waiting(ptx: bytes) -> bytes:
    """`ptx` whose kernels first wait until all that was launched before them has ended, and its writes are seen.

    Reads by the way that takes memory to stay the same while a kernel runs become plain ones: a kernel that waits runs
    while what it will read is written.

    Raises:
        ValueError: if a kernel does not begin as IREE's do.
    """
    made, count = _KERNEL.subn(lambda found: found[0] + _WAIT, ptx)
    if count != ptx.count(b".entry "):
        raise ValueError(f"expected {ptx.count(b'.entry ')} kernels that begin as IREE's do, found {count}")
    return made.replace(_LASTING, _PLAIN)
