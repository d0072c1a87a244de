"""`python -m dovetail.tools.gpu.first_call CASE COMPILER`: prints the seconds of a first call in this process.

What a process pays once, whatever it compiles, is paid before: by the compiler for a small function, by the libraries
of the GPU for the case's eager step.
"""

import argparse
import sys

import torch

from dovetail.tools.demo.timing import seconds
from dovetail.tools.gpu.cases import CASES, Make
from dovetail.tools.gpu.measure import prepare


def main() -> int:
    """Compiles and runs the case once, until the GPU is done."""
    cases = {case.name: case for case in CASES}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=cases)
    parser.add_argument("compiler")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shrink", type=int, default=1)
    options = parser.parse_args()
    case = cases[options.case]
    make = Make(options.device, case.dtype, options.shrink)
    prepare(case, make, None)()
    torch.compile(torch.neg, backend=options.compiler)(torch.ones(1, device=options.device))
    step = prepare(case, make, options.compiler)

    def done() -> None:
        step()
        if options.device != "cpu":
            torch.cuda.synchronize()

    if options.device != "cpu":
        torch.cuda.synchronize()
    print(seconds(done))
    return 0


if __name__ == "__main__":
    sys.exit(main())
