"""Regions that pool images which lie channels last: one kernel each, whose threads read neighbours at once."""

import re
from collections.abc import Callable

import pytest
from torch_mlir import ir

from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.backends.compiling.outcomes import Outcome
from dovetail.dialects.attributes import PINNED
from dovetail.dialects.context import make_context
from dovetail.dialects.memory.contents import store
from dovetail.dialects.reading import body, drop_attributes
from dovetail.dialects.statements.devices import CPU
from dovetail.dialects.torch_facts.types import memory_type, tensor_type
from dovetail.passes.layouts.windows import Axis, Windows, gradient, maxima

OVER = Windows(Axis(58, 29, 3, 2, 1), Axis(30, 15, 3, 2, 1))
LARGE, SMALL = (4, 58, 30, 64), (4, 29, 15, 64)


def region(build: Callable[..., list[ir.Value]], *types: tuple[tuple[int, ...], str]) -> str:
    """The text of a region of what `build` makes of tensors of these sizes and element types."""
    with make_context(), ir.Location.unknown():
        taken = [tensor_type(sizes, dtype) for sizes, dtype in types]
        arguments = ", ".join(f"%x{number}: {type_}" for number, type_ in enumerate(taken))
        module = ir.Module.parse(f"module {{ func.func @main({arguments}) {{ return }} }}")
        main = module.body.operations[0]
        block = main.regions[0].blocks[0]
        with ir.InsertionPoint(block.operations[0]):
            made = build(*block.arguments)
            for value in made:
                store(value, block.add_argument(memory_type(value.type), ir.Location.unknown()))
        inputs = [argument.type for argument in block.arguments]
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, []))
        for op in body(main):
            drop_attributes(op, PINNED)
        return str(module)


def largest(images: ir.Value) -> list[ir.Value]:
    found = maxima(images, OVER, True, CPU)
    return [found.largest, found.places]


REGIONS = {
    "largest bfloat16": region(largest, (LARGE, "bfloat16")),
    "largest float32": region(largest, (LARGE, "float32")),
    "gradient bfloat16": region(
        lambda given, places: [gradient(given, places, OVER, CPU)], (SMALL, "bfloat16"), (SMALL, "int8")
    ),
    "gradient float32": region(
        lambda given, places: [gradient(given, places, OVER, CPU)], (SMALL, "float32"), (SMALL, "int8")
    ),
}


@pytest.mark.parametrize(
    ("name", "loads", "stores"),
    [
        ("largest bfloat16", {"v4.b32": 9}, {"v4.b32": 1, "v2.b32": 1}),
        ("largest float32", {"v4.b32": 9}, {"v4.b32": 1, "b32": 1}),
        ("gradient bfloat16", {"v4.b32": 4, "v2.b32": 4}, {"v4.b32": 1}),
        ("gradient float32", {"v4.b32": 4, "b32": 4}, {"v4.b32": 1}),
    ],
)
def test_pooling_is_one_kernel(
    name: str, loads: dict[str, int], stores: dict[str, int], compiled: dict[str, Outcome]
) -> None:
    """Would catch a kernel for each result, which reads images again, positions in memory, and neighbours that are read
    one by one: where loops of all dimensions are one, IREE sees none."""
    plan = compiled[name]
    assert isinstance(plan, LaunchPlan), plan
    steps = [step for step in plan.steps["steps"] if step["op"] != "barrier"]
    assert [step["tiling"] for step in steps] == ["pointwise"]
    entries = re.split(r"(?=\.visible \.entry)", plan.code.decode())[1:]
    [code] = [entry for entry in entries if f"{steps[0]['entry']}(" in entry]
    for kind, wanted in (("ld", loads), ("st", stores)):
        found = re.findall(rf"\b{kind}\.global(?:\.nc)?\.(\S+)", code)
        assert {each: found.count(each) for each in found} == wanted
    assert "div" not in code
