"""Targets: what decides code is in the fingerprint, and a wrong device is refused by name."""

import dataclasses

import pytest

from dovetail.backends import target as target_module
from dovetail.backends.target import LOCAL_TASK_BYTES, VARIANTS, Target, choose_driver, target_for_device
from dovetail.errors import OptionError


def test_every_field_decides_the_fingerprint():
    """A field left out of the fingerprint would load code from the cache that was compiled for something else."""
    changed = {"name": "vmvx", "cpu": "generic", "data_tiling": True, "opt_level": "O1"}
    changed |= {"distribution": False, "aggressive_fusion": True}
    assert set(changed) == {field.name for field in dataclasses.fields(Target)}
    fingerprints = {Target().fingerprint(), *(Target(**{k: v}).fingerprint() for k, v in changed.items())}
    assert len(fingerprints) == 1 + len(changed)


def test_every_variant_is_a_target_of_its_own():
    """Two variants with equal flags would be measured, and remembered, as two."""
    assert len({Target().variant(name).fingerprint() for name in VARIANTS}) == len(VARIANTS)
    assert Target().variant("default") == Target()


def test_host_features_decide_the_fingerprint(monkeypatch):
    """A cache folder shared by two machines would hand one of them instructions that it does not have."""
    here = Target.fingerprint.__wrapped__(Target())
    generic = Target.fingerprint.__wrapped__(Target(cpu="generic"))
    monkeypatch.setattr(target_module, "host_cpu", lambda: "another machine")
    assert Target.fingerprint.__wrapped__(Target()) != here
    assert Target.fingerprint.__wrapped__(Target(cpu="generic")) == generic


def test_float64_is_not_demoted():
    """IREE's own default computes float64 regions in float32, silently."""
    assert "--iree-input-demote-f64-to-f32=false" in Target().compile_flags()


def test_unsupported_device_is_named_with_the_valid_ones():
    """A KeyError would say neither what was asked for nor what exists."""
    assert target_for_device("cpu") == Target()
    with pytest.raises(OptionError, match=r"^unsupported device 'tpu'; expected one of: cpu$"):
        target_for_device("tpu")


def test_small_work_stays_on_the_calling_thread():
    """Waking the pool costs more than a small region takes."""
    assert choose_driver(LOCAL_TASK_BYTES - 1) == "local-sync"
    assert choose_driver(LOCAL_TASK_BYTES) == "local-task"
