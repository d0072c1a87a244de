"""`python -m dovetail.tools.bench.first_call CASE COMPILER`: prints the seconds of a first call in this process.

What a process pays once for each compiler, whatever it compiles, is paid before.
"""

import argparse
import sys

import torch

from dovetail.tools.bench.cases import CASES
from dovetail.tools.demo.timing import seconds


def main() -> int:
    """Compiles and runs the case once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("compiler")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    torch.compile(torch.neg, backend=options.compiler)(torch.ones(1))
    print(seconds(CASES[options.case].prepare(options.compiler, options.smoke)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
