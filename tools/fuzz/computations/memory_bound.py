"""A bound on the memory of what is drawn: a line that wants more is refused, whatever the machine would promise."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_MOST = 4 << 30  # bytes; lines that are wanted take far less


@contextmanager
def bounded_memory() -> Iterator[None]:
    """PyTorch raises a RuntimeError inside where this process would need 4 GiB more than it has.

    A machine that promises more than it has would kill the process, and a seed would mean a program there that is none
    elsewhere: `x.repeat_interleave(x.shape[0] // 2)` of a million elements, say.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = _bytes_of_data() + _MOST
    bounds = [bound for bound in (wanted, soft, hard) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _bytes_of_data() -> int:
    """What counts towards the limit: private memory that the process may write."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5]) * resource.getpagesize()
