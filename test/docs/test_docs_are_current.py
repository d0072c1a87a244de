"""The documents say what the code does: generated sections are current, the walk can be replayed, examples run."""

import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from dovetail.errors import DovetailError
from dovetail.tools.documented_semantics import rows
from dovetail.tools.documented_walk import arguments, stages, step
from dovetail.tools.opt import command as opt
from dovetail.tools.regenerate_docs import documents, found_sections, generated_sections, rewritten

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [path.relative_to(ROOT).as_posix() for path in documents(ROOT)]
STAGES = [name for name, _ in stages()]


@pytest.fixture(scope="module")
def walk() -> dict[str, str]:
    """The sections of docs/walk.md as they stand, without fences."""
    sections = found_sections((ROOT / "docs/walk.md").read_text(encoding="utf-8"))
    return {name: "\n".join(text.splitlines()[1:-1]) for name, text in sections.items()}


def test_sections_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass, an op, an option or a message changed, and a document still tells the old story, or drops the section.

    What is said of each row of docs/semantics.md, test/semantics/test_rows.py holds, which has captured it.
    """
    written = [
        (path, name, text)
        for path in DOCUMENTS
        for name, text in found_sections((ROOT / path).read_text(encoding="utf-8")).items()
    ]
    told = {name: text for path, name, text in written if path == "docs/semantics.md"}
    assert re.findall(r"^### (\w+)$", "".join(told.values()), re.MULTILINE) == [row.number for row in rows()]
    monkeypatch.setattr("dovetail.tools.regenerate_docs.semantics_sections", lambda: told)
    generated = generated_sections()
    stale = [f"section {name} of {path}" for path, name, text in written if text != generated.get(name)]
    assert not stale, f"{', '.join(stale)}: stale, run 'make docs'"
    assert sorted(name for _, name, _ in written) == sorted(generated)


@pytest.mark.parametrize(("before", "after"), list(pairwise(STAGES)))
def test_walk_can_be_replayed(before: str, after: str, walk: dict[str, str], tmp_path: Path) -> None:
    """The text of a stage does not parse with its short type names, or the command shown does not lead on from it.

    The commands contain `--run-check`, so each step also keeps what the user observes.
    """
    source, result = tmp_path / "before.mlir", tmp_path / "after.mlir"
    source.write_text(walk[f"walk:{before}"], encoding="utf-8")
    program, *options = shlex.split(walk[f"walk:to-{after}"])
    assert program == "dovetail-opt"
    assert opt.main([*options, str(source), "-o", str(result)]) == 0
    expected = tmp_path / "expected.mlir"
    expected.write_text(walk[f"walk:{after}"], encoding="utf-8")
    plain = tmp_path / "plain.mlir"
    assert opt.main([str(expected), "-o", str(plain)]) == 0
    assert result.read_text(encoding="utf-8") == plain.read_text(encoding="utf-8")


def test_walk_is_eager() -> None:
    """The walk explains a function that Dovetail gets wrong: its update, the view's base or the gradient."""
    observed = []
    for function in (step, torch.compile(step, backend="dovetail", fullgraph=True)):
        x, weight, mean = arguments()
        y, transposed = function(x, weight, mean)
        (y.sum() + transposed.square().sum()).backward()
        assert transposed._base is y
        observed.append((y, transposed, mean, weight.grad))
    torch.testing.assert_close(observed[1], observed[0])


def test_every_document_is_listed() -> None:
    """A document was added, renamed or dropped, and nobody is led to it."""
    listed = re.findall(r"^\| \[([\w-]+\.md)\]\(\1\)", (ROOT / "docs/README.md").read_text(encoding="utf-8"), re.M)
    assert sorted([*listed, "README.md"]) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def test_quick_start_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """The first thing that a reader tries fails, or compiles nothing."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(import torch\n.*?)```", text, re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})
    assert re.search(r"graphs: [1-9]\d*, regions: [1-9]\d*", capsys.readouterr().out)


@pytest.mark.parametrize("path", DOCUMENTS)
def test_links_lead_somewhere(path: str) -> None:
    """A document was moved or a heading renamed, and a link to it is dead."""
    document = ROOT / path
    code = re.compile(r"(?P<quote>`+)(?!`).*?(?<!`)(?P=quote)(?!`)", re.DOTALL)
    prose = code.sub("", document.read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose):
        linked = (document.parent / target).resolve() if target else document
        assert linked.exists(), f"{path} links to {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, f"{path} links to #{anchor} of {linked.name}"


def test_decisions_have_numbers_of_their_own() -> None:
    """Two decisions were written at the same time under one number, or a title names another number than its file."""
    numbers = []
    for path in sorted((ROOT / "docs/decisions").iterdir()):
        title = path.read_text(encoding="utf-8").splitlines()[0]
        numbers.append(int(path.name.partition("-")[0]))
        assert title.startswith(f"# {numbers[-1]}. "), path.name
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("path", DOCUMENTS)
def test_links_name_the_decision_that_they_lead_to(path: str) -> None:
    """A decision got another number, and a link to it still shows the old one."""
    text = (ROOT / path).read_text(encoding="utf-8")
    for shown, linked in re.findall(r"\[decision\s+(\d+)\]\([^)]*?(\d{4})-", text, re.IGNORECASE):
        assert int(shown) == int(linked), f"{path} links to decision {int(linked)} as {shown}"


def test_unknown_section_is_refused() -> None:
    """A misspelt marker stays empty for ever, or swallows text up to the next marker's end."""
    with pytest.raises(DovetailError, match="nothing generates section 'walk:joind', valid are walk:joint"):
        rewritten("<!-- begin walk:joind -->\n<!-- end walk:joind -->", {"walk:joint": ""})
    with pytest.raises(DovetailError, match="marker '<!-- begin walk:joint -->' has no partner"):
        rewritten("<!-- begin walk:joint -->\n<!-- end walk:joind -->", {"walk:joint": ""})


def test_wrong_folder_is_refused(tmp_path: Path) -> None:
    """Run elsewhere, the command would fail with a traceback."""
    with pytest.raises(DovetailError, match="expected the root of the repository"):
        documents(tmp_path)
