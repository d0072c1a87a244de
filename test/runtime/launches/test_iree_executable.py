"""Calling compiled regions on torch tensors, through IREE itself."""

import gc
import os
import threading
import weakref

import numpy as np
import pytest
import torch
from compiled_regions import compile_regions

from dovetail.backends.compiling.outcomes import CompiledRegion
from dovetail.backends.target import ALIGNMENT, CpuTarget
from dovetail.runtime.launches import iree_executable
from dovetail.runtime.launches.iree_executable import Executable, prepare

DRIVERS = ["local-sync", "local-task"]
ELEMENTS = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "si8": torch.int8,
    "si16": torch.int16,
    "si32": torch.int32,
    "si64": torch.int64,
    "ui8": torch.uint8,
    "i1": torch.bool,
}


def region(shape: str, element: str) -> str:
    """Arguments (x, doubled, copied): doubled = x + x, or not x for booleans; copied = x."""
    value, destination = f"!torch.vtensor<[{shape}],{element}>", f"!torch.tensor<[{shape}],{element}>"
    if element == "i1":
        computed = f"%0 = torch.aten.logical_not %x : {value} -> {value}"
    else:
        computed = f"%0 = torch.aten.add.Tensor %x, %x, %one : {value}, {value}, !torch.int -> {value}"
    return f"""
module @region {{
  func.func @main(%x: {value}, %doubled: {destination}, %copied: {destination}) {{
    %one = torch.constant.int 1
    {computed}
    torch.overwrite.tensor.contents %0 overwrites %doubled : {value}, {destination}
    torch.overwrite.tensor.contents %x overwrites %copied : {value}, {destination}
    return
  }}
}}
"""


def build(sources: dict[str, str]) -> dict[str, CompiledRegion]:
    compiled = {}
    for name, outcome in compile_regions(sources, CpuTarget(), timeout=120).items():
        assert isinstance(outcome, CompiledRegion), outcome
        compiled[name] = outcome
    return compiled


@pytest.fixture(scope="module")
def compiled() -> CompiledRegion:
    return build({"region": region("4,8", "f32")})["region"]


@pytest.fixture
def arguments() -> list[torch.Tensor]:
    return [torch.randn(4, 8), torch.empty(4, 8), torch.empty(4, 8)]


def assert_right(x, doubled, copied):
    assert torch.equal(doubled, ~x if x.dtype is torch.bool else x + x)
    assert torch.equal(copied, x)


def test_every_dtype_and_shape():
    """An element type that IREE reads as another, a 0-dim or an empty tensor that can't be imported, a copy that the
    imported memory does not allow: each shows here."""
    shapes = {"3,5": (3, 5), "": (), "0,5": (0, 5)}
    cases = [(shape, element) for shape in shapes for element in ELEMENTS]
    for name, code in build({f"{shape}:{element}": region(shape, element) for shape, element in cases}).items():
        shape, element = name.split(":")
        x = (torch.rand(shapes[shape]) * 100 - (0 if element == "ui8" else 50)).to(ELEMENTS[element])
        doubled, copied = torch.empty_like(x), torch.empty_like(x)
        Executable(code, "local-sync", name)(x, doubled, copied)
        assert_right(x, doubled, copied)


@pytest.mark.parametrize("driver", DRIVERS)
def test_new_addresses_and_known_ones(compiled, driver):
    """A binding used for memory other than its own would read or write the wrong tensor."""
    executable = Executable(compiled, driver, "region")
    kept = [[torch.randn(4, 8), torch.empty(4, 8), torch.empty(4, 8)] for _ in range(iree_executable.MAX_BINDINGS + 3)]
    for _ in range(2):
        for tensors in kept:
            tensors[0].normal_()
            executable(*tensors)
            assert_right(*tensors)


@pytest.mark.usefixtures("young_garbage")
def test_arguments_die_with_the_caller(compiled):
    """Remembered bindings that own their memory would keep every activation of the last calls alive."""
    executable = Executable(compiled, "local-sync", "region")
    memory = np.empty(48, np.float32)
    memory_alive = weakref.ref(memory)
    aligned = -memory.ctypes.data % ALIGNMENT // memory.itemsize
    tensors = [torch.from_numpy(memory[aligned : aligned + 32].reshape(4, 8)), torch.empty(4, 8), torch.empty(4, 8)]
    executable(*tensors)
    executable(*tensors)
    del tensors, memory
    gc.collect()
    assert memory_alive() is None


