"""The cache on disk: hits, damage, and places that can't be written."""

import logging
import os

import pytest

from dovetail.backends.compiling.cache import RegionCache, cache_directory, region_key
from dovetail.backends.target import CpuTarget

COMPILED = bytes(range(256)) * 8


def only_entry(cache: RegionCache):
    entries = [path for path in cache.directory.rglob("*") if path.is_file()]
    assert len(entries) == 1, entries
    return entries[0]


def test_what_was_stored_is_loaded_by_another_cache_object(tmp_path):
    """An entry that only its writer finds would never save a second process any work."""
    RegionCache(tmp_path).store("ab12", COMPILED)
    cache = RegionCache(tmp_path)
    assert cache.read("ab12") == COMPILED
    assert cache.read("ab13") is None
    assert cache.damaged == 0


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda entry: entry[:-1], id="truncated"),
        pytest.param(lambda entry: b"", id="empty"),
        pytest.param(lambda entry: entry[:-1] + bytes([entry[-1] ^ 1]), id="bit flipped"),
        pytest.param(lambda entry: b"x" + entry[1:], id="other format"),
    ],
)
def test_a_damaged_entry_is_a_miss_and_goes_away(tmp_path, damage):
    """A half-written or altered entry would otherwise be loaded as machine code."""
    cache = RegionCache(tmp_path)
    cache.store("ab12", COMPILED)
    path = only_entry(cache)
    path.write_bytes(damage(path.read_bytes()))
    assert cache.read("ab12") is None
    assert cache.damaged == 1
    assert not path.exists()
    cache.store("ab12", COMPILED)
    assert cache.read("ab12") == COMPILED


def test_a_place_that_cannot_be_written_is_a_warning(tmp_path, caplog):
    """A full or read-only disk would otherwise fail a compilation that had succeeded."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    cache = RegionCache(blocked)
    with caplog.at_level(logging.WARNING):
        cache.store("ab12", COMPILED)
        assert cache.read("ab12") is None
    assert "set DOVETAIL_CACHE_DIR to a writable folder" in caplog.text


def test_the_environment_variable_moves_the_cache(tmp_path, monkeypatch):
    """Tests and users with a small home folder could not put the cache elsewhere."""
    monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path))
    assert cache_directory() == tmp_path
    monkeypatch.delenv("DOVETAIL_CACHE_DIR")
    assert cache_directory().name == "dovetail"


def test_key_depends_on_text_and_target():
    """Two regions, or one region for two targets, would share an entry."""
    keys = {region_key("a", CpuTarget()), region_key("b", CpuTarget()), region_key("a", CpuTarget(data_tiling=True))}
    assert len(keys) == 3


def entries(cache: RegionCache) -> set[str]:
    return {path.parent.name + path.name for path in cache.directory.glob("*/*")}


def test_the_least_recently_used_entries_go(tmp_path):
    """Would catch a cache that fills the disk, and one that drops what is used in every process."""
    size = len(COMPILED) + 64
    for number in range(6):
        RegionCache(tmp_path, limit=10 * size).store(f"ab{number}", COMPILED)
    for age, number in enumerate((0, 1, 2, 3, 4, 5)):
        os.utime(tmp_path / "regions" / "ab" / str(number), ns=(age, age))
    assert RegionCache(tmp_path).read("ab0") == COMPILED
    cache = RegionCache(tmp_path, limit=4 * size)
    cache.store("ab6", COMPILED)
    assert cache.evicted == 4
    assert entries(cache) == {"ab0", "ab5", "ab6"}


def test_entries_within_the_limit_stay(tmp_path):
    """Would catch an eviction at each store, and sizes that are added up without a need."""
    cache = RegionCache(tmp_path, limit=100 * len(COMPILED))
    for number in range(20):
        cache.store(f"ab{number}", COMPILED)
    assert (cache.evicted, len(entries(cache))) == (0, 20)


def test_the_entries_are_added_up_once(tmp_path, monkeypatch):
    """Would catch a look at all entries for each graph that is compiled: every graph has a cache object of its own."""
    looks = []
    monkeypatch.setattr(RegionCache, "_entries", lambda self: looks.append(self) or iter(()))
    for number in range(5):
        RegionCache(tmp_path, limit=1000 * len(COMPILED)).store(f"ab{number}", COMPILED)
    assert len(looks) == 1
