"""What `prove-in-place` relies on: how IREE runs a region that reads memory and overwrites it."""

import re
import subprocess
from itertools import product

import pytest
import torch
from compiled_regions import compile_regions

from dovetail.backends.compiling.compiler_runs import compiler_executable
from dovetail.backends.compiling.outcomes import CompiledRegion
from dovetail.backends.target import CpuTarget
from dovetail.passes.in_place.cones import MAX_READ
from dovetail.runtime.launches.iree_executable import Executable

ELEMENTS = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16}


def region(shape: str, element: str, others: int, updated: int, in_place: bool = True) -> str:
    """Updates `updated` tensors, each by a chain that reads its old value between all `others`.

    Arguments: the others, then each updated tensor, or its old value and a destination.
    """
    value, memory = f"!torch.vtensor<[{shape}],{element}>", f"!torch.tensor<[{shape}],{element}>"
    arguments, lines, stores = [f"%g{index}: {value}" for index in range(others)], [], []
    for number in range(updated):
        arguments += [] if in_place else [f"%x{number}: {value}"]
        arguments.append(f"%d{number}: {memory}")
        if in_place:
            lines.append(f"%x{number} = torch.copy.to_vtensor %d{number} : {value}")
        last = f"%x{number}"
        for index in range(others):
            lines.append(f"%p{number}_{index} = torch.aten.mul.Tensor {last}, %g{index} : {value}, {value} -> {value}")
            lines.append(
                f"%s{number}_{index} = torch.aten.add.Tensor %p{number}_{index}, %x{number}, %one"
                f" : {value}, {value}, !torch.int -> {value}"
            )
            last = f"%s{number}_{index}"
        stores.append(f"torch.overwrite.tensor.contents {last} overwrites %d{number} : {value}, {memory}")
    body = "\n    ".join(["%one = torch.constant.int 1", *lines, *stores, "return"])
    return f"module {{\n  func.func @main({', '.join(arguments)}) {{\n    {body}\n  }}\n}}\n"


def test_in_place_is_bit_for_bit_the_same():
    """An element read after it was overwritten: by a vector's rest, another thread, or a second loop."""
    cases = [("33,65", "f32"), ("", "f32"), ("300000", "f32")]
    cases += [("1003", element) for element in ("f64", "f16", "bf16")]
    sources = {
        f"{shape}:{element}:{in_place}": region(shape, element, 2, 3, in_place)
        for shape, element in cases
        for in_place in (True, False)
    }
    compiled = compile_regions(sources, CpuTarget(), timeout=120)
    for (shape, element), driver in product(cases, ("local-sync", "local-task")):
        codes = [compiled[f"{shape}:{element}:{in_place}"] for in_place in (True, False)]
        assert all(isinstance(code, CompiledRegion) for code in codes), codes
        updating, separate = (Executable(code, driver, "region") for code in codes)
        sizes = tuple(int(size) for size in shape.split(",") if size)
        others, olds = ([torch.randn(sizes).to(ELEMENTS[element]) for _ in range(count)] for count in (2, 3))
        into, news = [old.clone() for old in olds], [torch.empty_like(old) for old in olds]
        updating(*others, *into)
        separate(*others, *(each for pair in zip(olds, news, strict=True) for each in pair))
        for update, new in zip(into, news, strict=True):
            assert torch.equal(update, new), (shape, element, driver)


@pytest.mark.parametrize("updated", [1, 5])
def test_each_update_is_one_dispatch(updated):
    """With two, the second one reads what the first one overwrote; tried with as many tensors as are allowed."""
    command = [str(compiler_executable()), "-", *CpuTarget().compile_flags(), "--compile-to=flow"]
    source = region("1003", "f32", MAX_READ - 1, updated)
    text = subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout
    main = text[text.index("util.func public @main$async") :]
    imported = re.findall(r"(%\d+) = hal.tensor.import .*=> %arg(\d+)", main)
    memory = {name for name, number in imported if int(number) >= MAX_READ - 1}
    reads = [name for call in re.findall(r"flow.dispatch \S+\((.*?)\) :", main) for name in call.split(", ")]
    assert len(memory) == updated
    assert sorted(name for name in reads if name in memory) == sorted(memory)


def test_operand_of_a_diagonal():
    """Catches uninitialised elements: IREE fused the diagonal with what computes its operand, which is a result too."""

    def fn(x):
        normal = torch.nn.functional.layer_norm(x, x.shape[-1:])
        diagonal = x.diagonal()
        x[:, 1] = 2
        return normal.sub_(diagonal)

    x = torch.arange(4.0).view(2, 2)
    expected = fn(x)
    actual = torch.arange(4.0).view(2, 2)
    torch.testing.assert_close(torch.compile(fn, backend="dovetail", fullgraph=True)(actual), expected)
    torch.testing.assert_close(actual, x)
