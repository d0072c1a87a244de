"""Data goes one way, frontend to passes to backends to runtime, and imports keep to it; all may read `dialects`."""

import ast
import functools
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from new_process import run_python

# What each package may import of Dovetail besides itself. Tools and the driver in dovetail/ may import all.
ALLOWED = {
    "dialects": [],
    "frontend": ["dovetail.dialects"],
    "passes": ["dovetail.dialects", "dovetail.backends.target"],
    "backends": ["dovetail.dialects"],
    "runtime": ["dovetail.dialects", "dovetail.backends"],
}
# Open to all, and what each may import besides the others.
VOCABULARY = {
    "dovetail.errors": [],
    "dovetail.options": [],
    "dovetail.untraced": [],
    "dovetail.wrapping": ["dovetail.dialects"],
}
FOLDERS = [*ALLOWED, "tools", "dovetail"]
# What of the runtime may know MLIR: what loads, from IR to plain records and callables. The rest runs these.
LOADING = {
    "artifact",
    "autograd/read_border",
    "autograd/read_layouts",
    "autograd/read_partial_backward",
    "autograd/read_replay",
    "checks/read_guard",
    "cuda/read_plan",
    "cuda/read_recordable",
    "launches/plan_reader",
    "launches/plans",
    "load_plan",
    "program",
    "read_updates",
    "reference/drawn_inputs",
    "reference/drawn_sizes",
    "reference/executor",
    "reference/on_host",
    "replaying/absent_tangents",
    "replaying/inlining",
    "replaying/joined",
    "subclasses/read_boundary",
}


@functools.cache
def imported_modules(source: Path, root: Path) -> list[tuple[int, str]]:
    """(line, module) for each import in the file, also those inside functions.

    `from dovetail.backends import target` counts as `dovetail.backends.target`, where that is a module below `root`.
    """
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"), str(source))):
        if isinstance(node, ast.Import):
            found += ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            for alias in node.names:
                member = f"{module}.{alias.name}"
                found.append((node.lineno, member if is_module(member, root) else module))
    return found


def is_module(name: str, root: Path) -> bool:
    """Returns whether `dovetail.x.y` is a file or folder: x/y below `root`, or dovetail/x/y for the driver's own."""
    package, *parts = name.split(".")
    if package != "dovetail" or not parts:
        return False
    return any(
        path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()
        for path in (root.joinpath(*parts), root.joinpath("dovetail", *parts))
    )


def allowed_prefixes(source: Path) -> list[str] | None:
    """Returns what a file, named relative to the root, may import of Dovetail; None stands for everything."""
    folder = source.parts[0]
    if folder in ALLOWED:
        return [f"dovetail.{folder}", *ALLOWED[folder], *VOCABULARY]
    if f"dovetail.{source.stem}" in VOCABULARY and folder == "dovetail":
        return [*VOCABULARY, *VOCABULARY[f"dovetail.{source.stem}"]]
    return None


def violations(root: Path) -> list[str]:
    """Returns one line, `file:line: what and why`, for each import below `root` that goes the wrong way."""
    found = []
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py")):
        source = path.relative_to(root)
        allowed = allowed_prefixes(source)
        for line, module in imported_modules(path, root):
            top = module.partition(".")[0]
            if top in FOLDERS and top != "dovetail":
                found.append(f"{source}:{line}: imports '{module}'; its name is 'dovetail.{module}'")
            elif top == "" or (top == "dovetail" and allowed is not None and not is_below(module, allowed)):
                found.append(f"{source}:{line}: imports '{module}'; may import {', '.join(allowed or ['dovetail'])}")
    return found


def is_below(module: str, prefixes: list[str]) -> bool:
    """Returns whether `module` is one of the prefixes or lies in one of them."""
    return any(module == prefix or module.startswith(f"{prefix}.") for prefix in prefixes)


def test_imports_go_one_way(repository: Path) -> None:
    """Catches a package that reaches up: a pass that reads the frontend's tables, a runtime that needs the compiler."""
    assert not violations(repository), "\n" + "\n".join(violations(repository))


