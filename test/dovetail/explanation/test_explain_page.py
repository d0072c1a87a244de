"""`dovetail.explain(..., html=path)`: the page is well-formed and whole, and says what the explanation says."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from parsed_page import Page
from rich.filesize import decimal
from torch.nn.functional import gelu
from torch_mlir import ir

import dovetail
from dovetail.dialects.context import make_context
from dovetail.dialects.memory.memory_use import memory_use
from dovetail.explanation import Explanation
from dovetail.explanation.records import Program
from dovetail.runtime.stats import Stats


def trained(x, w):
    hidden = gelu(x * w) @ w
    return torch.sinh(hidden).sum()  # </script><b>&


def broken(x, y):
    torch.ops.aten.resize_(x, [8])
    print("between")
    return y * 2


def matrix() -> torch.Tensor:
    return torch.linspace(0, 1, 64 * 64).reshape(64, 64)


LAST = "return torch.sinh(hidden).sum()  # </script><b>&"

CASES: dict[str, tuple[Callable, Callable[[], tuple]]] = {
    "trained": (trained, lambda: (matrix(), matrix().requires_grad_())),
    "inference": (trained, lambda: (matrix(), matrix())),
    "eager, then compiled": (broken, lambda: (torch.ones(4), torch.ones(4))),
    "no graph": (lambda: 3, lambda: ()),
}

Explained = tuple[Explanation, str]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Explained]:
    """The explanation and the page's text of each case."""
    path = tmp_path_factory.mktemp("pages") / "page.html"
    found = {}
    for name, (fn, arguments) in CASES.items():
        explanation = dovetail.explain(fn, *arguments(), html=path)
        found[name] = explanation, path.read_text(encoding="utf-8")
    return found


@pytest.mark.parametrize("name", CASES)
def test_page_is_well_formed_and_needs_no_network(name: str, pages: dict[str, Explained]):
    """Would catch a tag left open, a link to nowhere, an id used twice, and anything loaded from elsewhere."""
    text = pages[name][1]
    page = Page(text)
    ids = Counter(attributes["id"] for _, attributes, _ in page.elements if "id" in attributes)
    assert not [each for each, count in ids.items() if count > 1]
    targets = [attributes["href"] for _, attributes, _ in page.elements if "href" in attributes]
    assert targets
    assert not [each for each in targets if not each.startswith("#") or each[1:] not in ids]
    assert not [tag for tag, attributes, _ in page.elements if tag in ("script", "link", "img") or "src" in attributes]
    assert not re.search(r"https?://|@import|url\(", text)


@pytest.mark.parametrize("name", CASES)
def test_page_says_what_the_text_says(name: str, pages: dict[str, Explained]):
    """Would catch a page about another explanation than the printed one, or one that leaves a graph out."""
    explanation, text = pages[name]
    page = Page(text)
    (printed,) = [inside for _, inside in page.all("pre")]
    assert printed == str(explanation)
    assert len(page.all("h2")) == len(explanation.graphs) + 1


def programs(pages: dict[str, Explained], name: str = "trained") -> tuple[Program, Page]:
    explanation, text = pages[name]
    (program,) = explanation.graphs
    assert isinstance(program, Program)
    return program, Page(text)


def test_regions_and_library_calls_appear(pages: dict[str, Explained]):
    """Would catch a region or a call that is drawn and not listed, listed twice, or with another's reason."""
    program, page = programs(pages)
    assert [(row[0], int(row[1])) for row in page.rows("regions")] == [
        (each.name, each.ops) for each in program.regions
    ]
    inside = {row[0]: row[2] for row in page.rows("regions")}
    for region in program.regions:
        assert all(name in inside[region.name] for name in region.names)
    calls = Counter((each.name, each.reason, each.line) for each in program.library_calls)
    assert {(row[0], row[3], row[4]): int(row[1]) for row in page.rows("calls")} == calls
    fallbacks = {each.name for each in program.library_calls if each.is_fallback}
    assert fallbacks == {"aten.sinh", "aten.cosh"}
    assert {row[0] for row in page.rows("calls") if row[2] == "fallback"} == fallbacks


def test_saved_values_appear(pages: dict[str, Explained]):
    """Would catch a saved value left out, or its bytes rounded away: the exact number is in the markup."""
    program, page = programs(pages)
    assert Counter(row[0] for row in page.rows("saved")) == Counter(each.value for each in program.saved)
    exact = Counter(int(attributes["value"]) for attributes, _ in page.all("data"))
    assert exact >= Counter(each.nbytes for each in program.saved)
    own = sum(each.nbytes for each in program.saved if each.private)
    assert f"saved for backward, {decimal(own)} of it" in str(pages["trained"][0])
    assert exact[own] >= 2


