"""`python -m dovetail.tools.opt` is `dovetail-opt`."""

import sys

from dovetail.tools.opt.command import main

sys.exit(main())