@pytest.mark.parametrize("package", ALLOWED)
def test_folders_have_an_order(repository: Path, package: str) -> None:
    """Catches two folders of a package that need each other, so that neither can be read first."""
    needed: dict[str, set[str]] = {}
    for path in (repository / package).glob("*/**/*.py"):
        folder = path.relative_to(repository / package).parts[0]
        modules = [module.split(".") for _, module in imported_modules(path, repository)]
        folders = {parts[2] for parts in modules if parts[:2] == ["dovetail", package] and len(parts) > 3}
        needed.setdefault(folder, set()).update(folders - {folder})
    TopologicalSorter(needed).prepare()


@pytest.mark.parametrize(
    ("file", "code", "message"),
    [
        ("runtime/a.py", "import dovetail.frontend.capture", "imports 'dovetail.frontend.capture'"),
        ("runtime/a.py", "from dovetail import passes", "imports 'dovetail.passes'"),
        ("runtime/a.py", "import dovetail", "imports 'dovetail'"),
        (
            "passes/a.py",
            "def f():\n    from dovetail.backends.host_cpu import B",
            "imports 'dovetail.backends.host_cpu'",
        ),
        ("passes/a.py", "from dovetail.backends import host_cpu", "imports 'dovetail.backends.host_cpu'"),
        ("dialects/a.py", "from dovetail.runtime import stats", "imports 'dovetail.runtime'"),
        ("dovetail/errors.py", "from dovetail.dialects import context", "imports 'dovetail.dialects'"),
        ("tools/a.py", "import frontend.capture", "its name is 'dovetail.frontend.capture'"),
        ("backends/a.py", "from . import cache", "imports '.'"),
    ],
)
def test_wrong_way_is_reported(tmp_path: Path, file: str, code: str, message: str) -> None:
    """Catches a layering check that sees only some spellings of an import, or only those at the top of a file."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    (tmp_path / "backends" / "host_cpu.py").touch()
    (tmp_path / file).write_text(code, encoding="utf-8")
    [found] = violations(tmp_path)
    assert found.startswith(f"{file}:{len(code.splitlines())}: ")
    assert message in found


def test_runtime_lives_without_frontend_and_passes(repository: Path) -> None:
    """Catches an artifact that can't run alone, because something on the way pulls the compiler in."""
    files = (repository / "runtime").rglob("[!_]*.py")
    modules = sorted(".".join(["dovetail", *path.relative_to(repository).with_suffix("").parts]) for path in files)
    script = f"""
import importlib, sys
sys.modules["dovetail.frontend"] = sys.modules["dovetail.passes"] = None
for module in {modules}:
    importlib.import_module(module)
"""
    done = run_python(script)
    assert done.returncode == 0, done.stderr


def test_running_needs_no_mlir(repository: Path) -> None:
    """Catches a call that reads the IR: what it is told is then found out again and again, or only where MLIR is."""
    files = {
        path.relative_to(repository / "runtime").with_suffix("") for path in repository.glob("runtime/**/[!_]*.py")
    }
    names = {str(file) for file in files}
    assert names >= LOADING, f"no such modules: {LOADING - names}"
    running = [f"dovetail.runtime.{name.replace('/', '.')}" for name in sorted(names - LOADING)]
    script = f"import importlib, sys; sys.modules['torch_mlir'] = None; [*map(importlib.import_module, {running})]"
    done = run_python(script)
    assert done.returncode == 0, done.stderr


def test_dialect_annotations_are_evaluated(repository: Path) -> None:
    """Catches the future import that turns every operand of an op into an attribute: the bindings read real types."""
    found = [
        f"{path.relative_to(repository)}:{line}"
        for path in sorted((repository / "dialects").rglob("*.py"))
        for line, module in imported_modules(path, repository)
        if module == "__future__"
    ]
    assert not found, f"from __future__ import annotations in {', '.join(found)}"
