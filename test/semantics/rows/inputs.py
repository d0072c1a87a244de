"""What becomes of a call's arguments."""

import torch

from dovetail.tools.documented_semantics import Malformed, Row
from dovetail.tools.wrongs.wrapper import Wrapper


def vector() -> torch.Tensor:
    return torch.linspace(-1, 1, 4)


def matrix() -> torch.Tensor:
    return torch.linspace(-1, 1, 6).reshape(2, 3)


def cloned(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(each.clone() for each in tensors)


def overlapping(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    base = x.clone()
    return base[:-1], base[1:]


def halves(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    base, half = x.clone(), len(x) // 2
    return base[:half], base[half:]


def twice(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    base = x.clone()
    return base, base


def wrappers(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return Wrapper(x), Wrapper(weight.detach()).requires_grad_(weight.requires_grad)


def odd_layouts(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Transposed and at an offset that no kernel's alignment allows; and without dimensions."""
    base = x.clone()
    return base[1 : 1 + len(x) // 2].view(3, -1).t(), base[-4]


def use_first_argument(outputs, arguments):
    return arguments[0] * 3


def read_only(x, y):
    return x * 2 + y


def tracked(x):
    x.mul_(2)
    return x + 1


def leaf_under_no_grad(x):
    with torch.no_grad():
        x.mul_(2)
    return x + 1


def without_gradient(x, weight):
    x.mul_(2)
    return x * weight


def hidden(x):
    x.data.mul_(2)
    return x + 1


def transposed(x):
    x.t_()
    return x * 2, x[0]


def doubled_and_transposed(x):
    x.mul_(2)
    x.t_()
    return x + 1


def other_storage(x, y):
    x.set_(torch.ones(5))
    return y * 2


def freed_and_restored(x, y):
    old = y * 2
    x.untyped_storage().resize_(0)
    x.untyped_storage().resize_(16)
    x.copy_(old)
    return x + y


def enlarged(x, y):
    x.resize_(7)
    x.fill_(1)
    return x.sum() + y


class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = self.tied = torch.nn.Parameter(torch.ones(1))
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x):
        self.count += 1
        return x * self.weight * self.count + self.tied


def double_and_add(x, y):
    x.mul_(2)
    return x + y


def no_path(x, y):
    return x * 2, y.detach() * 3


class WritesInBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, total):
        ctx.total = total
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        ctx.total.add_(gradient)
        return gradient * 2, None


def written_in_backward(x, total):
    return WritesInBackward.apply(x, total) + 1


def wrapped(x, weight):
    x.mul_(2)
    return x * weight


def any_layout(x, y):
    x.mul_(2)
    return x + y


ROWS = [
    Row(
        "I1",
        "Arguments that are only read stay as they are, though they overlap: nothing is said about them, nothing done.",
        read_only,
        lambda: [vector()],
        checks="""
            CHECK-NOT: func.func private @guard
            CHECK: "dovetail.read"(%arg0)
            CHECK: "dovetail.read"(%arg1)
            CHECK-NOT: "dovetail.write"
            CHECK-NOT: "dovetail.set_metadata"
        """,
        malformed=Malformed(
            r'read"\(%arg0\)', 'read"(%arg0) {mode = "now"}', "'dovetail.read' op has no attribute 'mode'"
        ),
        prepare=overlapping,
    ),
    Row(
        "I2",
        "New values in an argument that autograd follows: gradients flow through the write to what the caller had.",
        tracked,
        lambda: [vector()],
        """
            CHECK: [[NEW:%.*]] = torch.aten.mul.Scalar
            CHECK: [[OWN:%.*]] = "dovetail.own"([[NEW]]) {requires_grad = true}
            CHECK: "dovetail.write"([[OWN]], %arg0) {mode = "tracked"}
            CHECK: "dovetail.tangent"([[OWN]])
            CHECK: "dovetail.gradient"(%{{.*}}, %arg0)
        """,
        Malformed('mode = "tracked"', 'mode = "followed"', "expects 'mode' to be 'tracked', 'no_grad' or 'hidden'"),
        prepare=cloned,
        then=use_first_argument,
    ),
    Row(
        "I3",
        "New values in a leaf, written under `no_grad`: it stays a leaf, and its version moves.",
        leaf_under_no_grad,
        lambda: [vector()],
        """
            CHECK: [[NEW:%.*]] = torch.aten.mul.Scalar
            CHECK: "dovetail.write"([[NEW]], %arg0) {mode = "no_grad"}
            CHECK-COUNT-1: "dovetail.tangent"
        """,
        Malformed(' {mode = "no_grad"}', "", 'attribute "mode" is expected but not provided'),
        tests=("semantics/test_mutated_inputs.py::test_every_way_of_writing",),
    ),
    Row(
        "I4",
        "New values in an argument that needs no gradient; the gradient of another one sees what eager's sees.",
        without_gradient,
        lambda: [vector(), vector()],
        """
            CHECK: func.func private @guard({{.*}}"L['x']"{{.*}}"L['weight']"
            CHECK-SAME: attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
            CHECK: call @guard(%arg0, %arg1)
            CHECK: [[NEW:%.*]] = torch.aten.mul.Scalar
            CHECK: "dovetail.write"([[NEW]], %arg0) {mode = "no_grad"}
            CHECK: torch.aten.mul.Tensor %{{.*}}, [[NEW]]
            CHECK: "dovetail.gradient"(%{{.*}}, %arg1)
        """,
        Malformed("mutated = 1", "mutated = 3", "expects 'dovetail.mutated' to be 0 to 2 of its arguments, got 3"),
        trained=(1,),
    ),
    Row(
        "I5",
        "New values behind autograd's back, through `.data`: the version counter stays.",
        hidden,
        lambda: [vector()],
        """
            CHECK: "dovetail.write"(%{{.*}}, %arg0) {mode = "hidden"}
            CHECK-COUNT-1: "dovetail.tangent"
        """,
        Malformed('"hidden"', '"hidden", versions = 2 : i64', "expects no 'versions' in mode 'hidden'"),
        tests=("semantics/test_mutated_inputs.py::test_every_way_of_writing",),
    ),
    Row(
        "I6",
        "Other sizes and strides, the same memory.",
        transposed,
        lambda: [matrix()],
        """
            CHECK-NOT: "dovetail.write"
            CHECK: "dovetail.set_metadata"(%arg0) {offset = 0 : i64, size = [3, 2], stride = [1, 3]}
            CHECK-NOT: "dovetail.write"
        """,
        Malformed(r"stride = \[1, 3\]", "stride = [1]", "expects one stride a size, got 2 sizes and 1 strides"),
        prepare=cloned,
        plain_trace=True,
        tests=("semantics/test_mutated_inputs.py::test_metadata_mutation",),
    ),
    Row(
        "I7",
        "New values, sizes and strides: the values are written as the argument ends up being laid out.",
        doubled_and_transposed,
        lambda: [matrix()],
        """
            CHECK: [[VIEW:%.*]] = "dovetail.view"(%arg0) {args = {{\\[\\[}}3, 2], [1, 3], 0]{{.*}}as_strided.default"
            CHECK: "dovetail.write"(%{{.*}}, [[VIEW]]) {mode = "tracked"}
            CHECK-NEXT: "dovetail.set_metadata"(%arg0) {offset = 0 : i64, size = [3, 2], stride = [1, 3]}
        """,
        Malformed(
            r'write"\((%\d+), %\d+\) {mode = "tracked"} : .*->',
            r'write"(\1, %arg0) {mode = "tracked"} : (!ref3x2_strides1x3, !ref2x3) ->',
            "'dovetail.write' op expects a value of type '!torch.vtensor<[2,3],f32>' to match",
        ),
        prepare=cloned,
        plain_trace=True,
    ),
    Row(
        "I8",
        "Other memory, by `set_`.",
        other_storage,
        lambda: [vector(), vector()],
        trained=(1,),
        plain_trace=True,
        eager="argument x: `set_`, which gives it other memory, is not supported yet",
    ),
    Row(
        "I9",
        "Memory that is given back and taken again.",
        freed_and_restored,
        lambda: [vector(), vector()],
        trained=(1,),
        plain_trace=True,
        eager="PyTorch can't trace it: RuntimeError: Attempted to call resize_() on an invalid python storage",
    ),
    Row(
        "I10",
        "Another size that needs more memory, by `resize_`.",
        enlarged,
        lambda: [vector(), vector()[:1].clone()],
        trained=(1,),
        plain_trace=True,
        eager="argument x: resizing its memory is not supported yet",
    ),
    Row(
        "I11",
        "Parameters and buffers are arguments like others, known to outlive the call; one by two names is one.",
        Counter,
        lambda: [matrix()],
        """
            CHECK: func.func @joint(%arg0: !ref0d {dovetail.name = "L['self']._buffers['count']", dovetail.static
            CHECK-SAME: dovetail.name = "L['self']._parameters['weight']", dovetail.requires_grad, dovetail.static
            CHECK: "dovetail.write"(%{{.*}}, %arg0) {mode = "no_grad"}
        """,
        Malformed(
            r'write"\(%\d+, %arg0\) {mode = "no_grad"} : \(!value0d, !ref0d\)',
            'write"(%arg1, %arg0) {mode = "no_grad"} : (!ref1, !ref0d)',
            "'dovetail.write' op expects a value of type '!torch.vtensor<[],f32>' to match",
        ),
        tests=("semantics/test_inputs.py::test_buffers",),
    ),
    Row(
        "I12",
        "One tensor given twice stays one tensor; a later call with two is compiled anew.",
        double_and_add,
        lambda: [vector()],
        """
            CHECK: func.func private @guard({{.*}}dovetail.name = "x", dovetail.object = 0
            CHECK-SAME: dovetail.name = "y", dovetail.object = 0
            CHECK-COUNT-1: "dovetail.write"
            CHECK: "dovetail.gradient"(%{{.*}}, %arg0)
            CHECK-NOT: "dovetail.gradient"
        """,
        Malformed(
            'dovetail.name = "y", dovetail.object',
            "dovetail.object",
            "expects argument 1 to be a ref with a 'dovetail.name'",
        ),
        prepare=twice,
        plain_trace=True,
        tests=("semantics/test_aot_style.py::test_overlap_in_some_calls_only",),
    ),
    Row(
        "I13",
        "Arguments that overlap, one of them written: the other shows it, and gradients take the same way.",
        double_and_add,
        lambda: [vector()],
        """
            CHECK: func.func private @guard(!ref3 {dovetail.group = 0 : i64, {{.*}}"L['x']",
            CHECK-SAME: dovetail.start = 0 : i64
            CHECK-SAME: !ref3 {dovetail.group = 0 : i64, {{.*}}"L['y']", {{.*}}dovetail.start = 4 : i64
            CHECK: call @guard(%arg0, %arg1)
            CHECK: [[MEMORY:%.*]] = torch.aten.cat
            CHECK: "dovetail.write"(%{{.*}}, %arg0) {mode = "tracked"}
        """,
        Malformed("mutated = 1", "mutated = -1", "expects 'dovetail.mutated' to be 0 to 2 of its arguments, got -1"),
        prepare=overlapping,
        tests=("integration/test_wrongs.py::test_row", "semantics/test_aot_style.py::test_synthetic_base"),
    ),
    Row(
        "I14",
        "Arguments in one storage that do not overlap stay independent; that they do is checked in each call.",
        double_and_add,
        lambda: [vector()],
        """
            CHECK: func.func private @guard(
            CHECK-NOT: dovetail.group
            CHECK: call @guard(%arg0, %arg1)
            CHECK-NOT: torch.aten.cat
        """,
        Malformed(
            r" {dovetail.name = \"L\['y'\]\"}\) attributes",
            ") attributes",
            "expects argument 1 to be a ref with a 'dovetail.name'",
        ),
        prepare=halves,
        tests=("runtime/checks/test_guard.py::test_neighbours_in_one_storage_are_independent",),
    ),
    Row(
        "I15",
        "An argument to which no gradient flows is detached first, so autograd does not enter what made it.",
        no_path,
        lambda: [vector(), vector()],
        """
            CHECK: func.func @call
            CHECK: [[CUT:%.*]] = "dovetail.detach"(%arg1)
            CHECK: call @apply(%arg0, [[CUT]])
            CHECK: func.func @backward({{.*}}) -> (!value4, !torch.none)
        """,
        Malformed(
            "dovetail.backward = @backward, ",
            "",
            "expects 'dovetail.forward' and 'dovetail.backward', got no 'dovetail.backward'",
        ),
        prepare=cloned,
        level="split",
    ),
    Row(
        "I16",
        "An argument that the backward writes.",
        written_in_backward,
        lambda: [vector(), vector()],
        trained=(0,),
        compiled_inference=True,
        eager="argument L['total']: mutation in the backward is not supported yet",
    ),
    Row(
        "I17",
        "Wrapper subclasses, in and out: the tensors below are the arguments; a write reaches them.",
        wrapped,
        lambda: [vector(), vector()],
        """
            CHECK: func.func @joint(%arg0: !ref4 {dovetail.name = "L['x'].held", dovetail.watched = array<i64: 0>}
            CHECK-SAME: dovetail.arguments = [{attributes = ["held"], class = "dovetail.tools.wrongs.wrapper:Wrapper"
            CHECK-SAME: dovetail.results = [{attributes = ["held"], class = "dovetail.tools.wrongs.wrapper:Wrapper"
            CHECK: "dovetail.write"(%{{.*}}, %arg0)
        """,
        Malformed(r"parts = \[1\]", "parts = [0]", "'dovetail.arguments' expects each position from 0 to 1 once, got"),
        prepare=wrappers,
        trained=(1,),
        tests=("semantics/test_subclasses.py::test_mutated", "semantics/test_subclasses.py::test_sharing_a_part"),
    ),
    Row(
        "I18",
        "Any layout: strided, shifted, misaligned, expanded, without dimensions, empty.",
        any_layout,
        lambda: [torch.linspace(-1, 1, 24)],
        """
            CHECK: func.func @joint(%arg0: !ref4x3_strides1x4
            CHECK: "dovetail.write"(%{{.*}}, %arg0) {mode = "tracked"} : (!ref4x3_strides1x4, !ref4x3_strides1x4)
        """,
        Malformed(
            r"strided<\[1, 4\]>",
            "strided<[1]>",
            "expects a ref to a '!torch.vtensor' with one stride a dimension",
        ),
        prepare=odd_layouts,
        tests=("semantics/test_inputs.py::test_layout", "semantics/test_inputs.py::test_copy_for_layout_is_counted"),
    ),
]
