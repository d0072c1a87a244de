"""Checks of positions in kernels: a launch fails where one is none, as ATen's kernels do, and by the same means."""

import struct
from collections.abc import Callable

from iree.compiler import ir

from dovetail.backends.worker.agreed import ASSERTION, CHECK_BITS
from dovetail.backends.worker.walk import create, replace, walk

_REMAINDER = "__nv_fmod"
_CHECK = """{{ .reg .pred p; .reg .b64 a; .param .b64 message; .param .b64 file; .param .b32 line; .param .b64 function;
.param .b64 width; setp.ge.f64 p, $1, 0d0000000000000000; setp.lt.and.f64 p, $1, 0d{bound:016X}, p;
mov.b64 a, {what}; cvta.global.u64 a, a; st.param.b64 [message], a; st.param.b64 [file], a; st.param.b32 [line], 0;
st.param.b64 [function], a; st.param.b64 [width], 1; @!p call __assertfail, (message, file, line, function, width);
mov.f64 $0, $1; }}""".replace("\n", " ")
"""PTX, which `backends/cuda/assertions.py` declares the function for that CUDA's `assert` calls, and its text."""


def check_positions(kernel: ir.Operation, number: Callable[[ir.Value], float | None]) -> None:
    """Puts a check in the place of each remainder of `kernel` that stands for one; `number` reads constants."""
    called = ir.FlatSymbolRefAttr.get(_REMAINDER)
    for call in [op for op in walk(kernel) if op.name == "llvm.call" and op.attributes.get("callee") == called]:
        divisor = number(call.operands[1])
        bits = 0 if divisor is None else struct.unpack("<Q", struct.pack("<d", divisor))[0]
        if bits >> 32 != CHECK_BITS >> 32:
            continue
        count = struct.unpack("<Q", struct.pack("<d", float(bits & 0xFFFFFFFF)))[0]
        with call.location, ir.InsertionPoint(call):
            stated = {
                "asm_string": ir.StringAttr.get(_CHECK.format(bound=count, what=ASSERTION)),
                "constraints": ir.StringAttr.get("=d,d"),
                "has_side_effects": ir.UnitAttr.get(),
            }
            checked = create("llvm.inline_asm", call.results[0].type, call.operands[0], **stated)
        replace(call, checked)
