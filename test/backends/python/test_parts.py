"""What writes the results of library calls into memory that they are given."""

from dovetail.backends.python.parts import INTO
from dovetail.dialects.torch_facts.row import WritesInto
from dovetail.dialects.torch_facts.rows import OPS


def test_every_way_to_write_is_known():
    """Would catch a row that lets passes give an op memory, which no call of ours writes."""
    by_overload = {WritesInto.NOT, WritesInto.PRODUCT}
    assert set(INTO) == {row.writes_into for row in OPS} - by_overload
