"""What kernels that check positions need beside them in PTX: the function that CUDA's `assert` calls, and a text."""

from dovetail.backends.worker.agreed import ASSERTION

_TEXT = b"a position that is gathered at is one of those that there are\0"
"""What is asserted, and in which file and function, as the driver prints it for each thread that fails."""
_FIRST = b".address_size 64\n"
_DECLARED = b"""
.extern .func __assertfail
(
\t.param .b64 message,
\t.param .b64 file,
\t.param .b32 line,
\t.param .b64 function,
\t.param .b64 width
);
.global .align 1 .b8 %s[%d] = {%s};
""" % (ASSERTION.encode(), len(_TEXT), b", ".join(b"%d" % each for each in _TEXT))


def with_assertions(ptx: bytes) -> bytes:
    """`ptx` with declarations of what its checks call, if it has any."""
    return ptx.replace(_FIRST, _FIRST + _DECLARED, 1) if ASSERTION.encode() in ptx else ptx
