"""Targets: what decides code is in the fingerprint, and a wrong device is refused by name."""

import dataclasses
import platform

import pytest

from dovetail.backends import base_target
from dovetail.backends import target as target_module
from dovetail.backends.cuda.target import CudaTarget
from dovetail.backends.target import LOCAL_TASK_BYTES, VARIANTS, CpuTarget, choose_driver, target_for_device
from dovetail.errors import OptionError
from dovetail.tools.sweep.cpu import describe, target_for_cpu


def test_every_field_decides_the_fingerprint():
    """A field left out of the fingerprint would load code from the cache that was compiled for something else."""
    changed = {"cpu": "generic", "data_tiling": True, "opt_level": "O1"}
    changed |= {"distribution": False, "aggressive_fusion": True, "rows_by_twos": True, "by_blocks": True}
    changed["by_parts"] = True
    assert set(changed) == {field.name for field in dataclasses.fields(CpuTarget)}
    fingerprints = {CpuTarget().fingerprint(), *(CpuTarget(**{k: v}).fingerprint() for k, v in changed.items())}
    assert len(fingerprints) == 1 + len(changed)


def test_every_variant_is_a_target_of_its_own():
    """Two variants with equal flags would be measured, and remembered, as two."""
    assert len({CpuTarget().variant(name).fingerprint() for name in VARIANTS}) == len(VARIANTS)
    assert CpuTarget().variant("default") == CpuTarget()


def test_host_features_decide_the_fingerprint(monkeypatch):
    """A cache folder shared by two machines would hand one of them instructions that it does not have."""
    here = CpuTarget.fingerprint.__wrapped__(CpuTarget())
    generic = CpuTarget.fingerprint.__wrapped__(CpuTarget(cpu="generic"))
    monkeypatch.setattr(target_module, "host_cpu", lambda: "another machine")
    assert CpuTarget.fingerprint.__wrapped__(CpuTarget()) != here
    assert CpuTarget.fingerprint.__wrapped__(CpuTarget(cpu="generic")) == generic


@pytest.mark.parametrize(
    "target", [CpuTarget(), CpuTarget(cpu="generic"), CudaTarget("sm_90")], ids=["host", "generic", "cuda"]
)
def test_the_worker_decides_the_fingerprint(target, monkeypatch):
    """Kernels that an older worker kept would be found, although this one's checks refuse them."""
    here = type(target).fingerprint.__wrapped__(target)
    digest = base_target.sources_digest
    monkeypatch.setattr(base_target, "sources_digest", lambda name: "changed" if name == "worker" else digest(name))
    assert type(target).fingerprint.__wrapped__(target) != here


def test_float64_is_not_demoted():
    """IREE's own default computes float64 regions in float32, silently."""
    assert "--iree-input-demote-f64-to-f32=false" in CpuTarget().compile_flags()


def test_unsupported_device_is_named_with_the_valid_ones():
    """A KeyError would say neither what was asked for nor what exists."""
    assert target_for_device("cpu") == CpuTarget()
    with pytest.raises(
        OptionError, match=r"^unsupported device 'tpu'; expected one of: cpu, cuda:sm_80, .*, cuda:sm_90$"
    ):
        target_for_device("tpu")


def test_small_work_stays_on_the_calling_thread():
    """Waking the pool costs more than a small region takes."""
    assert choose_driver(LOCAL_TASK_BYTES - 1) == "local-sync"
    assert choose_driver(LOCAL_TASK_BYTES) == "local-task"


@pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the compiler's default target is the machine's architecture"
)
@pytest.mark.parametrize(
    "cpu", ["x86-64-v2", "ivybridge", "tremont", "bdver3", "x86-64-v3", "haswell", "gracemont", "bdver4", "host"]
)
def test_width_of_vectors_is_the_cpus(cpu):
    """A CPU without AVX2 that has another name than x86-64 was given four wide vectors: a minute to compile."""
    has_wide = "avx2" in describe(cpu).features.split()
    (flag,) = [flag for flag in target_for_cpu(cpu).compile_flags() if "vector-width" in flag]
    assert flag.endswith("=256" if has_wide else "=64")


def test_every_gpu_is_a_target_of_its_own():
    """Code for one generation would be loaded on another, or be looked for on CPUs."""
    names = ["cpu", "cuda:sm_80", "cuda:sm_89", "cuda:sm_90"]
    assert len({target_for_device(name).fingerprint() for name in names}) == len(names)
    with pytest.raises(OptionError, match=r"^unsupported device 'cuda:sm_70'; expected one of: cpu, cuda:sm_80"):
        target_for_device("cuda:sm_70")


def test_a_gpu_stands_in_the_text():
    """A text that does not say what it is for is compiled for the CPU that the compiler runs on."""
    text = target_for_device("cuda:sm_90").prepared("module {\n}\n")
    assert 'arch = "sm_90"' in text
    with pytest.raises(ValueError, match="expected a module without attributes"):
        target_for_device("cuda:sm_90").prepared("func.func @main() {\n}\n")
