"""The calls of a program: in each the arguments alias in another way, and the caller does something else afterwards."""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import torch
from torch.utils._pytree import tree_leaves

from dovetail.tools.fuzz import settings
from dovetail.tools.fuzz.observe import is_leaf
from dovetail.tools.fuzz.program import Call, CodeLine, Program
from dovetail.tools.fuzz.recipes import draw_inputs
from dovetail.tools.fuzz.regions import NAME
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.world import World, in_mode

_LATER = (
    "{0}.add_(1)",
    "{0}.mul_(2)",
    "{0}.zero_()",
    "{0}.detach().add_(1)",
    "{0}.data.mul_(2)",
    "{0}.view(-1).add_(1)",
    "{0}[0].add_(1)",
    "{0}.t_()",
    "{0}.add_(outputs[0])",  # as `h += block(h)` does
    "{0}.detach()[:1].mul_(2)",
)


def draw_calls(draw: Random, program: Program, first: tuple[CodeLine, ...], state: tuple[str, ...]) -> Program:
    """`program` with two or three calls; `first` is the recipe that its body was drawn with."""
    # What inference mode made eager alone refuses in a region, though nobody wants a gradient (docs/limits.md).
    of_inference = 0 if NAME in str(program.body) else 3
    mode = draw.choices(("", "torch.no_grad()", "torch.inference_mode()"), (88, 9, of_inference))[0]
    for number in range(draw.choices((2, 3), (4, 1))[0]):
        # Dynamo's operators for custom functions can't be differentiated twice.
        backward = "double" if draw.random() < 0.04 and not program.helpers else "once"
        backward = "none" if draw.random() < 0.12 else backward
        call = Call(first, mode, (), "none" if mode else backward)
        for attempt in range(4 if number else 1):
            if number:
                call = replace(call, inputs=draw_inputs(draw, program.parameters, state))
            extended = replace(program, calls=(*program.calls, call))
            later = _later(draw, extended) if not program.helpers else ()
            if later is not None or attempt == 3:
                break
        program = replace(program, calls=(*program.calls, replace(call, later=later or ())))
    return program


def _later(draw: Random, program: Program) -> tuple[CodeLine, ...] | None:
    """What the caller does after the program's last call; None if eager does not get through to it."""
    world = World(render(program))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs, inputs = _last_call(world, program)
            if any(is_leaf(output) is None for output in outputs):
                return None
            return tuple(_writes(draw, world, program, outputs, inputs))
    except (RuntimeError, IndexError, ValueError, TypeError):
        return None
    finally:
        world.close()


def _last_call(world: World, program: Program) -> tuple[list[torch.Tensor], dict]:
    for number, call in enumerate(program.calls):
        with in_mode(call.mode), settings.kept():
            inputs = world.inputs(number)
            results = world.fn(*(inputs[parameter.name] for parameter in program.parameters))
    return [result for result in tree_leaves(results) if isinstance(result, torch.Tensor)], inputs


def _writes(
    draw: Random, world: World, program: Program, outputs: list[torch.Tensor], inputs: dict
) -> Iterator[CodeLine]:
    """Up to two writes, mostly such that eager accepts."""
    parameters = [parameter.name for parameter in program.parameters]
    names = [f"outputs[{index}]" for index in range(len(outputs))] * 3 + parameters
    if any(".data" in line.template for line in program.calls[-1].inputs):
        names += parameters * 5  # whose version counters the call may take for one another
    # What is written through `.data` a region reads again in eager alone (docs/limits.md).
    later = [each for each in _LATER if NAME not in str(program.body) or ".data" not in each]
    for _ in range(draw.choices((0, 1, 2), (4, 4, 2))[0]):
        line = CodeLine(draw.choice(later), (draw.choice(names),))
        try:
            exec(str(line), world.namespace | inputs | {"outputs": outputs})
        except (RuntimeError, IndexError, TypeError):
            if draw.random() < 0.9:
                continue
        yield line
