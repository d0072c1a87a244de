"""What whoever asks the source and its forks has agreed on with them: imported on both sides, and imports nothing."""

import struct

REQUEST = struct.Struct("q")
"""To the source: 0 for a fork, the number of one that ended, or the negative one of one that is to end.

It answers with the number, or with the status that the fork ended with, 0 while it runs.
"""

CANNOT_START = 127
"""The exit status of a command that can't be started; the reason is on its stderr."""
