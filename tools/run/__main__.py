"""`python -m dovetail.tools.run` is `dovetail-run`."""

import sys

from dovetail.tools.run.command import main

sys.exit(main())
