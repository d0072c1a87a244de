"""Artifacts: what is saved runs without the compiler, and what can't run is refused."""

import hashlib
import io
import json
import re
import shutil
import stat
import warnings
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from modules import TRAINED
from new_process import run_python

import dovetail
from dovetail.backends.target import CpuTarget
from dovetail.build import begun, build
from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import ArtifactError
from dovetail.options import Options
from dovetail.passes.pipeline import compile_pipeline
from dovetail.passes.running.runner import Runner
from dovetail.runtime import archive, artifact
from dovetail.runtime.artifact import load_artifact, load_module, packed
from dovetail.runtime.program import load_program
from dovetail.tools.run.command import main as run


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact with two regions or more, none with a launch plan; tests change copies of it."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setenv("DOVETAIL_LAUNCH", "iree.runtime")
        return _saved(tmp_path_factory.mktemp("artifact"))


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, each region with a plan."""
    return _saved(tmp_path_factory.mktemp("planned"))


def _saved(folder: Path, text: str = TRAINED) -> Path:
    module, runner = parse_module(text, make_context()), Runner()
    # Too small for regions by the cost model, which is not what is tested here.
    small = [each for each in compile_pipeline() if each.name != "call-small-regions"]
    runner.run(tuple(small), module)
    with begun(module, Options()) as regions:
        executables = build(module, Options(), runner, regions)
    assert executables
    path = folder / "trained.dovetail"
    path.write_bytes(packed(path, module, executables, CpuTarget()))
    return path


def _changed(saved: Path, folder: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A copy of the artifact whose files `change` has changed."""
    with zipfile.ZipFile(saved) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    module = files.get("module.mlir")
    change(files)
    if module != files.get("module.mlir", module) and "artifact.json" in files:
        # Another module is an artifact, too, if the manifest says so.
        _with_manifest(lambda manifest: manifest.update(module=_digest(files["module.mlir"])))(files)
    with zipfile.ZipFile(folder / "changed", "w") as archive:
        for name, contents in files.items():
            archive.writestr(name, contents)
    return folder / "changed"


def _digest(contents: bytes) -> str:
    return hashlib.sha256(contents).hexdigest()


def _with_manifest(change: Callable[[dict], None]) -> Callable[[dict[str, bytes]], None]:
    def changed(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["artifact.json"])
        change(manifest)
        files["artifact.json"] = json.dumps(manifest).encode()

    return changed


@pytest.mark.parametrize("way", ["saved", "planned"])
def test_artifact_does_what_was_compiled(way: str, request: pytest.FixtureRequest):
    """Would catch code under the wrong region's name, or a fact that stayed behind in the compiler's process."""
    module, executables = load_artifact(request.getfixturevalue(way))
    assert executables
    program, _ = load_program(module, executables)
    x, b = torch.linspace(-1, 1, 6).reshape(2, 3).requires_grad_(), torch.arange(6.0).reshape(2, 3)
    expected, old = x.detach().exp() * b, b.clone()
    [result] = program([x, b])
    torch.testing.assert_close(result, expected)
    torch.testing.assert_close(b, -old)
    result.sum().backward()
    torch.testing.assert_close(x.grad, expected)


def test_same_program_is_the_same_artifact(saved: Path, tmp_path: Path):
    """Would catch a date or an order in the file, by which nobody could compare two."""
    module, executables = load_artifact(saved)
    for name in ("one", "other"):
        (tmp_path / name).write_bytes(packed(tmp_path / name, module, executables, CpuTarget()))
        with zipfile.ZipFile(tmp_path / name) as opened:
            assert {each.date_time[0] for each in opened.infolist()} == {1980}
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


@pytest.mark.parametrize(("way", "ending"), [("saved", ".vmfb"), ("planned", ".so")])
def test_layout_is_as_documented(way: str, ending: str, request: pytest.FixtureRequest):
    """Would catch a file that comes or goes without a new format number."""
    with zipfile.ZipFile(request.getfixturevalue(way)) as opened:
        names, manifest = opened.namelist(), json.loads(opened.read("artifact.json"))
        parse_module(opened.read("module.mlir").decode(), make_context())
    assert names[:2] == ["artifact.json", "module.mlir"]
    assert all(name.startswith("code/") and name.endswith(ending) for name in names[2:])
    facts = ("format", "torch", "torch-mlir", "iree", "target", "machine", "module", "regions", "plans")
    assert tuple(manifest) == facts
    assert manifest["format"] == 3
    files = {*(each["file"] for each in manifest["regions"].values()), *manifest["plans"].values()}
    assert files == set(names[2:])


