"""`python -m dovetail.tools.opt` is `dovetail-opt`."""

import sys

from dovetail.tools.contained import opt

sys.exit(opt())
