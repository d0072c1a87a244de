"""Kernels in PTX, written by hand, and plans that launch them: tests of launching need no compiler."""

import torch

from dovetail.runtime.cuda.library import load_library
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.plan_record import Argument, PlanRecord
from dovetail.runtime.launches.plan_records import Dispatch, Range, Step

HEAD = """
.version 7.0
.target sm_80
.address_size 64
"""

_INDEX = """
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    .reg .f32 %f<4>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    mul.wide.u32 %rd1, %r4, 4;
"""

SCALE = (
    HEAD
    + """
.visible .entry scale(.param .u64 p0, .param .u64 p1, .param .u32 p2)
{"""
    + _INDEX
    + """
    ld.param.u64 %rd2, [p0];
    ld.param.u64 %rd3, [p1];
    ld.param.u32 %r5, [p2];
    cvt.rn.f32.u32 %f1, %r5;
    add.u64 %rd4, %rd2, %rd1;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    add.u64 %rd5, %rd3, %rd1;
    st.global.f32 [%rd5], %f3;
    ret;
}
"""
)
"""`scale(in, out, factor)`: an element a thread, times a whole number."""

SCALE_SETS = (
    HEAD
    + """
.visible .entry scale(.param .align 8 .b8 sets[64], .param .u32 p2)
{"""
    + _INDEX
    + """
    mov.u32 %r6, %ctaid.y;
    mul.wide.u32 %rd6, %r6, 16;
    mov.b64 %rd7, sets;
    add.s64 %rd7, %rd7, %rd6;
    ld.param.u64 %rd2, [%rd7];
    ld.param.u64 %rd3, [%rd7 + 8];
    ld.param.u32 %r5, [p2];
    cvt.rn.f32.u32 %f1, %r5;
    add.u64 %rd4, %rd2, %rd1;
    ld.global.f32 %f2, [%rd4];
    mul.f32 %f3, %f2, %f1;
    add.u64 %rd5, %rd3, %rd1;
    st.global.f32 [%rd5], %f3;
    ret;
}
"""
)
"""The same of up to four pairs, each of as many elements."""

TURN_AROUND = (
    HEAD.replace("7.0", "7.8").replace("sm_80", "sm_90")
    + """
.visible .entry turn_around(.param .u64 p0, .param .u64 p1)
{
    griddepcontrol.wait;"""
    + _INDEX
    + """
    ld.param.u64 %rd2, [p0];
    ld.param.u64 %rd3, [p1];
    add.u64 %rd4, %rd2, %rd1;
    ld.global.f32 %f2, [%rd4];
    add.f32 %f3, %f2, 0f3F800000;
    sub.u32 %r5, 1023, %r4;
    mul.wide.u32 %rd5, %r5, 4;
    add.u64 %rd6, %rd3, %rd5;
    st.global.f32 [%rd6], %f3;
    ret;
}
"""
)
"""`turn_around(in, out)`: in reverse, each plus 1; waits by itself for what was launched before it."""

SHARED = (
    HEAD
    + """
.extern .shared .align 16 .b8 memory[];
.visible .entry through_shared(.param .u64 p0, .param .u64 p1)
{"""
    + _INDEX
    + """
    ld.param.u64 %rd2, [p0];
    ld.param.u64 %rd3, [p1];
    add.u64 %rd4, %rd2, %rd1;
    ld.global.f32 %f1, [%rd4];
    mov.u32 %r5, memory;
    shl.b32 %r6, %r3, 2;
    add.u32 %r5, %r5, %r6;
    st.shared.f32 [%r5 + 98304], %f1;
    ld.shared.f32 %f2, [%r5 + 98304];
    add.u64 %rd5, %rd3, %rd1;
    st.global.f32 [%rd5], %f2;
    ret;
}
"""
)
"""`through_shared(in, out)`: copies by way of the 97th KiB of shared memory."""

FAULT = (
    HEAD
    + """
.visible .entry fault(.param .u64 p0, .param .u64 p1)
{
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    mov.u64 %rd1, 16;
    mov.u32 %r1, 7;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""
)
"""`fault(in, out)`: writes where no memory is."""

SPILLING = (
    HEAD
    + """
.visible .entry spilling(.param .u64 p0, .param .u64 p1)
{
    .local .align 16 .b8 depot[8192];"""
    + _INDEX
    + """
    ld.param.u64 %rd2, [p0];
    ld.param.u64 %rd3, [p1];
    mov.u64 %rd4, depot;
    add.u64 %rd5, %rd4, %rd1;
    ld.global.u32 %r5, [%rd2];
    st.local.u32 [%rd5], %r5;
    ld.global.u32 %r6, [%rd2 + 4];
    and.b32 %r6, %r6, 2047;
    mul.wide.u32 %rd6, %r6, 4;
    add.u64 %rd6, %rd4, %rd6;
    ld.local.u32 %r7, [%rd6];
    st.global.u32 [%rd3], %r7;
    ret;
}
"""
)
"""`spilling(in, out)`: 8 KiB of local memory a thread."""

SIZE = 1024


def dispatch(entry: str, *words: int, source: int = 0, target: int = 1, shared: int = 0) -> Dispatch:
    """A launch of `entry` from buffer `source` to `target`, each of `SIZE` floats."""
    ranges = (Range(source, 0, 4 * SIZE), Range(target, 0, 4 * SIZE))
    return Dispatch(entry, (SIZE // 128, 1, 1), (128, 1, 1), shared, words, ranges)


def plan(ptx: str | bytes, *steps: Step, transient_bytes: int = 0, constants: bytes = b"") -> Plan:
    """A plan from `SIZE` floats to `SIZE` floats."""
    arguments = (Argument(torch.float32, (SIZE,), False), Argument(torch.float32, (SIZE,), True))
    code = ptx.encode() if isinstance(ptx, str) else ptx
    return Plan(PlanRecord("region_0", arguments, transient_bytes, constants, steps), load_library(code))
