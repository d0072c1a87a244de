"""`dovetail.explain(..., html=path)`: where the page goes, and what can be wrong with that."""

import tomllib
from pathlib import Path

import pytest
import torch

import dovetail
from dovetail.errors import OptionError


def double(x):
    return x * 2


def test_page_is_asked_for():
    """Would catch stages gathered on calls that show none."""
    (program,) = dovetail.explain(double, torch.ones(4)).graphs
    assert program.stages == ()


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("no/such/page.html", "explain(html='no/such/page.html'): No such file or directory"),
        (".", "explain(html='.'): Is a directory"),
    ],
)
def test_path_that_can_not_be_written(html: str, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Would catch an error after the compilation only, or one that does not name the path."""
    monkeypatch.chdir(tmp_path)
    before = dovetail.stats().graphs
    with pytest.raises(OptionError) as raised:
        dovetail.explain(double, torch.ones(4), html=html)
    assert str(raised.value) == f"{message}; expected a file that can be written"
    assert dovetail.stats().graphs == before


def test_path_of_the_wrong_type():
    """Would catch `html=True` written to the file descriptor of that number."""
    with pytest.raises(OptionError) as raised:
        dovetail.explain(double, torch.ones(4), html=True)
    assert str(raised.value) == "explain(html=True): expected a path, got bool"


def test_templates_are_installed(repository: Path):
    """Would catch a page that only a checkout can write: wheels hold the data files that pyproject.toml names."""
    patterns = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    folder = repository / "dovetail" / "explanation" / "pictures"
    installed = {path for pattern in patterns["dovetail.explanation.pictures"] for path in folder.glob(pattern)}
    assert installed == {
        path for path in folder.iterdir() if path.suffix not in (".py", "") or path.name == "style.css"
    }


def test_earlier_file_is_replaced_by_a_page_only(tmp_path: Path):
    """Would catch a page after an older one's end, and one lost to a call that fails."""
    path = tmp_path / "page.html"
    path.write_text("earlier", encoding="utf-8")
    with pytest.raises(ZeroDivisionError):
        dovetail.explain(lambda: 1 / 0, html=path)
    assert path.read_text(encoding="utf-8") == "earlier"
    dovetail.explain(double, torch.ones(4), html=str(path))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_no_file_stays_of_a_call_that_fails(tmp_path: Path):
    """Would catch an empty file where there was none, also where a link leads to none."""
    path, link = tmp_path / "page.html", tmp_path / "link.html"
    link.symlink_to(path)
    for html in (path, link):
        with pytest.raises(ZeroDivisionError):
            dovetail.explain(lambda: 1 / 0, html=html)
        assert list(tmp_path.iterdir()) == [link]
