"""`python -m dovetail.tools.bench.first_call CASE COMPILER`: prints the seconds of a first call in this process.

What a process pays once for each compiler, whatever it compiles, is paid before. With `DYNAMO_ALONE` it is Dynamo's
part of Dovetail's: what Dovetail has Dynamo leave out is left out.
"""

import argparse
import sys
from importlib import import_module

import torch

from dovetail.tools.bench.cases import CASES
from dovetail.tools.bench.figures import DYNAMO_ALONE
from dovetail.tools.demo.timing import seconds


def main() -> int:
    """Compiles and runs the case once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("compiler")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    if options.compiler == DYNAMO_ALONE:
        import_module("dovetail.torch_backend")
    torch.compile(torch.neg, backend=options.compiler)(torch.ones(1))
    print(seconds(CASES[options.case].prepare(options.compiler, options.smoke)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
