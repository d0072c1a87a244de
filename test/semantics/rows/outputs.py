"""What becomes of a call's results."""

import torch

from dovetail.tools.documented_semantics import Malformed, Row


def vector() -> torch.Tensor:
    return torch.linspace(-1, 1, 4)


def matrix() -> torch.Tensor:
    return torch.linspace(-1, 1, 12).reshape(3, 4)


def image() -> torch.Tensor:
    return torch.linspace(-1, 1, 48).reshape(2, 3, 2, 4).to(memory_format=torch.channels_last)


def cloned(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(each.clone() for each in tensors)


def write_result(output, arguments):
    return output.mul_(3)


def write_first_result(outputs, arguments):
    return outputs[0].mul_(3)


def write_first_two_results(outputs, arguments):
    return outputs[0].mul_(3), outputs[1].mul_(2)


def shift_argument(outputs, arguments):
    arguments[0].data.add_(1)


def fresh(x):
    return x * 2


def the_argument(x):
    return x, x * 2, x.contiguous(), x.to(torch.float32)


def parts(x):
    return x.t()[1:], *x.chunk(2)


def view_of_intermediate(x):
    return (x * 2).view(x.shape[::-1])


def view_of_view(x):
    view = (x * 2).view(x.shape[::-1])
    return view[0], view, view.t()


def view_and_base(x):
    y = x * 2
    return y.view(x.shape[::-1]), y, y


def batched_product(x, weight):
    return x @ weight


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(2, -1)

    @staticmethod
    def backward(ctx, gradient):
        return 3 * gradient.flatten()


def custom_view(x):
    return Tripled.apply(x * 2)


def siblings(x):
    y = x * 2
    return y.view(x.shape[::-1]), y.t(), y[0]


def nested(x):
    return {"a": [x * 2, None, 3, 2.5, True], "b": (x.shape[0], "s", {"c": x + 1})}


def not_differentiable(x):
    return x * 2, x > 0, x.argmax(), (x * 3).long(), x.detach() * 2


def sizes_that_change(x):
    return x * x.shape[0], x.shape[0]


def same_memory_format(x):
    return x * 2 + 1, x.permute(0, 3, 1, 2).relu()


ROWS = [
    Row(
        "O1",
        "A fresh tensor is the result itself.",
        fresh,
        lambda: [vector()],
        """
            CHECK: [[OWN:%.*]] = "dovetail.own"(%{{.*}}) {requires_grad = true}
            CHECK: return [[OWN]] : !ref4
        """,
        Malformed(
            "requires_grad = true",
            "requires_grad = 1 : i64",
            "expects 'requires_grad' to be true or false, got 1 : i64",
        ),
        then=write_result,
    ),
    Row(
        "O2",
        "An argument that is returned is that very object.",
        the_argument,
        lambda: [vector()],
        """
            CHECK: [[OWN:%.*]] = "dovetail.own"
            CHECK-NOT: "dovetail.own"
            CHECK: return %arg0, [[OWN]], %arg0, %arg0 : !ref4, !ref4, !ref4, !ref4
        """,
        Malformed(
            r"return %arg0, .*", "return %arg0 : !ref4", "op has 1 operands, but enclosing function (@joint) returns 4"
        ),
        prepare=cloned,
        then=write_first_result,
        plain_trace=True,
        tests=("frontend/dynamo/test_idle_dropout.py::test_write_behind_idle_dropout",),
    ),
    Row(
        "O3",
        "A view of an argument, any chain, and parts of a split: the view functions run on the caller's tensor.",
        parts,
        lambda: [matrix()],
        """
            CHECK: [[T:%.*]] = "dovetail.view"(%arg0) {args = [], callee = "aten.t.default", index = -1 : i64}
            CHECK: [[ROWS:%.*]] = "dovetail.view"([[T]]) {args = [0, 1, 9223372036854775807], {{.*}}aten.slice.Tensor"
            CHECK: [[FIRST:%.*]] = "dovetail.view"(%arg0) {args = [2], callee = "aten.split.Tensor", index = 0 : i64}
            CHECK: [[SECOND:%.*]] = "dovetail.view"(%arg0) {args = [2], callee = "aten.split.Tensor", index = 1 : i64}
            CHECK: return [[ROWS]], [[FIRST]], [[SECOND]]
        """,
        Malformed(
            "index = 0 : i64", 'index = "first"', "expected base attribute 'builtin.integer' but got 'builtin.string'"
        ),
        prepare=cloned,
        then=shift_argument,
        tests=(
            "semantics/test_outputs.py::test_view_of_argument",
            "semantics/test_outputs.py::test_multi_output_view_of_argument",
        ),
    ),
    Row(
        "O4",
        "A view of an intermediate is made of memory that the call hands out too, so that in-place use is eager's.",
        view_of_intermediate,
        lambda: [matrix()],
        """
            CHECK: [[BASE:%.*]] = "dovetail.own"
            CHECK: [[VIEW:%.*]] = "dovetail.view"([[BASE]]) {args = {{\\[\\[}}4, 3{{\\]\\]}}, {{.*}}aten.view.default"
            CHECK: "dovetail.tangent"([[BASE]])
            CHECK: return [[VIEW]] : !ref4x3
        """,
        Malformed('callee = "aten.view.default", ', "", 'attribute "callee" is expected but not provided'),
        then=write_result,
    ),
    Row(
        "O5",
        "Views of a view that is a result: all of one memory, which is handed out once, whichever comes first.",
        view_of_view,
        lambda: [matrix()],
        """
            CHECK-COUNT-1: "dovetail.own"
            CHECK: [[FIRST:%.*]] = "dovetail.view"({{.*}}callee = "aten.select.int"
            CHECK-COUNT-1: "dovetail.tangent"
            CHECK: return [[FIRST]],
        """,
        Malformed(
            r"args = \[0, 0\]", 'args = "0, 0"', "expected base attribute 'builtin.array' but got 'builtin.string'"
        ),
        then=write_first_result,
    ),
    Row(
        "O6",
        "A view of an intermediate that is a result itself, or two: it is a view of that result, which is one object.",
        view_and_base,
        lambda: [matrix()],
        """
            CHECK: [[BASE:%.*]] = "dovetail.own"
            CHECK-NOT: "dovetail.own"
            CHECK: [[VIEW:%.*]] = "dovetail.view"([[BASE]])
            CHECK: return [[VIEW]], [[BASE]]
        """,
        Malformed(
            r'tangent"\((%\d+)\) : \(!ref3x4\)',
            'tangent"(%arg0) : (!ref3x4)',
            "'dovetail.tangent' op expects the result of a 'dovetail.own'",
        ),
        then=write_first_two_results,
    ),
    Row(
        "O7",
        "The product of a batch and a matrix is fresh, though it is reshaped inside.",
        batched_product,
        lambda: [torch.ones(2, 3, 4), torch.ones(4, 5)],
        """
            CHECK: [[OWN:%.*]] = "dovetail.own"(%{{.*}}) {requires_grad = true} : (!value2x3x5) -> !ref2x3x5
            CHECK-NOT: "dovetail.view"
            CHECK: return [[OWN]]
        """,
        Malformed(" {requires_grad = true}", "", 'attribute "requires_grad" is expected but not provided'),
        then=write_result,
    ),
    Row(
        "O8",
        "A view that a custom `autograd.Function` made keeps that function's backward.",
        custom_view,
        lambda: [vector()],
        """
            CHECK-NOT: "dovetail.view"
            CHECK: "dovetail.tangent"(%{{.*}}) : (!ref2x2)
            CHECK: torch.aten.mul.Scalar %{{.*}}, %int3
            CHECK: "dovetail.gradient"(%{{.*}}, %arg0)
        """,
        Malformed(
            r'(tangent"\((%\d+)\)[^$]*gradient"\(%\d+), %arg0\) : \(!value4, !ref4\)',
            r"\1, \2) : (!value4, !ref2x2)",
            "'dovetail.gradient' op expects an argument of the function, got the result of 'dovetail.own'",
        ),
        tests=("frontend/observe/test_custom_functions.py::test_base_of_a_view",),
    ),
    Row(
        "O9",
        "Results that alias one another are views of one memory, whoever is written.",
        siblings,
        lambda: [matrix()],
        """
            CHECK: [[BASE:%.*]] = "dovetail.own"
            CHECK-NEXT: [[A:%.*]] = "dovetail.view"([[BASE]])
            CHECK-NEXT: [[B:%.*]] = "dovetail.view"([[BASE]])
            CHECK-NEXT: [[C:%.*]] = "dovetail.view"([[BASE]])
            CHECK: return [[A]], [[B]], [[C]]
        """,
        Malformed(
            "index = -1 : i64",
            "index = -1 : i64, grad_mode = 1 : i64",
            "expects 'grad_mode' to be true or false, got 1 : i64",
        ),
        then=write_first_result,
    ),
    Row(
        "O10",
        "Results that are no tensors, in nested containers: Dynamo puts them around what the graph returns.",
        nested,
        lambda: [vector()],
        """
            CHECK: func.func @joint({{.*}}) -> (!ref4, !ref4) attributes {dovetail.role = "joint"} {
            CHECK: [[FIRST:%.*]] = "dovetail.own"
            CHECK: [[SECOND:%.*]] = "dovetail.own"
            CHECK: return [[FIRST]], [[SECOND]] : !ref4, !ref4
        """,
        Malformed('level = "joint"', 'level = "split"', 'expects \'dovetail.level\' to be "joint", got "split"'),
    ),
    Row(
        "O11",
        "Results that are detached, integer or boolean require no gradient, and have no tangent.",
        not_differentiable,
        lambda: [vector()],
        """
            CHECK: [[FIRST:%.*]] = "dovetail.own"(%{{.*}}) {requires_grad = true}
            CHECK-COUNT-4: "dovetail.own"(%{{.*}}) {requires_grad = false}
            CHECK: "dovetail.tangent"([[FIRST]])
            CHECK-NOT: "dovetail.tangent"
        """,
        Malformed(
            r'(%\d+)( = "dovetail.own"\(%\d+\) {requires_grad = false} : \(!value4\)[^$]*)tangent"\(%\d+\)',
            r'\1\2tangent"(\1)',
            "'dovetail.tangent' op expects an owned result with 'requires_grad = true'",
        ),
    ),
    Row(
        "O12",
        "Sizes that change from call to call are values of one program, whose results have those of the call.",
        sizes_that_change,
        lambda: [matrix()],
        """
            CHECK: func.func @joint([[ROWS:%.*]]: !torch.int {{.*}}, [[COLUMNS:%.*]]: !torch.int {{.*}}[?,?]
            CHECK: [[RESULT:%.*]] = torch.aten.mul.Scalar %{{.*}}, [[ROWS]]
            CHECK: [[OWN:%.*]] = "dovetail.own"([[RESULT]], [[COLUMNS]]) {requires_grad = true}
            CHECK: return [[OWN]], [[ROWS]]
        """,
        Malformed(
            r"(own\"\(%\d+), %arg1(.*f32>), !torch.int",
            r"\1\2",
            "expects a number for each of the 1 open strides, got 0",
        ),
        dynamic=True,
        tests=(
            "semantics/test_inputs.py::test_sizes_that_change",
            "semantics/test_sizes.py::test_results_of_changing_size",
        ),
    ),
    Row(
        "O13",
        "Strides are eager's: channels-last stays channels-last, permuted stays permuted.",
        same_memory_format,
        lambda: [image()],
        """
            CHECK: "dovetail.own"(%{{.*}}requires_grad = true} : (!value2x3x2x4) -> !ref2x3x2x4_strides24x1x12x3
            CHECK: "dovetail.own"(%{{.*}}requires_grad = true} : (!value2x4x3x2) -> !ref2x4x3x2_strides24x3x1x12
        """,
        Malformed(
            r"strided<\[24, 1, 12, 3\]>",
            "strided<[24, 1, 12, 3], offset: 2>",
            "expects a ref to a '!torch.vtensor' with one stride a dimension and no offset",
        ),
    ),
]
