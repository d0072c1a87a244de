"""Rewrites the generated sections of README.md and docs/: `python -m dovetail.tools.regenerate_docs`, at the root.

A section stands between `<!-- begin NAME -->` and `<!-- end NAME -->`.
"""

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from dovetail.errors import DovetailError
from dovetail.tools.bench import report as bench
from dovetail.tools.documented_explain import explain_sections
from dovetail.tools.documented_ops import ops_sections
from dovetail.tools.documented_reference import reference_sections
from dovetail.tools.documented_semantics import semantics_sections
from dovetail.tools.documented_walk import walk_sections
from dovetail.tools.sweep import report as sweep
from dovetail.tools.wrongs import report as wrongs

_SECTION = re.compile(r"<!-- begin (?P<name>\S+) -->\n(?P<text>.*?)<!-- end (?P=name) -->", re.DOTALL)
_MARKER = re.compile(r"<!-- (begin|end) \S+ -->")


def documents(root: Path) -> list[Path]:
    """The documents that may hold generated sections.

    Raises:
        DovetailError: if `root` is not the root of the repository.
    """
    if not (root / "README.md").exists() or not (root / "docs").is_dir():
        raise DovetailError(f"{root}: expected the root of the repository, with README.md and docs/")
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def found_sections(text: str) -> dict[str, str]:
    """The sections of a document, by name.

    Raises:
        DovetailError: for a marker that has no partner.
    """
    unpaired = _MARKER.search(_SECTION.sub("", text))
    if unpaired is not None:
        raise DovetailError(f"marker '{unpaired[0]}' has no partner")
    return {match["name"]: match["text"] for match in _SECTION.finditer(text)}


def rewritten(text: str, sections: Mapping[str, str]) -> str:
    """`text` with the content of each of its sections from `sections`.

    Raises:
        DovetailError: for a section that nothing generates, naming those that exist.
    """
    for name in found_sections(text):
        if name not in sections:
            raise DovetailError(f"nothing generates section '{name}', valid are {', '.join(sections)}")
    return _SECTION.sub(lambda match: _marked(match["name"], sections[match["name"]]), text)


def generated_sections() -> dict[str, str]:
    """Everything that can be generated, by section name; compiles the walk's function."""
    return {
        **reference_sections(),
        **ops_sections(),
        **walk_sections(),
        **explain_sections(),
        **semantics_sections(),
        **wrongs.sections(),
        sweep.SECTION: sweep.markdown(),
        **bench.sections(),
    }


def main() -> int:
    """Rewrites the documents in the current folder, and says which; returns the exit status."""
    try:
        paths = documents(Path.cwd())
        sections = generated_sections()
        for path in paths:
            text = path.read_text(encoding="utf-8")
            current = rewritten(text, sections)
            if current != text:
                path.write_text(current, encoding="utf-8")
                print(f"rewritten: {path}")
    except DovetailError as error:
        print(f"regenerate_docs: {error}", file=sys.stderr)
        return 1
    return 0


def _marked(name: str, text: str) -> str:
    return f"<!-- begin {name} -->\n{text}<!-- end {name} -->"


if __name__ == "__main__":
    sys.exit(main())
