"""Finds checks in lit tests that check nothing: `python -m dovetail.tools.lint_checks FOLDER`.

FileCheck passes over every line that it does not recognise, so a misspelt directive is a test that cannot fail. The
rule here is strict instead: a comment that starts with a word in capitals and a colon must be a directive of lit or of
FileCheck, with a prefix that one of the file's RUN lines uses, and a used prefix must have a directive. Likewise for
comments that begin with `expected-` and `--verify-diagnostics`, which reads them.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dovetail.tools.opt.expectations import MENTION, expected

LIT_KEYWORDS = {"RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "DEFINE", "REDEFINE", "END.", "ALLOW_RETRIES"}
COMMENT_PREFIXES = {"COM", "RUN"}
SUFFIX = r"(?:-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+))?(?:\{LITERAL\})?"

VERIFY = "--verify-diagnostics"

RUN_LINE = re.compile(r"(?://|#)\s*RUN:(.*)")
FILECHECK = re.compile(r"\bFileCheck\b([^|;&]*)")
PREFIX_OPTION = re.compile(r"--?check-prefix(?:es)?[= ]\s*([\w,-]+)")
FIRST_WORD = re.compile(r"(?://|#)\s*(?P<word>[A-Za-z][\w.-]*(?:\{LITERAL\})?)(?P<colon>\s*[:\uff1a])?")


@dataclass(frozen=True)
class Finding:
    """One directive that checks nothing; prints as `file:line: message`."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def used_prefixes(text: str) -> dict[str, int]:
    """Maps each prefix that a FileCheck command of `text` reads to the line of the first one that does."""
    prefixes: dict[str, int] = {}
    for number, command in run_commands(text):
        for options in FILECHECK.findall(command):
            named = ",".join(PREFIX_OPTION.findall(options)) or "CHECK"
            for prefix in named.split(","):
                prefixes.setdefault(prefix, number)
    return prefixes


def run_commands(text: str) -> Iterator[tuple[int, str]]:
    """Yields (line of its start, command), with lines that end in a backslash joined as lit joins them."""
    start, command = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        match = RUN_LINE.search(line)
        if not match:
            continue
        start = start if command else number
        command += match.group(1).strip()
        if command.endswith("\\"):
            command = command[:-1]
            continue
        yield start, command
        command = ""


def complaint(line: str, prefixes: set[str]) -> str | None:
    """Returns what is wrong with the directive on `line`, None if it has none or a good one."""
    first = FIRST_WORD.search(line)
    word, colon = (first["word"], first["colon"]) if first else ("", None)
    if colon == ":" and word in LIT_KEYWORDS | COMMENT_PREFIXES:
        return None
    directive = directive_pattern(prefixes).search(line)
    if directive:
        hidden = re.search("|".join(sorted(COMMENT_PREFIXES)), line[: directive.start()])
        return f"'{hidden.group()}' before '{directive.group()}' makes FileCheck skip the line" if hidden else None
    misspelt = next((prefix for prefix in prefixes if word == prefix or word.startswith(f"{prefix}-")), None)
    if misspelt and colon != ":":
        return f"'{word}' is not followed by an ASCII colon"
    if misspelt:
        return f"'{word}:' is no directive: '{misspelt}' takes -NEXT, -SAME, -NOT, -DAG, -LABEL, -EMPTY or -COUNT-n"
    if colon and (word.isupper() or re.split("[-_]", word)[0].upper() in prefixes | {"CHECK"}):
        used = ", ".join(sorted(prefixes)) or "none"
        return f"'{word}:' has no prefix that a RUN line uses ({used}); a remark is 'COM:' or not in capitals"
    return None


def directive_pattern(prefixes: set[str]) -> re.Pattern[str]:
    """Returns the pattern of a good directive with one of the prefixes."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(prefixes))) or '(?!)'}){SUFFIX}:")


def lint_text(path: Path, text: str) -> Iterator[Finding]:
    """Yields the findings of one lit test with the given text."""
    prefixes = used_prefixes(text)
    for number, line in enumerate(text.splitlines(), 1):
        message = complaint(line, set(prefixes))
        if message:
            yield Finding(path, number, message)
    for prefix, number in prefixes.items():
        if not directive_pattern({prefix}).search(text):
            yield Finding(path, number, f"FileCheck reads prefix '{prefix}', which no line of the file has")
    yield from lint_expectations(path, text)


def lint_expectations(path: Path, text: str) -> Iterator[Finding]:
    """Yields the findings about expected errors in one lit test."""
    readers = [number for number, command in run_commands(text) if VERIFY in command]
    mentions = {number: line for number, line in enumerate(text.splitlines(), 1) if MENTION.search(line)}
    for number, line in mentions.items():
        if next(expected(line), None) is None:
            yield Finding(path, number, "an expected error that can't be read; write 'expected-error @below {{text}}'")
        elif not readers:
            yield Finding(path, number, f"an expected error that no RUN line reads, they lack {VERIFY}")
    if readers and not mentions:
        yield Finding(path, readers[0], f"{VERIFY} in a file that expects no error")


def lint_pytest_text(path: Path, text: str) -> Iterator[Finding]:
    """Yields the RUN lines of a file that only pytest runs."""
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*#\s*RUN:", line):
            yield Finding(path, number, "a RUN line in a file that lit does not run; lit tests are not named test_*.py")


def lint_folder(folder: Path) -> list[Finding]:
    """Returns the findings of every lit and pytest file below `folder`, in order of path and line."""
    findings: list[Finding] = []
    for path in sorted(folder.rglob("*")):
        if path.suffix not in {".mlir", ".py"} or "Inputs" in path.relative_to(folder).parts:
            continue
        run_by_pytest = path.name == "conftest.py" or path.match("test_*.py")
        lint = lint_pytest_text if run_by_pytest else lint_text
        findings += sorted(lint(path, path.read_text(encoding="utf-8")), key=lambda finding: finding.line)
    return findings


def main() -> int:
    """Prints the findings below the folder named on the command line; the exit status says whether there are any."""
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        print(f"usage: python -m dovetail.tools.lint_checks FOLDER; got {sys.argv[1:]}", file=sys.stderr)
        return 2
    findings = lint_folder(Path(sys.argv[1]))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
