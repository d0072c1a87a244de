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

OPS = (*VIEWS, *POINTWISE, *REDUCTIONS, *MOVEMENT, *CREATION, *LIBRARY, *OPAQUE)
"""The rows of ATen's ops."""

ROWS = {row.name: row for row in (*OPS, *DIALECT)}