def test_sizes_are_said_alike(pages: dict[str, Explained]):
    """Would catch text, page and statistics that say one size in three units, or "0.00 MiB" of a small model."""
    program, page = programs(pages)
    own = sum(each.nbytes for each in program.saved if each.private)
    figures = dict(zip((text for _, text in page.all("dt")), (text for _, text in page.all("dd")), strict=True))
    assert figures["saved bytes of its own"] == decimal(own)
    assert f"{decimal(own)} saved for backward" in str(Stats(saved_bytes=own))
    assert "80 bytes saved for backward" in str(Stats(saved_bytes=80))


def test_every_op_is_drawn(pages: dict[str, Explained]):
    """Would catch ops that the picture loses on the way through regions and their memory, or colours wrongly."""
    program, page = programs(pages)
    drawn = [attributes["class"].split()[1] for attributes, _ in page.all("g", "node")]
    assert drawn.count("saved") == len(program.saved)
    assert drawn.count("recomputed") == len(program.recomputed) > 0
    work = sum(region.ops for region in program.regions) + len(program.library_calls)
    assert drawn.count("forward") + drawn.count("backward") + drawn.count("recomputed") == work
    assert len(page.all("g", "library")) == len(program.library_calls)
    assert (drawn.count("gradient"), drawn.count("result"), drawn.count("tangent")) == (1, 1, 1)


def test_figures_are_those_of_the_tables(pages: dict[str, Explained]):
    """Would catch the headline numbers counted in another way than what stands below them."""
    program, page = programs(pages)
    figures = dict(zip((text for _, text in page.all("dt")), (text for _, text in page.all("dd")), strict=True))
    assert figures["values saved"] == str(len(program.saved))
    assert figures["ops recomputed"] == str(len(program.recomputed))
    assert figures["compiled regions"] == str(len(program.regions))
    assert figures["library calls"] == str(len(program.library_calls))


def test_memory_is_the_modules(pages: dict[str, Explained]):
    """Would catch a chart that counts memory in its own way."""
    program, page = programs(pages)
    with make_context():
        uses = memory_use(ir.Module.parse(program.ir))
    assert {each.function: (each.ops, each.peak.live) for each in program.memory if each.peak} == {
        name: (len(use.ops), use.peak) for name, use in uses.items()
    }
    exact = {int(attributes["value"]) for attributes, _ in page.all("data")}
    assert exact >= {use.peak for use in uses.values()}
    assert len(page.rows("steps")) == sum(len(each.steps) for each in program.memory)


def test_user_text_is_escaped(pages: dict[str, Explained]):
    """Would catch a function's name or a source line that ends the page's markup early."""
    assert "# </script><b>&amp;" not in pages["trained"][1]
    page = programs(pages)[1]
    assert any("# </script><b>&" in text for _, text in page.all("td"))
    assert not page.all("b")
    title = Page(pages["no graph"][1]).all("title")[0][1]
    assert title == "<lambda> – dovetail.explain"


def test_source_stands_beside_ops(pages: dict[str, Explained]):
    """Would catch ops shown beside another op's line, or beside none."""
    program = programs(pages)[0]
    shown = [line for line in program.stages[-1].lines if "torch.aten.sinh" in line.text]
    assert shown
    where = f"test_explain_page.py:{trained.__code__.co_firstlineno + 2}"
    assert {(each.source, each.python) for each in shown} == {
        (where, "return torch.sinh(hidden).sum()  # </script><b>&")
    }


def test_every_pass_has_its_stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch a pass that is left out, or shown with another pass's module: `DOVETAIL_DUMP` has them too."""
    monkeypatch.setenv("DOVETAIL_DUMP", str(tmp_path))
    (program,) = dovetail.explain(trained, matrix(), matrix(), html=tmp_path / "page.html").graphs
    dumped = sorted(tmp_path.glob("*/*.mlir"))
    assert [f"{number:02d}_{each.name.partition('{')[0]}" for number, each in enumerate(program.stages)] == [
        each.stem for each in dumped
    ]
    for each, path in zip(program.stages, dumped, strict=True):
        with make_context():
            module = ir.Module.parse(path.read_text(encoding="utf-8"))
        assert "\n".join(line.text for line in each.lines) == str(module).rstrip()
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert len(page.all("details", "pass")) == len(program.stages) - 1
    assert "\n".join(line.text for line in program.stages[-1].lines) == program.ir.rstrip()


def test_same_call_same_page(tmp_path: Path, pages: dict[str, Explained]):
    """Would catch times, addresses, or the order of a set on the page."""
    fn, arguments = CASES["trained"]
    path = tmp_path / "page.html"
    dovetail.explain(fn, *arguments(), html=path)
    assert path.read_text(encoding="utf-8") == pages["trained"][1]