def test_a_parameter_is_an_input(compiled, arguments):
    """Tensors that require grad refuse the usual export; a region runs inside `Function.forward`, where they come."""
    parameter = torch.nn.Parameter(arguments[0])
    Executable(compiled, "local-sync", "region")(parameter, *arguments[1:])
    assert_right(parameter.detach(), *arguments[1:])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        pytest.param(torch.empty(33)[1:].view(4, 8), "aligned to 64 bytes", id="misaligned"),
        pytest.param(torch.empty(8, 4).t(), "contiguous", id="transposed"),
        pytest.param(torch.empty(5, 8), r"shape \(4, 8\)", id="shape"),
        pytest.param(torch.empty(4, 8, dtype=torch.float64), "expected torch.float32", id="dtype"),
    ],
)
def test_a_wrong_argument_is_named_and_spoils_nothing(compiled, arguments, wrong, message):
    """IREE does not check alignment and strides: it would read the wrong memory, or fault."""
    executable = Executable(compiled, "local-sync", "region 7")
    executable(*arguments)
    with pytest.raises(ValueError, match=rf"region 'region 7', argument 0: .*{message}"):
        executable(wrong, *arguments[1:])
    executable(*arguments)
    assert_right(*arguments)


def test_a_wrong_first_call_spoils_nothing(compiled, arguments):
    """What the first call looked like is remembered; if it was wrong, every right call after it would be refused."""
    executable = Executable(compiled, "local-sync", "region 7")
    with pytest.raises(ValueError, match="shape dimension 0 mismatch") as caught:
        executable(torch.empty(5, 8), *arguments[1:])
    assert caught.value.__notes__ == ["while running region 'region 7' on local-sync"]
    executable(*arguments)
    assert_right(*arguments)


def test_unsupported_dtype_and_device_are_named(compiled, arguments):
    """A KeyError would say neither which argument nor what is possible."""
    executable = Executable(compiled, "local-sync", "region 7")
    with pytest.raises(TypeError, match=r"argument 0: got torch.complex64, expected one of .*'torch.float32'"):
        executable(torch.empty(4, 8, dtype=torch.complex64), *arguments[1:])
    with pytest.raises(ValueError, match="argument 0: got a tensor on meta, expected cpu"):
        executable(torch.empty(4, 8, device="meta"), *arguments[1:])


@pytest.mark.parametrize("driver", DRIVERS)
def test_threads_share_an_executable(compiled, driver):
    """Autograd's threads call the same regions at the same time."""
    executable = Executable(compiled, driver, "region")
    wrong = []

    def work():
        for _ in range(300):
            tensors = torch.randn(4, 8), torch.empty(4, 8), torch.empty(4, 8)
            executable(*tensors)
            if not torch.equal(tensors[1], tensors[0] * 2) or not torch.equal(tensors[2], tensors[0]):
                wrong.append(tensors)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_forked_child_can_call(compiled, arguments, driver):
    """The thread pool does not survive a fork: a child (a data loader's worker) would wait for it for ever."""
    executable = Executable(compiled, driver, "region")
    executable(*arguments)
    child = os.fork()
    if child == 0:
        try:
            arguments[0].fill_(3)
            executable(*arguments)
            assert_right(*arguments)
        except BaseException:  # the child must not go on as a second pytest
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0
    executable(*arguments)
    assert_right(*arguments)


def test_prepare_copies_only_what_iree_cannot_import():
    """A needless copy costs time; a missing one gives wrong values."""
    fine = torch.randn(4, 8, requires_grad=True)
    assert prepare(fine) is fine
    assert prepare(empty := torch.empty(0, 3)) is empty
    elsewhere = (torch.randn(33)[1:], torch.randn(4, 8).t(), torch.randn(4, 1).expand(4, 8))
    for tensor in (*elsewhere, torch._neg_view(fine), torch._efficientzerotensor((4, 8))):
        prepared = prepare(tensor)
        assert prepared is not tensor
        assert torch.equal(prepared, tensor)
        assert prepared.is_contiguous()
        assert prepared.data_ptr() % ALIGNMENT == 0
        assert not prepared.is_neg()
        assert not prepared.requires_grad
