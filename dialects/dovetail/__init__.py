"""The `dovetail` dialect, defined in Python: its types, ops and their verifiers. No pass, and no fact of ATen's ops.

Import it from here; every op is registered by then.
"""

from torch_mlir.dialects import ext

from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.ops.alloc import AllocOp
from dovetail.dialects.dovetail.ops.barrier import BarrierOp
from dovetail.dialects.dovetail.ops.check_equal import CheckEqualOp
from dovetail.dialects.dovetail.ops.check_range import CheckRangeOp
from dovetail.dialects.dovetail.ops.constant import ConstantOp
from dovetail.dialects.dovetail.ops.copy import CopyOp
from dovetail.dialects.dovetail.ops.copy_buffer import CopyBufferOp
from dovetail.dialects.dovetail.ops.destination import DestinationOp
from dovetail.dialects.dovetail.ops.detach import DetachOp
from dovetail.dialects.dovetail.ops.dispatch import DispatchOp
from dovetail.dialects.dovetail.ops.fill_buffer import FillBufferOp
from dovetail.dialects.dovetail.ops.float_arithmetic import PowOp, QuotientOp, SqrtOp
from dovetail.dialects.dovetail.ops.free import FreeOp
from dovetail.dialects.dovetail.ops.gradient import GradientOp
from dovetail.dialects.dovetail.ops.number import NumberOp
from dovetail.dialects.dovetail.ops.own import OwnOp
from dovetail.dialects.dovetail.ops.part import PartOp
from dovetail.dialects.dovetail.ops.read import ReadOp
from dovetail.dialects.dovetail.ops.reuse import ReuseOp
from dovetail.dialects.dovetail.ops.set_grad_mode import SetGradModeOp
from dovetail.dialects.dovetail.ops.set_metadata import SetMetadataOp
from dovetail.dialects.dovetail.ops.size import SizeOp
from dovetail.dialects.dovetail.ops.subspan import SubspanOp
from dovetail.dialects.dovetail.ops.tangent import TangentOp
from dovetail.dialects.dovetail.ops.touch import TouchOp
from dovetail.dialects.dovetail.ops.transient import TransientOp
from dovetail.dialects.dovetail.ops.view import ViewOp
from dovetail.dialects.dovetail.ops.write import WriteOp
from dovetail.dialects.dovetail.types import BufferType, RefType
