"""A mutant: an input that a seed makes, and the command line that reads it."""

import re
from dataclasses import dataclass
from random import Random

from dovetail.passes.base import registry
from dovetail.passes.levels.verify_level import VerifyLevelPass
from dovetail.passes.pipeline import compile_pipeline, since
from dovetail.tools.fuzz_texts.corpus import Corpus
from dovetail.tools.fuzz_texts.damage import damaged, damaged_artifact
from dovetail.tools.fuzz_texts.mutations import mutated

INPUT = "INPUT"
"""Stands in a command line for the file."""

_LEVEL = re.compile(r'dovetail\.level = "(\w+)"')
_REFERENCE = ("run", INPUT, "--reference")
_COMPILED = {each.level for each in compile_pipeline() if isinstance(each, VerifyLevelPass)}


@dataclass(frozen=True)
class Mutant:
    """`kind` is "text", "bytecode" or "artifact"; the first word of the command line is "opt" or "run"."""

    seed: int
    kind: str
    command: tuple[str, ...]
    contents: bytes

    @property
    def compiles(self) -> bool:
        """Whether IREE's compiler is started for it."""
        return self.kind == "text" and self.command == ("run", INPUT)


def mutant(seed: int, corpus: Corpus) -> Mutant:
    """The mutant of `seed`; another corpus gives another one."""
    draw = Random(seed)
    kind = draw.choices(("text", "bytecode", "artifact"), (80, 5, 15))[0]
    if kind == "artifact":
        runs: tuple[str, ...] = draw.choice((_REFERENCE, _REFERENCE, ("run", INPUT)))
        return Mutant(seed, kind, runs, damaged_artifact(corpus.artifact, draw))
    if kind == "bytecode":
        return Mutant(seed, kind, ("opt", INPUT, "--run-check"), damaged(draw.choice(corpus.bytecodes), draw))
    text = draw.choice(corpus.texts)
    level = _LEVEL.search(text)
    command = _command(level[1] if level else "", draw)
    return Mutant(seed, kind, command, mutated(text, draw).encode("utf-8", "surrogateescape"))


def _command(level: str, draw: Random) -> tuple[str, ...]:
    """What reads a module of `level`: mostly what runs it as it is, seldom what compiles it."""
    which = draw.random()
    if level == "launches" and which < 0.5:
        return _REFERENCE
    if which < 0.4 or level not in _COMPILED:
        return ("opt", INPUT, "--run-check") if which < 0.35 else ("opt", INPUT, *_passes(level, draw))
    if which < 0.6:
        return ("opt", INPUT, *_passes(level, draw), "--run-check")
    if which < 0.8:
        checks = ("--run-check",) if draw.random() < 0.3 else ("--remarks",)
        return ("opt", INPUT, f"--pass-pipeline={','.join(map(str, since(compile_pipeline(), level)))}", *checks)
    if which < 0.98:
        return (*_REFERENCE, "--gradients") if draw.random() < 0.3 else _REFERENCE
    return ("run", INPUT)


def _passes(level: str, draw: Random) -> tuple[str, ...]:
    names = [name for name, each in registry().items() if each.runs_at in ("", level)]
    return (f"--pass-pipeline={','.join(draw.choices([*names, 'canonicalize', 'cse'], k=draw.choice((1, 2))))}",)
