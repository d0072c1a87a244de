"""What whoever asks the source and its forks has agreed on with them: imported on both sides, and imports nothing."""

import struct

REQUEST = struct.Struct("q")
"""To the source: 0 for a fork, the number of one that ended, or the negative one of one that is to end.

It answers with the number, or with the status that the fork ended with, 0 while it runs.
"""

CANNOT_START = 127
"""The exit status of a command that can't be started; the reason is on its stderr."""

ASSERTION = "dovetail_assertion"
"""The name in PTX of the text that a check of a position which fails is told by."""

CHECK_BITS = 0x7E70 << 48
"""And below 2^32 the number of positions: as float64, the divisor of the remainder that stands for a check of one."""

WIDE_BITS = (16, 32, 64)
"""Bits of a number that a CPU's loop over one of each few numbers of a row may read these as, all together."""
