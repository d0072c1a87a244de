"""One row an op, in files by kind.

No row is made elsewhere, and no set of ops' names that says of them what a row could say.
"""

from dovetail.dialects.torch_facts.rows.creation import CREATION
from dovetail.dialects.torch_facts.rows.dialect import DIALECT
from dovetail.dialects.torch_facts.rows.library import LIBRARY
from dovetail.dialects.torch_facts.rows.movement import MOVEMENT
from dovetail.dialects.torch_facts.rows.opaque import OPAQUE
from dovetail.dialects.torch_facts.rows.pointwise import POINTWISE
from dovetail.dialects.torch_facts.rows.reductions import REDUCTIONS
from dovetail.dialects.torch_facts.rows.views import VIEWS

FILES = {
    "views": VIEWS,
    "pointwise": POINTWISE,
    "reductions": REDUCTIONS,
    "movement": MOVEMENT,
    "creation": CREATION,
    "library": LIBRARY,
    "opaque": OPAQUE,
}
"""The rows of ATen's ops, by the file that they are in."""

OPS = tuple(row for rows in FILES.values() for row in rows)

ROWS = {row.name: row for row in (*OPS, *DIALECT)}
