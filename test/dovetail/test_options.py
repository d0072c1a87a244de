"""`torch.compile(..., backend="dovetail", options={...})`: what is taken, and what a mistake is told."""

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed

import dovetail
from dovetail.errors import OptionError
from dovetail.options import MODES, Options


def test_defaults():
    """Would catch None, which torch passes without `options=`, being taken for a mistake."""
    assert Options.parse(None) == Options.parse({}) == Options()


def test_every_option_is_taken():
    """Would catch an option that is checked but not set, and an integer refused where a number is wanted."""
    given = {"strict": True, "partition": "min-cut", "memory_budget": 0, "tune": True}
    given |= {"reduce_overhead": True, "cache": False, "timeout": 3}
    expected = Options(strict=True, memory_budget=0.0, tune=True, reduce_overhead=True, cache=False, timeout=3)
    assert Options.parse(given) == expected
    assert Options.parse({"partition": "default"}).partition == "default"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("default", Options()),
        ("reduce-overhead", Options(reduce_overhead=True)),
        ("max-autotune", Options(tune=True, reduce_overhead=True)),
        ("max-autotune-no-cudagraphs", Options(tune=True)),
    ],
)
def test_modes(mode: str, expected: Options):
    """Would catch a script's mode that is refused, or taken and not heeded."""
    assert Options.parse(None, mode) == expected


def test_every_mode_of_torch_is_known():
    """Would catch a mode that a later torch adds. "lite" compiles only what is marked for inductor."""
    assert {"default", *torch._inductor.list_mode_options()} - {"lite"} == set(MODES)


def test_a_mode_that_does_nothing_is_counted():
    """Would catch a user who believes that calls became cheaper."""
    before = dovetail.stats()
    compiled = torch.compile(torch.sin, backend="dovetail", mode="reduce-overhead")
    assert compiled(torch.zeros(4)).equal(torch.zeros(4))
    after = dovetail.stats()
    assert after.without_effect - before.without_effect == {"reduce_overhead: no calls are recorded on cpu": 1}
    assert "options without effect" in str(after)


def test_unknown_mode():
    """Would catch a TypeError about an argument that the user never wrote, or a mode that is taken and ignored."""
    with pytest.raises(BackendCompilerFailed) as caught:
        torch.compile(torch.sin, backend="dovetail", mode="max-autotun")(torch.ones(4))
    assert isinstance(caught.value.inner_exception, OptionError)
    assert str(caught.value.inner_exception) == (
        "unknown mode 'max-autotun' (did you mean 'max-autotune'?); "
        "valid are 'default', 'reduce-overhead', 'max-autotune', 'max-autotune-no-cudagraphs'"
    )


def test_mode_beside_options():
    """Would catch options that a mode silently takes the place of; `torch.compile` refuses both itself."""
    with pytest.raises(OptionError, match="expected one of them"):
        Options.parse({"strict": True}, "max-autotune")


def test_text_is_what_differs():
    """Would catch explanations that list every option, or leave one out that changes the program."""
    assert str(Options()) == ""
    assert str(Options(memory_budget=0.0, tune=True)) == "memory_budget=0.0, tune=True"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"strikt": True},
            "unknown option 'strikt' (did you mean 'strict'?); "
            "valid are 'strict', 'partition', 'memory_budget', 'tune', 'reduce_overhead', 'cache', 'timeout'",
        ),
        (
            {"mode": 1},
            "unknown option 'mode'; "
            "valid are 'strict', 'partition', 'memory_budget', 'tune', 'reduce_overhead', 'cache', 'timeout'",
        ),
        ({"tune": 1}, "option 'tune' expects bool, got 1"),
        ({"strict": 1}, "option 'strict' expects bool, got 1"),
        ({"strict": "true"}, "option 'strict' expects bool, got 'true'"),
        ({"timeout": True}, "option 'timeout' expects float, got True"),
        ({"timeout": 0}, "option 'timeout' expects a number of seconds above 0, got 0"),
        ({"timeout": float("inf")}, "option 'timeout' expects a number of seconds above 0, got inf"),
        ({"timeout": "3"}, "option 'timeout' expects float, got '3'"),
        ({"partition": 1}, "option 'partition' expects str, got 1"),
        ({"memory_budget": 1.5}, "option 'memory_budget' expects a number from 0 to 1, got 1.5"),
        ({"memory_budget": -1}, "option 'memory_budget' expects a number from 0 to 1, got -1"),
        ({"memory_budget": float("nan")}, "option 'memory_budget' expects a number from 0 to 1, got nan"),
        ({"memory_budget": "0.5"}, "option 'memory_budget' expects float, got '0.5'"),
        (
            {"memory_budget": 0.5, "partition": "default"},
            "option 'memory_budget' needs 'partition' to be 'min-cut', got 'default'",
        ),
        ({"partition": "max-cut"}, "option 'partition' expects one of 'min-cut', 'default', got 'max-cut'"),
    ],
)
def test_mistake_is_told(given: dict, message: str):
    """Would catch an option that is ignored, or refused without its name or what would be valid."""
    with pytest.raises(OptionError) as caught:
        Options.parse(given)
    assert str(caught.value) == message
