"""`python -m dovetail.tools.run` is `dovetail-run`."""

import sys

from dovetail.tools.contained import run

sys.exit(run())
