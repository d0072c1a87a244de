"""`dovetail.explain` of what is compiled already: the program is explained that runs, with the options it was given."""

from importlib import import_module
from pathlib import Path

import pytest
import torch
from parsed_page import Page
from torch._dynamo.exc import BackendCompilerFailed

import dovetail
from dovetail import tuning
from dovetail.backends.target import VARIANTS
from dovetail.errors import OptionError, StrictError, UnsupportedError
from dovetail.explanation.compiled_options import compiled_options
from dovetail.options import Options

BUDGET = {"memory_budget": 0.0}


def layers(x, w):
    return torch.tanh(x @ w) @ w


def arguments() -> tuple[torch.Tensor, torch.Tensor]:
    x = torch.linspace(0, 1, 64).reshape(8, 8)
    return x, x.clone().requires_grad_()


def module_compiled_in_place() -> torch.nn.Module:
    module = torch.nn.Linear(2, 2)
    module.compile(backend="dovetail", options=BUDGET)
    return module


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: layers, Options()),
        (lambda: torch.nn.Linear(2, 2), Options()),
        (lambda: torch.compile(layers, backend="dovetail"), Options()),
        (lambda: torch.compile(layers, backend="dovetail", options=BUDGET), Options(memory_budget=0.0)),
        (lambda: torch.compile(torch.nn.Linear(2, 2), backend="dovetail", options=BUDGET), Options(memory_budget=0.0)),
        (
            lambda: torch.compile(torch.nn.Linear(2, 2).forward, backend="dovetail", options=BUDGET),
            Options(memory_budget=0.0),
        ),
        (module_compiled_in_place, Options(memory_budget=0.0)),
        (lambda: torch.compile(layers, backend="dovetail", mode="max-autotune-no-cudagraphs"), Options(tune=True)),
        (lambda: torch.compile(layers, backend="inductor", mode="max-autotune"), Options()),
        (lambda: torch.compile(layers, backend="eager"), Options()),
    ],
    ids=[
        "function",
        "module",
        "defaults",
        "compiled",
        "compiled module",
        "method",
        "in place",
        "mode",
        "inductor",
        "eager",
    ],
)
def test_options_are_those_of_the_compiled_function(make, expected: Options):
    """Would catch a way to compile whose options are lost, and another backend's taken for ours."""
    assert compiled_options(make()) == expected


def test_program_is_the_one_that_runs(tmp_path: Path):
    """Would catch an explanation with the defaults, of a program that never runs, or one that hides the options."""
    path = tmp_path / "page.html"
    compiled = torch.compile(layers, backend="dovetail", options=BUDGET)
    explanation = dovetail.explain(compiled, *arguments(), html=path)
    dovetail.stats(reset=True)
    compiled(*arguments())
    (program,) = explanation.graphs
    own = sum(each.nbytes for each in program.saved if each.private)
    assert own == dovetail.stats().saved_bytes
    (default,) = dovetail.explain(layers, *arguments()).graphs
    assert own < sum(each.nbytes for each in default.saved if each.private)
    assert str(explanation).splitlines()[0] == "options: memory_budget=0.0"
    assert explanation.options == Options(memory_budget=0.0)
    page = Page(path.read_text(encoding="utf-8"))
    assert "Compiled with memory_budget=0.0" in [text for _, text in page.all("p")]


def test_strict_raises_as_the_compiled_function_does():
    """Would catch a drawing of a program that strict mode never lets run."""
    compiled = torch.compile(torch.sinh, backend="dovetail", options={"strict": True})
    with pytest.raises(BackendCompilerFailed) as caught:
        dovetail.explain(compiled, torch.ones(4))
    assert isinstance(caught.value.inner_exception, StrictError)


def test_invalid_options_are_told():
    """Would catch an explanation of what can't be compiled at all."""
    for given in ({"options": {"strikt": True}}, {"mode": "reduce-overheat"}):
        with pytest.raises(OptionError):
            dovetail.explain(torch.compile(layers, backend="dovetail", **given), *arguments())


def test_options_that_can_not_be_read_are_refused():
    """Would catch the defaults taken silently under a PyTorch that keeps options elsewhere."""

    def fn(x):
        return x

    fn.get_compiler_config = lambda: None
    with pytest.raises(UnsupportedError) as caught:
        dovetail.explain(fn, torch.ones(4))
    assert str(caught.value) == (
        f"explain can't read the options that {fn!r} was compiled with from torch {torch.__version__}; "
        "expected the function as it was before torch.compile"
    )


@pytest.mark.usefixtures("remembered_runs")
def test_tuning_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch a choice that changes what runs and that neither text nor page shows."""
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    # What test/dovetail/tuning/test_tuning.py compiles, too.
    alternatives = import_module("dovetail.tuning.alternatives")  # the package has a function of the module's name
    monkeypatch.setattr(alternatives, "VARIANTS", {"default": VARIANTS["default"]})
    fastest = "split"
    monkeypatch.setattr(tuning, "seconds_per_call", lambda way: 1e-6 if way.name == fastest else 5e-6)
    path = tmp_path / "page.html"
    compiled = torch.compile(lambda x: torch.exp(x) * 2 + 1, backend="dovetail", options={"tune": True})
    explanation = dovetail.explain(compiled, torch.linspace(-1, 1, 16).reshape(4, 4), html=path)
    (program,) = explanation.graphs
    assert {region.tuned for region in program.regions} == {fastest}
    assert all(region.measured.startswith(f"{fastest} 1.0 us, ") for region in program.regions)
    assert f"tuned: {fastest}, measured: {fastest} 1.0 us" in " ".join(str(explanation).split())
    rows = Page(path.read_text(encoding="utf-8")).rows("regions")
    assert [row[4:] for row in rows] == [[region.tuned, region.measured] for region in program.regions]
