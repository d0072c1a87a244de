"""What a naive lowering gets wrong on the real toolchain."""

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from dovetail.tools.documented_semantics import Malformed, Row


def numbers() -> torch.Tensor:
    return torch.arange(1000.0)


def shifted(x):
    x[1:].copy_(x[:-1].clone())


def doubled(x):
    x.mul_(2)


def misaligned(x):
    return x * 2


def in_float64(x):
    return x.exp() + 1e-12


def miscompiled(x, image):
    return x.logcumsumexp(0), functional.interpolate(image, size=5, mode="nearest-exact")


def strided(x):
    return x + 1


def opaque(x):
    return torch.special.i0e(x.view(4, -1).t().contiguous())


@torch.library.custom_op("dovetail_rows::by_stride", mutates_args=())
def by_stride(x: torch.Tensor) -> torch.Tensor:
    return x * (1 + x.stride(0) / 256)


by_stride.register_fake(torch.empty_like)
by_stride.register_autograd(lambda _, gradient: by_stride(gradient))


def opaque_then_transposed(x):
    return by_stride(x.view(4, -1)).t()


def from_the_start(x):
    return checkpoint(lambda x: x.as_strided((2,), (1,), 0) * 1.0, x, use_reentrant=False)


def triple_every_other(x):
    doubled = x * 2
    doubled.unfold(0, 1, 2).mul_(3)
    return doubled


def in_a_branch(x):
    return torch.cond(x.sum() > 0, triple_every_other, lambda x: x * 1.0, (x,))


