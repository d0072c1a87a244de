"""The closed list of tilings: none that IREE computes wrongly can be made, whatever the sizes."""

import random

import pytest

from dovetail.backends.worker.columns import columns, wide_columns
from dovetail.backends.worker.configurations import pointwise, rows
from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.tilings import LANES, Distribution, Tiles
from dovetail.backends.worker.transposed import transposed
from dovetail.backends.worker.turned import turned


def nest(*extents: int, reduced: int | None = None, inner: int | None = None, bits: int = 32) -> Loops:
    last = len(extents) - 1
    return Loops(
        extents,
        tuple(loop == reduced for loop in range(len(extents))),
        frozenset({last if inner is None else inner}),
        bits,
        min(bits, 32),
    )


def test_a_row_is_read_once_by_many_threads():
    """Would catch IREE's own choice for many rows: 32 threads, which go over each row twice."""
    assert rows(nest(8192, 4096, reduced=1)) == Distribution(
        (False, True), lanes=(1, 32), subgroups=(1, 8), thread=(0, 4), tile=(0, 4096), workgroup=(1, 0)
    )


def test_short_rows_share_a_subgroup():
    """Would catch a subgroup of which most lanes are idle: a fifth of the speed."""
    assert rows(nest(262144, 64, reduced=1)) == Distribution(
        (False, True), lanes=(2, 16), subgroups=(8, 1), thread=(1, 4), tile=(0, 64), workgroup=(16, 0)
    )


def test_many_rows_have_a_subgroup_each():
    """Would catch two subgroups that wait for one another over 12 numbers a thread, and few rows for few workgroups."""
    assert rows(nest(32768, 768, reduced=1)) == Distribution(
        (False, True), lanes=(1, 32), subgroups=(4, 1), thread=(1, 4), tile=(0, 768), workgroup=(4, 0)
    )
    for few in (nest(512, 768, reduced=1), nest(4099, 768, reduced=1), nest(OPEN, 768, reduced=1)):
        found = rows(few)
        assert found is not None
        assert (found.workgroup, found.subgroups) == ((1, 0), (1, 2))
    long = rows(nest(32768, 2048, reduced=1))
    assert long is not None
    assert long.workgroup == (1, 0)