def test_plans_that_cannot_run_leave_their_regions_to_aten(planned: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch an artifact that is lost, or silently slow, where the extension is not built."""
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    dovetail.stats(reset=True)
    module, executables = load_artifact(planned)
    assert executables == {}
    [counted] = dovetail.stats().launches
    assert counted == "ATen, op by op: DOVETAIL_LAUNCH=iree.runtime"
    x, b = torch.randn(2, 3, requires_grad=True), torch.randn(2, 3)
    expected = x.detach().exp() * b
    torch.testing.assert_close(load_program(module, executables)[0]([x, b])[0], expected)


def test_foreign_code_is_refused_unloaded(planned: Path, tmp_path: Path):
    """Would catch a shared object that runs although it is not the one that the plan names."""

    def altered(files: dict[str, bytes]) -> None:
        files.update((name, files[name][:-1] + b"?") for name in files if name.endswith(".so"))

    with pytest.raises(ArtifactError, match="has another SHA-256 than its name says"):
        load_artifact(_changed(planned, tmp_path, altered))

    def foreign(files: dict[str, bytes]) -> None:
        for name in [name for name in files if name.endswith(".so")]:
            del files[name]
        file = f"code/{_digest(b'foreign')}.so"
        files[file] = b"foreign"
        _with_manifest(lambda manifest: manifest.update(plans=dict.fromkeys(manifest["plans"], file)))(files)

    with pytest.raises(ArtifactError, match="expected code for each region of the module and no other, unlike for"):
        load_artifact(_changed(planned, tmp_path, foreign))


def test_plan_that_does_not_fit_its_code_is_refused(planned: Path, tmp_path: Path):
    """Would catch a launch with fewer buffers than the code reads: it would take any bytes for addresses."""

    def change(files: dict[str, bytes]) -> None:
        lines = files["module.mlir"].decode().splitlines()
        fewer = [line.replace('"(%', '"(', 1) if "dovetail.dispatch" in line else line for line in lines]
        fewer = [re.sub(r'(dispatch"\()\d+, (.*: \()!dovetail.buffer, ', r"\1\2", line) for line in fewer]
        fewer = [
            re.sub(r"array<i32: (\d+), 0>", lambda count: f"array<i32: {int(count[1]) - 1}, 0>", line) for line in fewer
        ]
        files["module.mlir"] = "\n".join(fewer).encode()

    message = r"region '.*': the plan does not fit its code, which '.*' takes \d bindings"
    with pytest.raises(ArtifactError, match=message):
        load_artifact(_changed(planned, tmp_path, change))


SHARED = """\
!v = !torch.vtensor<[64,64],f32>
!r = !dovetail.ref<!v, strided<[64, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r {dovetail.name = "x"}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.mm %0, %0 : !v, !v -> !v
    %2 = torch.aten.exp %1 : !v -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
"""
"""`(x @ x).exp()`, which lies where the product was."""


def _twice(lines: list[str], at: int) -> list[str]:
    return [*lines[: at + 1], '    "dovetail.barrier"() : () -> ()', *lines[at:]]


def _never(lines: list[str], at: int) -> list[str]:
    return [*lines[:at], *lines[at + 1 :]]


def _without_range(lines: list[str], at: int) -> list[str]:
    memory = '    %memory = "dovetail.transient"() {bytes = 64 : i64} : () -> !dovetail.buffer'
    filled = '    "dovetail.fill_buffer"(%memory) {pattern = 0 : i32} : (!dovetail.buffer) -> ()'
    return [*lines[:at], memory, filled, *lines[at:]]


def _in_sets(lines: list[str], at: int) -> list[str]:
    launch = re.sub(r"\((%[^)]*)\)", r"(\1, \1)", lines[at], count=1)
    launch = re.sub(r": \((.*)\) -> \(\)", r": (\1, \1) -> ()", launch)
    launch = re.sub(r"i32: (\d+), 0>", lambda found: f"i32: {2 * int(found[1])}, 0>", launch)
    of_a_gpu = "sets = 2 : i64, shared_memory = 0 : i64, workgroup_size = [1, 1, 1], workgroups = [1, 2, 1]"
    return [*lines[:at], re.sub(r"workgroups = \[[^]]*\]", of_a_gpu, launch), *lines[at + 1 :]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without_range, "takes other memory than the results of 'dovetail.subspan'"),
        (_in_sets, "binds the same memory in several sets"),
        (_twice, "does not read argument 0 of '@forward_region_1', where argument 1 lies, too, in one launch"),
        (_never, "never writes argument 1 of '@forward_region_1', a result"),
    ],
)
def test_plans_that_do_not_show_what_memory_they_touch_are_refused(
    tmp_path: Path, change: Callable[[list[str], int], list[str]], message: str
):
    """Would catch a stranger's plan that reads an operand after its result lies there, or leaves that unwritten.

    And one that touches memory in a way that nobody can follow, or in sets that race on one memory.
    """
    made = _saved(tmp_path, SHARED)
    program, _ = load_program(*load_artifact(made))
    x = torch.rand(64, 64) / 8
    torch.testing.assert_close(program([x]), [(x @ x).exp()])

    def changed(files: dict[str, bytes]) -> None:
        lines = files["module.mlir"].decode().splitlines()
        assert any("shared" in line and "dovetail.reuse" in line for line in lines)
        (at,) = (number for number, line in enumerate(lines) if '"dovetail.dispatch"' in line)
        files["module.mlir"] = "\n".join(change(lines, at)).encode()

    path = _changed(made, tmp_path, changed)
    with pytest.raises(ArtifactError) as caught:
        load_artifact(path)
    assert str(caught.value).startswith(f"{path}: loc(")
    assert message in str(caught.value)


def test_artifact_runs_where_the_compiler_cannot_be_imported(saved: Path):
    """Would catch an artifact that needs the frontend, the passes or the driver to run."""
    blocked = ["dovetail.frontend", "dovetail.passes", "dovetail.compiler", "dovetail.build"]
    script = f"""
import sys
for name in {blocked}:
    sys.modules[name] = None
from dovetail.tools.run.command import main
sys.exit(main([{str(saved)!r}, "--input=2x3xf32=0", "--input=2x3xf32=1,2,3,4,5,6", "--gradients"]))
"""
    done = run_python(script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("result 0: 2x3xf32=[[1.,2.,3.],\n [4.,5.,6.]]\n")


def test_other_format_is_refused(saved: Path, tmp_path: Path):
    """Would catch an artifact of a later version that is misread."""
    path = _changed(saved, tmp_path, _with_manifest(lambda manifest: manifest.update(format=1)))
    with pytest.raises(ArtifactError) as caught:
        load_artifact(path)
    assert str(caught.value) == f"{path}: is of format 1, this version of Dovetail reads format 3"


def test_code_of_another_iree_is_refused(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch code that the runtime loads and misunderstands."""
    path = _changed(saved, tmp_path, _with_manifest(lambda manifest: manifest.update(iree="3.1.4")))
    known = artifact._version
    monkeypatch.setattr(artifact, "_version", lambda package: "3.13.0" if "iree" in package else known(package))
    with pytest.raises(ArtifactError) as caught:
        load_artifact(path)
    assert str(caught.value) == f"{path}: was compiled by IREE 3.1.4, but the runtime is of IREE 3.13.0"


def test_code_for_another_cpu_is_refused(saved: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch an illegal instruction, which ends the user's process."""
    monkeypatch.setattr(artifact, "host_cpu", lambda: "another")
    with pytest.raises(ArtifactError) as caught:
        load_artifact(saved)
    assert str(caught.value) == f"{saved}: was compiled for another CPU than this machine's"


def test_code_for_a_named_cpu_runs_elsewhere(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch a machine that is compared where the target does not depend on it."""
    path = _changed(saved, tmp_path, _with_manifest(lambda manifest: manifest["target"].update(cpu="generic")))
    monkeypatch.setattr(artifact, "host_cpu", lambda: "another")
    assert load_artifact(path)[1]


def test_region_without_code_is_refused(saved: Path, tmp_path: Path):
    """Would catch a region that quietly runs op by op through ATen."""
    name = min(load_artifact(saved)[1])
    path = _changed(saved, tmp_path, _with_manifest(lambda manifest: manifest["regions"].pop(name)))
    with pytest.raises(ArtifactError) as caught:
        load_artifact(path)
    assert str(caught.value) == (f"{path}: expected code for each region of the module and no other, unlike for {name}")


def test_driver_is_the_irs_choice(saved: Path, tmp_path: Path):
    """Would catch an artifact that forgets what tuning measured."""

    def change(files: dict[str, bytes]) -> None:
        files["module.mlir"] = files["module.mlir"].replace(b'driver = "local-sync"', b'driver = "local-task"')

    assert {each.driver for each in load_artifact(saved)[1].values()} == {"local-sync"}
    assert {each.driver for each in load_artifact(_changed(saved, tmp_path, change))[1].values()} == {"local-task"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda files: files.pop("artifact.json"), "there is no artifact.json"),
        (lambda files: files.pop("module.mlir"), "there is no module.mlir"),
        (lambda files: files.update({"artifact.json": b"{"}), "Expecting property name enclosed in double quotes"),
        (lambda files: files.update({"artifact.json": b"{}"}), "'format'"),
        (lambda files: files.update({"artifact.json": b"[]"}), "expected artifact.json to be a JSON object, got []"),
        (
            _with_manifest(lambda manifest: manifest.update(target="cpu")),
            'expected its target to be a JSON object, got "cpu"',
        ),
        (
            _with_manifest(lambda manifest: manifest.update(regions=None)),
            "expected its regions to be a JSON object, got null",
        ),
        (_with_manifest(lambda manifest: min(manifest["regions"].values(), key=str).pop("entry")), "'entry'"),
        (
            _with_manifest(
                lambda manifest: manifest.update(regions={"forward_region_0": {"file": 3, "entry": "main"}})
            ),
            "expected the file of forward_region_0 to be a string, got 3",
        ),
        (lambda files: files.update({"module.mlir": b"?"}), "Unable to parse module assembly"),
    ],
)
def test_what_is_no_artifact_is_refused(saved: Path, tmp_path: Path, change: Callable, message: str):
    """Would catch a traceback for a file that only looks like an artifact."""
    path = _changed(saved, tmp_path, change)
    with pytest.raises(ArtifactError) as caught:
        load_artifact(path)
    assert str(caught.value).startswith(f"{path}: damaged, or no artifact of dovetail-compile: {message}")


def _replaced_code(code: bytes) -> Callable[[dict[str, bytes]], None]:
    """Has `code` for each region, under its right name."""

    def change(files: dict[str, bytes]) -> None:
        for name in [name for name in files if name.startswith("code/")]:
            del files[name]
        name = f"code/{_digest(code)}.vmfb"
        files[name] = code
        _with_manifest(lambda manifest: [each.update(file=name) for each in manifest["regions"].values()])(files)

    return change


def test_what_iree_cannot_load_is_refused(saved: Path, tmp_path: Path):
    """Would catch a traceback of IREE's for code that is none."""
    path = _changed(saved, tmp_path, _replaced_code(b"no code"))
    with pytest.raises(ArtifactError) as caught:
        load_artifact(path)
    assert str(caught.value).startswith(f"{path}: its code can't be loaded: ")


@pytest.mark.parametrize("package", ["torch", "torch-mlir"])
def test_artifact_of_other_libraries_is_refused(saved: Path, tmp_path: Path, package: str):
    """Would catch an operator that this PyTorch does not have, met when the program is half loaded."""
    path = _changed(saved, tmp_path, _with_manifest(lambda manifest: manifest.update({package: "1.2.3"})))
    name, here = {"torch": "PyTorch", "torch-mlir": "torch-mlir"}[package], version(package).partition("+")[0]
    for load in (load_artifact, load_module):
        with pytest.raises(ArtifactError) as caught:
            load(path)
        assert str(caught.value) == f"{path}: was compiled with {name} 1.2.3, here is {here}"


def test_code_is_loaded_only_if_it_is_what_was_written(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch a part of the code that runs before the rest of it is looked at."""
    monkeypatch.setattr(artifact, "Executable", lambda *arguments: pytest.fail("was loaded"))

    def change(files: dict[str, bytes]) -> None:
        name = max(name for name in files if name.startswith("code/"))
        files[name] = files[name][:-1] + b"?"

    with pytest.raises(ArtifactError, match="has another SHA-256 than its name says"):
        load_artifact(_changed(saved, tmp_path, change))


def test_module_is_the_one_that_was_written(saved: Path, tmp_path: Path):
    """Would catch code that is called by another module, with other sizes, than it was compiled for."""
    path = _changed(saved, tmp_path, _with_manifest(lambda manifest: manifest.update(module="0" * 64)))
    for load in (load_artifact, load_module):
        with pytest.raises(ArtifactError, match=r"module\.mlir has another SHA-256 than artifact\.json says"):
            load(path)


def test_reference_loads_no_code(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Would catch machine code of a stranger's that is loaded by who asked to run the module without it."""
    path = _changed(saved, tmp_path, _replaced_code(b"no code"))
    assert run([str(path), "--reference", "--input=2x3xf32=0", "--input=2x3xf32=1,2,3,4,5,6"]) == 0
    assert capsys.readouterr().out.startswith("result 0: 2x3xf32=[[1.,2.,3.],\n [4.,5.,6.]]\n")
    assert run([str(path)]) == 1


_EXPECTED = "expected artifact.json, module.mlir and code/<SHA-256>.vmfb or .so"


def _with_member(name: str, **facts) -> Callable[[Path], None]:
    """Adds a file of the given `zipfile.ZipInfo` facts to an archive."""

    def add(path: Path) -> None:
        member = zipfile.ZipInfo(name)
        for fact, value in facts.items():
            setattr(member, fact, value)
        with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name that is there twice
            archive.writestr(member, b"{}")

    return add


_CODE = f"code/{'0' * 64}.vmfb"


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (
            _with_member("../../out.vmfb"),
            f"{_EXPECTED}, got '../../out",
        ),
        (
            _with_member("/etc/passwd"),
            f"{_EXPECTED}, got '/etc/passwd'",
        ),
        (_with_member("code/"), f"{_EXPECTED}, got 'code/'"),
        (_with_member("artifact.json"), "artifact.json is there 2 times"),
        (_with_member(_CODE, external_attr=stat.S_IFLNK << 16), f"{_CODE} is no plain file"),
        (_with_member(_CODE), f"expected a file for each region's code and no other, unlike '{_CODE}'"),
    ],
)
def test_odd_files_are_refused(saved: Path, tmp_path: Path, add: Callable[[Path], None], message: str):
    """Would catch an archive that two readers understand in two ways, or whose files lead elsewhere."""
    path = Path(shutil.copy(saved, tmp_path))
    add(path)
    with pytest.raises(ArtifactError) as caught:
        load_artifact(path)
    assert str(caught.value).startswith(f"{path}: damaged, or no artifact of dovetail-compile: {message}")


def test_archive_bomb_is_refused(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch a small file that fills memory."""
    monkeypatch.setattr(archive, "LIMIT_BYTES", 1 << 20)
    path = _changed(saved, tmp_path, lambda files: files.update({_CODE: bytes(2 << 20)}))
    with pytest.raises(ArtifactError, match="bytes, expected at most 1048576"):
        load_artifact(path)


def test_stated_size_is_not_believed(saved: Path, tmp_path: Path):
    """Would catch a directory that states small sizes for large files, or large ones for small."""
    contents = bytearray(saved.read_bytes())
    with zipfile.ZipFile(io.BytesIO(bytes(contents))) as opened:
        size = opened.getinfo("module.mlir").file_size
    index = contents.rindex(b"module.mlir") - 46 + 24  # of the size in the directory: section 4.3.12 of APPNOTE.TXT
    for stated in (1, size - 1, size + 1, (1 << 29)):
        contents[index : index + 4] = stated.to_bytes(4, "little")
        (tmp_path / "changed").write_bytes(contents)
        with pytest.raises(ArtifactError, match="damaged, or no artifact of dovetail-compile: "):
            load_artifact(tmp_path / "changed")


def test_damaged_artifact_is_refused(saved: Path, tmp_path: Path):
    """Would catch a changed byte of code that is run."""
    damaged = shutil.copy(saved, tmp_path)
    contents = bytearray(Path(damaged).read_bytes())
    with zipfile.ZipFile(saved) as opened:
        code = max(opened.infolist(), key=lambda each: each.header_offset)
    contents[code.header_offset + 30 + len(code.filename) + code.compress_size // 2] ^= 1
    Path(damaged).write_bytes(contents)
    with pytest.raises(ArtifactError, match="damaged, or no artifact of dovetail-compile: "):
        load_artifact(Path(damaged))