ROWS = [
    Row(
        "H1",
        "Memory is written in place only where that is proved: here it is still read elsewhere, so it is copied.",
        shifted,
        lambda: [numbers()],
        """
            CHECK: func.func @call
            CHECK: "dovetail.write"(%{{.*}}, %arg0)
            CHECK-SAME: dovetail.not_in_place = "its new value is not computed element by element"
            CHECK: func.func @forward
            CHECK: [[MEMORY:%.*]] = "dovetail.alloc"()
            CHECK: call @forward_region_0(%{{.*}}, [[MEMORY]])
        """,
        Malformed(r'not_in_place = "[^"]*"', 'in_place = "pointwise"', "'dovetail.write' op"),
        trained=(),
        level="regions",
        tests=("semantics/test_mutated_inputs.py::test_write_overlapping_its_read",),
    ),
    Row(
        "H2",
        "Memory that a region updates in place is given to it once, not as input and destination.",
        doubled,
        lambda: [numbers()],
        """
            CHECK: "dovetail.write"(%{{.*}}, %arg0) {dovetail.in_place = "pointwise"
            CHECK: func.func @forward
            CHECK: [[MEMORY:%.*]] = "dovetail.destination"(%arg0) {proof = "pointwise"}
            CHECK: call @forward_update_0([[MEMORY]])
        """,
        Malformed(
            'proof = "pointwise"',
            'proof = "hoped"',
            "expects 'proof' to be 'pointwise', 'not read' or 'none', got 'hoped'",
        ),
        trained=(),
        level="regions",
    ),
    Row(
        "H3",
        "An argument that is not aligned as kernels want it is copied first, and the copy counted.",
        misaligned,
        lambda: [numbers()[:9].clone()],
        """
            CHECK: func.func @forward(%arg0: !ref8)
            CHECK: call @forward_region_0
        """,
        Malformed(
            r'(func.func private @forward_region_0.*dovetail.role = )"region"',
            r'\1"kernel"',
            "'@forward_region_0' expects 'dovetail.role' to be",
        ),
        prepare=lambda x: (x[1:],),
        level="regions",
        tests=("semantics/test_inputs.py::test_copy_for_layout_is_counted",),
    ),
    Row(
        "H4",
        "Double precision is computed in double precision.",
        in_float64,
        lambda: [numbers()[:4].double() / 9],
        """
            CHECK: func.func private @forward_region_0(%arg0: !value4_float64, %{{.*}}: !memory4_float64
            CHECK: torch.aten.exp %arg0 : !value4_float64 -> !value4_float64
        """,
        Malformed(
            r"(torch.aten.exp %arg0 : !value4_float64 -> !value4_float64)",
            r'\1\n    %own = "dovetail.own"(%arg0) {requires_grad = false} : (!value4_float64) -> !ref4_float64',
            "'dovetail.own' op has no place in a region, which IREE compiles",
        ),
        level="regions",
        tests=("semantics/test_inputs.py::test_element_types",),
    ),
    Row(
        "H5",
        "Ops that the toolchain compiles wrongly run in the library, and the IR says why.",
        miscompiled,
        lambda: [numbers()[:5].clone(), numbers()[:16].reshape(1, 1, 4, 4).clone()],
        """
            CHECK: torch.operator "torch.aten.logcumsumexp"(
            CHECK-SAME: dovetail.fallback, dovetail.reason = "no row in dialects/torch_facts/rows"
            CHECK: torch.operator "torch.aten._upsample_nearest_exact2d"(
            CHECK-SAME: dovetail.reason = "library kernel: interpolation"
        """,
        Malformed(
            r'dovetail.fallback, dovetail.reason = "no row in dialects/torch_facts/rows", ',
            "",
            "computes in '@forward' at level 'program', expected a call or a view",
        ),
        level="program",
        tests=("passes/placement/test_iree_support.py::test_refused",),
    ),
    Row(
        "H6",
        "A strided argument is copied before a kernel reads it, and the IR keeps its strides.",
        strided,
        lambda: [numbers()],
        """
            CHECK: func.func @forward(%arg0: !ref500_strides2)
            CHECK: call @forward_region_0(%{{.*}}, %{{.*}}) : (!value500, !memory500)
        """,
        Malformed(
            r"strided<\[2\]>",
            "strided<[2, 1]>",
            "expects a ref to a '!torch.vtensor' with one stride a dimension",
        ),
        prepare=lambda x: (x[::2],),
        level="regions",
        tests=("semantics/test_inputs.py::test_layout",),
    ),
    Row(
        "H7",
        "What is addressed by its place in the storage, wherever in the program, must start at the same place.",
        from_the_start,
        lambda: [numbers()],
        """
            CHECK: func.func private @guard(!ref1000 {dovetail.name = "L['x']", dovetail.offset = 0 : i64}
            CHECK: call @guard(%arg0)
            CHECK: torch.aten.as_strided
        """,
        Malformed(
            "dovetail.offset = 0 : i64",
            'dovetail.offset = "anywhere"',
            "expects 'dovetail.offset' of argument 0 to be a number, got \"anywhere\"",
        ),
        tests=("frontend/observe/test_unseen_graphs.py::test_place_in_the_storage",),
    ),
    Row(
        "H8",
        "Writes through windows: tracing loses what lies between them, in a branch as anywhere.",
        in_a_branch,
        lambda: [numbers()],
        eager="a write through `unfold`, `expand` or strides that overlap can't be traced",
        tests=("frontend/observe/test_unseen_graphs.py::test_writes_through_windows",),
    ),
    Row(
        "H9",
        "What may see how its operands lie in memory is given them as eager lays them out, and the IR says how.",
        opaque,
        lambda: [numbers()],
        """
            CHECK: func.func @forward
            CHECK: torch.operator "torch.aten.special_i0e"(%{{.*}}) {{{.*}}dovetail.strides = [array<i64: 4, 1>]}
        """,
        Malformed(
            r", dovetail.strides = \[array<i64: 4, 1>\]",
            "",
            "'torch.operator' op may see how its operands lie in memory, expected 'dovetail.strides'",
        ),
        level="program",
        tests=("semantics/test_operand_strides.py::test_layouts", "semantics/test_operand_strides.py::test_recurrent"),
    ),
    Row(
        "H10",
        "In the backward, operands lie as the caller's gradient makes them lie; the IR says how to find out.",
        opaque_then_transposed,
        lambda: [numbers()],
        """
            CHECK: func.func @backward
            CHECK-SAME: dovetail.followed, dovetail.tangent_of = 0
            CHECK: torch.operator {{.*}}dovetail.strides = [
            CHECK: func.func private @layouts(%{{.*}} {dovetail.tangent_of = 0 : i64}
        """,
        Malformed(
            "dovetail.followed, ",
            "",
            "expects 'dovetail.followed' of argument",
        ),
        level="program",
        tests=("semantics/test_gradient_strides.py::test_gradients",),
    ),
]
