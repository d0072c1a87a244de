"""A seed is a program for ever, and the programs are worth running."""

import hashlib
from collections import Counter

import pytest
import torch
from new_process import run_python

from dovetail.frontend.observe.alias_groups import shows_twice
from dovetail.tools.fuzz import settings
from dovetail.tools.fuzz.generate import GENERATOR, generate
from dovetail.tools.fuzz.program import Block, Program, code_lines
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.settings import SETTINGS
from dovetail.tools.fuzz.world import World, in_mode

# Of the first seeds' sources, by generator. A new entry needs a new number: old reports name seeds of the old one.
DIGESTS = {1: "fa42f88d585b6a10", 2: "0e4c2e638599b527", 3: "5b44037a021a03b3", 4: "7e89533e3d1c866c"}
COUNT = 300


@pytest.fixture(scope="module")
def programs() -> list[Program]:
    return [generate(seed) for seed in range(COUNT)]


def digest(programs: list[Program]) -> str:
    return hashlib.sha256("".join(map(render, programs)).encode()).hexdigest()[:16]


def test_seed_means_the_same_program(programs: list[Program]) -> None:
    """Catches a change of what is drawn that keeps the generator's number: seeds in reports would lie."""
    assert digest(programs) == DIGESTS[GENERATOR]


def test_seed_means_the_same_program_elsewhere(programs: list[Program]) -> None:
    """Catches a draw that depends on what ran before, or on the process's hash seed."""
    code = (
        "from dovetail.tools.fuzz.generate import generate; from dovetail.tools.fuzz.render import render;"
        "print(render(generate(7)), end='')"
    )
    ran = run_python(code)
    assert ran.stdout == render(programs[7])


def test_every_construct_is_drawn(programs: list[Program]) -> None:
    """Catches a rule that never applies, so that the fuzzer is silent about what it claims to cover."""
    sources = "\n".join(map(render, programs))
    wanted = [".add_(", ".copy_(", "[1:]", ".t()", ".view(", ".split(", ".unbind(", ".expand(", ".diagonal("]
    wanted += [
        "with torch.no_grad()",
        "with torch.enable_grad()",
        ".detach()",
        ".data",
        "register_buffer",
        "Parameter(",
    ]
    wanted += ["class Square", "class Flat", "class AddOne", "G0", "dropout", "batch_norm", "retain_grad", "[1::2]"]
    wanted += [
        "torch.int64",
        "% 2 == 0",
        "torch.float64",
        "later_0",
        "later_1",
        "inputs_2",
        "None",
        "checkpoint(lambda: ",
    ]
    wanted += [
        ".as_strided((2, 3), (1, 1))",
        ".unfold(",
        "[0].mul_(2)",
        "._version + 1",
        "._version == 0",
        "vector_to_parameters",
        ".data[",
        ".detach()[0, 0].fill_(1)",
        ".add_(outputs[0])",
        "torch.full(",
        "torch.cond(",
        "checkpoint(lambda each: (torch.set_warn_always",
    ]
    assert not [each for each in wanted if each not in sources]
    drawn = {name for name, setting in SETTINGS.items() if any(line in sources for line in setting.lines)}
    assert len(drawn) > len(SETTINGS) - 3


def test_calls_alias_in_several_ways(programs: list[Program]) -> None:
    """Catches a generator that makes every call like the first: alias patterns that change are the point."""
    changing = [program for program in programs if len({call.inputs for call in program.calls}) > 1]
    assert len(changing) > COUNT // 2
    modes = Counter(call.mode for program in programs for call in program.calls)
    assert set(modes) == {"", "torch.no_grad()", "torch.inference_mode()"}


def test_windows_are_written(programs: list[Program]) -> None:
    """Catches strides that overlap in what is read alone: no difference could show there."""
    assert sum(map(writes_a_window, programs)) > COUNT // 60


def writes_a_window(program: Program) -> bool:
    """Whether the first call writes an argument that shows elements more than once."""
    world, call = World(render(program)), program.calls[0]
    inputs = world.inputs(0)
    windows = [each for each in inputs.values() if isinstance(each, torch.Tensor) and shows_twice(each)]
    versions = [each._version for each in windows]
    with settings.kept(), in_mode(call.mode):
        world.fn(*(inputs[parameter.name] for parameter in program.parameters))
    world.close()
    return versions != [each._version for each in windows]


def test_programs_stay_small(programs: list[Program]) -> None:
    """Catches growth that makes the budget of a run meaningless."""
    lengths = sorted(len(list(code_lines(program.body))) for program in programs)
    assert lengths[0] >= 2
    assert lengths[len(lengths) // 2] <= 6
    assert any(isinstance(line, Block) for program in programs for line in program.body)