def held(found: Distribution | None) -> tuple[int, int, int]:
    """Of a row: threads, numbers that one reads at once, and that it holds."""
    assert found is not None
    return found.threads, found.thread[-1], found.tile[-1] // found.threads


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_one_row_alone_has_all_threads(bits: int):
    """Would catch 16 numbers after one another in each thread of the last sums of a loss, while nothing else runs."""
    for one in (nest(4096, reduced=0, bits=bits), nest(1, 4096, reduced=1, bits=bits)):
        assert held(rows(one))[0] == min(1024, 4096 * bits // 128)
    assert held(rows(nest(2, 4096, reduced=1, bits=bits)))[0] < 1024


def test_threads_hold_as_many_bytes_of_half_precision():
    """Would catch half as many bytes under way, and a row of 384 numbers whose 48 vectors no subgroups share."""
    assert held(rows(nest(8192, 4096, reduced=1, bits=16))) == (128, 8, 32)
    assert held(rows(nest(4096, 16384, reduced=1, bits=16))) == (256, 8, 64)
    assert held(rows(nest(4096, 65536, reduced=1, bits=16))) == (1024, 8, 64)
    assert held(rows(nest(8192, 3001, reduced=1, bits=16))) == (128, 1, 24)
    assert held(rows(nest(512, 384, reduced=1, bits=16)))[:2] == (32, 4)
    assert held(rows(nest(8192, 4096, reduced=1, bits=8)))[1] == 8
    assert rows(nest(32768, 768, reduced=1, bits=16)) == Distribution(
        (False, True), lanes=(1, 32), subgroups=(4, 1), thread=(1, 8), tile=(0, 768), workgroup=(4, 0)
    )


def test_rows_of_odd_lengths_are_masked():
    """Would catch rows that no vector divides left to IREE, which takes a hundred times as long."""
    found = rows(nest(8192, 3001, reduced=1))
    assert found == Distribution(
        (False, True), lanes=(1, 32), subgroups=(1, 8), thread=(0, 1), tile=(0, 3072), workgroup=(1, 0)
    )


def test_columns_share_a_workgroup():
    """Would catch the sum of columns by one thread each: a tenth of the speed."""
    assert columns(nest(1024, 2048, reduced=1, inner=0)) == Distribution(
        (False, True), lanes=(4, 8), subgroups=(1, 8), thread=(4, 1), tile=(0, 128), workgroup=(16, 0)
    )


def test_columns_of_half_precision_are_twice_as_many():
    """Would catch 32 bytes of a row read at once, half of what memory gives, and too few workgroups for a GPU."""
    assert wide_columns(nest(4096, 8192, reduced=1, inner=0, bits=16)) == Distribution(
        (False, True), lanes=(2, 16), subgroups=(1, 16), thread=(8, 1), tile=(0, 512), workgroup=(32, 0)
    )
    for other in (
        nest(4096, 8192, reduced=1, inner=0),
        nest(2048, 8192, reduced=1, inner=0, bits=16),
        nest(4096, 768, reduced=1, inner=0, bits=16),
        nest(4112, 8192, reduced=1, inner=0, bits=16),
        nest(OPEN, 4096, 512, reduced=2, inner=1, bits=16),
    ):
        assert wide_columns(other) is None


_STATED = "#iree_gpu.lowering_config<{promote_operands = [1], thread = [1, 4], workgroup = [32, 32]}>"


def test_what_is_transposed_of_half_precision_is_twice_as_much():
    """Would catch 64 bytes of a row read at once, half of a line, and a tile that does not divide what it cuts."""
    twice = _STATED.replace("[32, 32]", "[64, 32]")
    assert transposed(turning(4096, 992, bits=16), _STATED) == twice
    for other in (turning(4096, 992), turning(992, 4096, bits=16), turning(OPEN, 4096, bits=16), nest(64, 64, bits=16)):
        assert transposed(other, _STATED) is None
    assert transposed(turning(4096, 992, bits=16), "#iree_gpu.lowering_config<{promote_operands = [1]}>") is None
    batched = _STATED.replace("[32, 32]", "[1, 32, 32]")
    assert transposed(turning(3, 64, 32, bits=16), batched) == batched.replace("[1, 32, 32]", "[1, 64, 32]")


def test_neighbouring_threads_have_neighbouring_vectors():
    """Would catch several vectors a thread, whose loads are not coalesced: half of the speed."""
    assert pointwise(nest(2048, 1024)) == Tiles(128, (1, 4), (1, 512))
    assert pointwise(nest(2048, 1024, bits=16)) == Tiles(128, (1, 8), (1, 1024))
    assert pointwise(nest(4096, 64)) == Tiles(128, (1, 4), (8, 64))
    assert pointwise(nest(7456561)) == Tiles(256, (4,), (1024,))
    # Of rows that threads do not divide, neighbours, too; the end of each is masked.
    assert pointwise(nest(4096, 50257)) == pointwise(nest(4096, 30522)) == Tiles(256, (1, 4), (1, 1024))
    assert pointwise(nest(64, 512, 49)) == Tiles(256, (1, 1, 1), (1, 4, 64))
    assert pointwise(nest(5, 7, 225)) == Tiles(256, (1, 1, 1), (1, 1, 256))


def test_open_extents_are_masked_one_row_a_workgroup():
    """Would catch several rows a workgroup where their number is open: IREE masks the last ones wrongly, silently."""
    assert pointwise(nest(OPEN)) == Tiles(256, (4,), (1024,))
    assert pointwise(nest(OPEN, 768)) == Tiles(128, (1, 4), (2, 256))
    assert pointwise(nest(OPEN, OPEN)) == Tiles(256, (1, 1), (4, 64))
    assert rows(nest(OPEN, 4096, reduced=1)) == rows(nest(8192, 4096, reduced=1))
    for length in (OPEN, 3, 8, 32, 64, 100, 128, 256, 768, 3001):
        found = rows(nest(OPEN, length, reduced=1))
        assert found is not None
        assert found.workgroup == (1, 0)
        assert (found.lanes, found.subgroups[0]) == ((1, LANES), 1)
    assert columns(nest(OPEN, 1024, reduced=0, inner=1)) is None
    assert columns(nest(1024, OPEN, reduced=0, inner=1)) is None


def turning(*extents: int, bits: int = 32) -> Loops:
    """Of the last two of `extents`, which trade places."""
    last = len(extents) - 1
    return Loops(extents, (False,) * len(extents), frozenset({last - 1, last}), bits, min(bits, 32))


def test_a_thread_takes_all_of_what_is_few():
    """Would catch neighbours of the many alone in a thread, which writes or reads one number of each sector."""
    assert turned(turning(64, 3, 50176)) == Tiles(64, (1, 3, 4), (1, 3, 256))
    assert turned(turning(64, 50176, 3)) == Tiles(64, (1, 4, 3), (1, 256, 3))
    assert turned(turning(64, 3, 50176, bits=16)) == Tiles(64, (1, 3, 8), (1, 3, 512))
    assert turned(turning(512, 9, 256)) == Tiles(64, (1, 9, 4), (1, 9, 256))
    assert turned(turning(512, 16, 512)) == Tiles(64, (1, 16, 2), (1, 16, 128))
    assert turned(turning(OPEN, 3, 512)) == Tiles(64, (1, 3, 4), (1, 3, 256))


@pytest.mark.parametrize(
    "others",
    [
        turning(64, 3, 49),  # no vector divides it
        turning(7, 3, 48),  # few threads a workgroup
        turning(64, 17, 512),
        turning(4, OPEN, 512),
        turning(4, 3, OPEN),
        turning(OPEN, 3, 48),  # an open number of images may be one
        turning(4, 1, 512),
        turning(4, 16, 16),
        nest(64, 3, 512),
        nest(64, 3, 512, reduced=0),
    ],
    ids=lambda loops: str(loops.extents),
)
def test_what_is_turned_otherwise(others: Loops):
    """Would catch tiles of which IREE masks a part, or which do not fit into a thread's registers."""
    assert turned(others) is None


def test_turned_tiles_divide_all():
    """Would catch a part of a tile that is masked, which nobody has compared, and tiles without a vector."""
    draw, made = random.Random(0), 0
    for _ in range(20000):
        sizes = [draw.choice([OPEN, 1, 2, 3, 4, 7, 9, 12, 16, 25, 48, 49, 64, 100, 256, 1001, 50176]) for _ in range(3)]
        tiles = turned(turning(*sizes, bits=draw.choice([8, 16, 32, 64])))
        if tiles is None:
            continue
        made += 1
        assert all(
            size % each == 0 if size != OPEN else each == 1 for size, each in zip(sizes, tiles.workgroup, strict=True)
        )
        few, many = sorted((1, 2), key=lambda loop: sizes[loop])
        assert tiles.thread[few] == sizes[few]
        assert 2 <= tiles.thread[many] <= 40 // sizes[few]
    assert made > 1000


@pytest.mark.parametrize(
    "wrong",
    [
        {"lanes": (32, 1), "subgroups": (1, 8)},  # computed by IREE to a part of the sum
        {"lanes": (8, 4), "subgroups": (1, 8)},
        {"lanes": (1, 16), "subgroups": (1, 8)},
        {"lanes": (1, 32), "subgroups": (2, 32)},
    ],
)
def test_what_iree_drops_silently_cannot_be_made(wrong: dict):
    """Would catch fewer lanes than subgroups along what is reduced, of which IREE drops results without a word."""
    with pytest.raises(ValueError, match="expected"):
        Distribution((False, True), **wrong, thread=(0, 1), tile=(0, 32), workgroup=(1, 0))


def test_no_sizes_give_a_tiling_that_is_computed_wrongly():
    """Would catch sizes for which a form breaks its own rules: columns whose tile does not divide them, above all."""
    draw = random.Random(0)
    extents = [1, 2, 3, 7, 16, 31, 32, 33, 48, 64, 100, 128, 256, 768, 1000, 1001, 1024, 3001, 4096, 5003, 50257]
    made = 0
    for _ in range(20000):
        sizes = [draw.choice(extents) for _ in range(draw.randint(1, 4))]
        reduced, bits = draw.randrange(len(sizes)), draw.choice([8, 16, 32, 64])
        inner = draw.randrange(len(sizes))
        loops = nest(*sizes, reduced=reduced, inner=inner, bits=bits)
        column, row = columns(loops), rows(loops)
        flat = pointwise(nest(*sizes, bits=bits))
        made += sum(each is not None for each in (column, row, flat))
        if column is not None:
            assert inner != reduced
            assert sizes[inner] % column.workgroup[inner] == 0
            assert sizes[reduced] % column.tile[reduced] == 0
        if row is not None:
            assert inner == reduced == len(sizes) - 1
            is_masked = sizes[-1] % LANES != 0
            assert row.tile[-1] >= sizes[-1] if is_masked else sizes[-1] % row.tile[-1] == 0
            assert is_masked <= (row.thread[-1] == 1)
            steps = row.tile[-1] // (row.lanes[-1] * row.subgroups[-1])
            assert steps <= 64
            for extent, workgroup in zip(sizes[:-1], row.workgroup[:-1], strict=True):
                assert extent % workgroup == 0
        if flat is not None:
            assert all(extent % each == 0 for extent, each in zip(sizes[:-1], flat.workgroup[:-1], strict=True))
            assert sizes[-1] % flat.workgroup[-1] == 0 or (sizes[-1] >= 16 and flat.thread[-1] in (1, 4))
    assert made > 10000
