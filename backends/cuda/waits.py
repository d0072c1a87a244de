"""Kernels that wait by themselves for what was launched before them: they may be launched while that ends."""

import re

_KERNEL = re.compile(rb"^(\.visible \.entry (\w+)\([^{]*\n\{\n)(.*?^\}\n)", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(rb"^(\$L\w+):\n", re.MULTILINE)
_WAIT = b"\tgriddepcontrol.wait;\n"
_LASTING, _PLAIN, _WRITE = b"ld.global.nc.", b"ld.global.", b"st.global."


def waiting(ptx: bytes) -> tuple[bytes, frozenset[str]]:
    """`ptx` whose kernels first wait until all that was launched before them has ended and its writes are seen.

    Reads by the way that takes memory to stay the same while a kernel runs become plain ones: a kernel that waits runs
    while what it will read is written. Kernels whose reads of that kind are moved stay as they are, for that is worth
    more: those that turn what they read through shared memory read on behind a barrier, those that read and write in
    one loop read for several rounds at once.

    Returns:
        The code, and the names of the kernels that wait: those that begin as IREE's do.
    """
    waits: list[str] = []

    def edited(kernel: re.Match[bytes]) -> bytes:
        start, name, rest = kernel.groups()
        if (b"bar.sync" in rest and b"shfl." not in rest) or _writes_where_it_reads_on(rest):
            return kernel[0]
        waits.append(name.decode())
        return start + _WAIT + rest.replace(_LASTING, _PLAIN)

    return _KERNEL.sub(edited, ptx), frozenset(waits)


def _writes_where_it_reads_on(kernel: bytes) -> bool:
    """Whether a loop, all that a branch goes back over, has both."""
    loops = ((begin, kernel.rfind(begin[1] + b";")) for begin in _LABEL.finditer(kernel))
    return any(
        kernel.find(_LASTING, begin.end(), end) >= 0 and kernel.find(_WRITE, begin.end(), end) >= 0
        for begin, end in loops
        if end > begin.end()
    )
