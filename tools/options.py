"""Options that several commands have."""

import argparse
import math
import time
from pathlib import Path


def add_seconds(parser: argparse.ArgumentParser, effect: str) -> None:
    """`--seconds N`, whose `effect` the help says; `options.end` is when they are over, by the monotonic clock."""
    parser.add_argument("--seconds", dest="end", type=_end, default=math.inf, metavar="N", help=effect)


def add_record(parser: argparse.ArgumentParser, what: str) -> None:
    """`--record FILE` of a run that goes on where it was stopped; `what` has outcomes."""
    effect = f"append each outcome; {what} that have one there, and showed nothing wrong, are not run again"
    parser.add_argument("--record", type=Path, metavar="FILE", help=effect)


def seed_range(text: str) -> tuple[int, int]:
    """The type of an option that takes a range of seeds: its first and the one after its last."""
    first, _, end = text.partition(":")
    if not first.isdigit() or not (end or "0").isdigit() or int(end or int(first) + 1) <= int(first):
        raise argparse.ArgumentTypeError(f"'{text}' is not a range of seeds, expected 0:100, or 7 for one")
    return int(first), int(end) if end else int(first) + 1


def _end(text: str) -> float:
    return time.monotonic() + float(text)
