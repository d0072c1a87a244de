"""The joint graph, its partition, and what autograd sees of the two halves."""

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from dovetail.tools.documented_semantics import Malformed, Row


def vector() -> torch.Tensor:
    return torch.linspace(-1, 1, 4)


def matrix() -> torch.Tensor:
    return torch.linspace(-1, 1, 16).reshape(4, 4)


def cloned(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(each.clone() for each in tensors)


def grad_mode_after(output, arguments):
    """What the call left autograd's mode at; turned on again for what follows."""
    was_enabled = torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    return torch.tensor(was_enabled)


def autocast_after(output, arguments):
    """Whether the call left autocast on."""
    return torch.tensor(torch.is_autocast_enabled(output.device.type))


def hooks_by_double():
    """A mask that is saved in place of `relu`'s result would come back as numbers."""
    return torch.autograd.graph.saved_tensors_hooks(torch.Tensor.double, torch.Tensor.float)


def every_kind_of_result(x, y):
    x.mul_(2)
    z = y * 3
    return z.view(-1), z.t(), x + 1, y > 0


def transposed_result(x):
    return x.t() * 2


def all_orders(x, weight):
    x.mul_(2)
    product = x @ weight
    return product.sin().t(), x.sum()


def recomputed(x, weight):
    return functional.dropout(checkpoint(lambda x: (x @ weight).sin(), x, use_reentrant=False), 0.5)


def decides(x):
    y = x.exp().sin()
    return y.amax(1), x * y.floor()


def private_values(x, weight):
    return ((x @ weight).exp() @ weight).sum()


def visible_values(x, weight):
    return (x @ weight).exp()


def layer(x, weight):
    return (x @ weight).relu()


def wave(x):
    return x.sin().exp()


def branches(x):
    return torch.cond(x[0] > 0, torch.sin, torch.cos, (x,))


def checked(x):
    torch._assert_async((x < 2).all(), "too large")
    return x * 2


def draws(x):
    return functional.dropout(x, 0.5) + torch.rand(x.shape, device=x.device)


def turns_gradients_off(x):
    y = x * 2
    torch.set_grad_enabled(False)
    return y


def in_bfloat16(x, weight):
    with torch.autocast(x.device.type, dtype=torch.bfloat16):
        return x @ weight


def two_matrices() -> list:
    return [matrix(), matrix() + 1]


ROWS = [
    Row(
        "J1",
        "Tangents are those of differentiable results, of written arguments, and of memory behind views: one each.",
        every_kind_of_result,
        lambda: [torch.ones(2, 2), torch.ones(2, 2) * 3],
        """
            CHECK: [[WRITTEN:%.*]] = "dovetail.own"(%{{.*}}) {{.*}}requires_grad = true}
            CHECK: "dovetail.write"([[WRITTEN]], %arg0)
            CHECK: [[BASE:%.*]] = "dovetail.own"(%{{.*}}) {{.*}}requires_grad = true}
            CHECK: [[FRESH:%.*]] = "dovetail.own"(%{{.*}}) {{.*}}requires_grad = true}
            CHECK: "dovetail.own"(%{{.*}}) {requires_grad = false} : (!value2x2_bool)
            CHECK: "dovetail.tangent"([[WRITTEN]])
            CHECK: "dovetail.tangent"([[BASE]])
            CHECK: "dovetail.tangent"([[FRESH]])
            CHECK-NOT: "dovetail.tangent"
        """,
        Malformed(
            r'tangent"\(%\d+\)', 'tangent"(%arg0)', "'dovetail.tangent' op expects the result of a 'dovetail.own'"
        ),
        prepare=cloned,
    ),
    Row(
        "J2",
        "A tangent has the strides that were assumed; one that comes otherwise is copied, once.",
        transposed_result,
        lambda: [matrix()],
        """
            CHECK: "dovetail.tangent"(%{{.*}}) : (!ref4x4_strides1x4) -> !ref4x4_strides1x4
        """,
        Malformed(
            r'(gradient"\(%\d+), %arg0\) : \(!value4x4, !ref4x4\)',
            r"\1, %4) : (!value4x4, !ref4x4_strides1x4)",
            "'dovetail.gradient' op expects an argument of the function, got the result of 'dovetail.own'",
        ),
        tests=("runtime/autograd/test_autograd.py::test_layout_of_the_tangent",),
    ),
    Row(
        "J3",
        "The forward returns written values, then results and memory behind views, then what it saves.",
        all_orders,
        two_matrices,
        """
            CHECK: func.func @call
            CHECK: [[RESULTS:%.*]]:3 = call @apply(%arg0, %arg1)
            CHECK: "dovetail.write"([[RESULTS]]#0, %arg0) {mode = "tracked"}
            CHECK: [[VIEW:%.*]] = "dovetail.view"([[RESULTS]]#1)
            CHECK: return [[VIEW]], [[RESULTS]]#2
            CHECK: func.func @forward({{.*}}) -> (!ref4x4, !ref4x4, !ref0d, !value4x4 {dovetail.saved =
            CHECK: func.func @backward(%arg0: !value4x4
            CHECK-SAME: !ref4x4 {dovetail.tangent_of = 0 : i64}, {{.*}}!ref0d {dovetail.tangent_of = 2 : i64})
        """,
        Malformed(
            r"(tangent_of = 2 : i64}\)) -> \(!value4x4, !value4x4\)([^$]*?)return (%\d+), %\d+ : !value4x4, !value4x4",
            r"\1 -> !value4x4\2return \3 : !value4x4",
            "expects its backward to take the 3 saved values first and return 2 gradients",
        ),
        prepare=cloned,
        level="split",
    ),
    Row(
        "J4",
        "The backward computes anew what a checkpoint or the partition says; random numbers are never drawn again.",
        recomputed,
        two_matrices,
        """
            CHECK: func.func @forward
            CHECK: torch.aten.mm
            CHECK: [[DROPPED:%.*]]:2 = torch.operator "torch.aten.native_dropout"
            CHECK: return %{{.*}}, [[DROPPED]]#1 : !ref4x4, !value4x4, !value4x4, !value4x4_bool
            CHECK: func.func @backward
            CHECK-NOT: native_dropout
            CHECK: [[PRODUCT:%.*]] = torch.aten.mm
            CHECK: torch.aten.cos [[PRODUCT]]
        """,
        Malformed(
            r"(torch.aten.sin %\d+)",
            r'\1 {dovetail.recompute = "must_recompute"}',
            "expects no 'dovetail.recompute', which is for torch ops of '@joint'",
        ),
        level="split",
        tests=(
            "frontend/to_ir/test_checkpoint.py::test_inside_is_not_saved",
            "runtime/test_random.py::test_recomputation_around_dropout",
        ),
    ),
    Row(
        "J5",
        "A saved value that nobody else can reach dies in the backward, as soon as it has been used.",
        private_values,
        two_matrices,
        """
            CHECK: func.func @forward({{.*}}!value4x4 {dovetail.saved = "private"}
        """,
        Malformed('saved = "private"', 'saved = "shared"', "'dovetail.saved'"),
        level="split",
        tests=("runtime/autograd/test_autograd.py::test_saved_values_die_in_the_backward",),
    ),
    Row(
        "J6",
        "A saved value that the caller can reach has its version checked: a change before the backward raises.",
        visible_values,
        two_matrices,
        """
            CHECK: func.func @forward
            CHECK-SAME: -> (!ref4x4, !value4x4 {dovetail.saved = "checked"}
            CHECK-SAME: , !value4x4 {dovetail.saved = "checked"}, !value4x4 {dovetail.saved = "checked"})
        """,
        Malformed(r' {dovetail.saved = "checked"}', "", "'dovetail.saved'"),
        level="split",
        tests=("runtime/autograd/test_autograd.py::test_in_place_change_before_backward",),
    ),
    Row(
        "J7",
        "The backward runs as it was traced, whatever autocast or deterministic mode is in force when it runs.",
        layer,
        two_matrices,
        """
            CHECK: func.func @backward
            CHECK: torch.aten.mm
            CHECK-NOT: _to_copy
            CHECK: func.func private @apply(
            CHECK-SAME: {dovetail.backward = @backward, dovetail.forward = @forward, dovetail.role = "border"}
        """,
        Malformed(
            "dovetail.backward = @backward", "dovetail.backward = @later", "refers to '@later', which is not defined"
        ),
        level="split",
        tests=(
            "runtime/test_autocast.py::test_autocast_around_the_call",
            "runtime/autograd/test_autograd.py::test_backward_under_deterministic_algorithms",
        ),
    ),
    Row(
        "J8",
        "A graph is kept or freed as eager's, and the gradient of a gradient is right, by a slower path.",
        wave,
        lambda: [vector()],
        """
            CHECK: func.func @forward({{.*}}) -> (!ref4, !value4 {dovetail.saved = "checked"})
            CHECK: func.func @backward(%arg0: !value4, %arg1: !ref4 {dovetail.tangent_of = 0 : i64})
        """,
        Malformed(
            ", dovetail.forward = @forward",
            "",
            "expects 'dovetail.forward' and 'dovetail.backward', got no 'dovetail.forward'",
        ),
        level="split",
        tests=(
            "runtime/autograd/test_autograd.py::test_retained_graph",
            "runtime/autograd/test_double_backward.py::test_third_order",
        ),
    ),
    Row(
        "J9",
        "The caller's hooks pack what the forward saves, and unpack what the backward gets.",
        layer,
        two_matrices,
        """
            CHECK: func.func @forward({{.*}}) -> (!ref4x4, !value4x4{{.*}} {dovetail.saved
            CHECK: func.func @backward(%arg0: !value4x4
        """,
        Malformed(
            r"tangent_of = 0 : i64}\) -> \(!value4x4, !value4x4\)([^$]*?)return (%\d+), %\d+ : !value4x4, !value4x4",
            r"tangent_of = 0 : i64}) -> !value4x4\1return \2 : !value4x4",
            "expects its backward to take the 3 saved values first and return 2 gradients",
        ),
        level="split",
        around=hooks_by_double,
        tests=("runtime/autograd/test_saved_tensor_hooks.py::test_all_saved_values_are_packed",),
    ),
    Row(
        "J10",
        "Branches and loops have a forward and a backward of their own, cut like everything else.",
        branches,
        lambda: [vector()],
        """
            CHECK: func.func @forward
            CHECK: torch.operator "torch.dovetail.cond"({{.*}}) {dovetail.else = @else_0
            CHECK: func.func @backward
            CHECK: torch.operator "torch.dovetail.cond"({{.*}}) {dovetail.else = @else_1, dovetail.in_backward
            CHECK: func.func private @then_1
        """,
        Malformed("dovetail.else = @else_0, ", "", "expects 'dovetail.else' to name a function"),
        level="split",
        tests=(
            "frontend/to_ir/test_higher_order.py::test_cond",
            "frontend/to_ir/test_higher_order.py::test_while_loop",
        ),
    ),
    Row(
        "J11",
        "What has an effect runs once, in eager's order: it is a library call, which nothing drops, merges or moves.",
        checked,
        lambda: [vector()],
        """
            CHECK: func.func @forward
            CHECK: torch.operator "torch.aten._assert_async.msg"(%{{.*}}) {dovetail.effect = "other"
            CHECK: func.func @backward
            CHECK-NOT: torch.operator
            CHECK: func.func private @apply
        """,
        Malformed(
            r'("torch.aten._assert_async.msg"\(.*\)) {dovetail.effect = .*?, (dovetail.strides = .*?)}',
            r"\1 {\2}",
            "computes in '@forward' at level 'program', expected a call or a view",
        ),
        level="program",
        tests=(
            "frontend/to_ir/test_effects.py::test_order_and_number",
            "frontend/to_ir/test_effects.py::test_assertion",
        ),
    ),
    Row(
        "J12",
        "Random numbers are eager's for the same seed: drawn in its order, by its kernels, and saved.",
        draws,
        lambda: [vector()],
        """
            CHECK: func.func @forward
            CHECK: [[DROPPED:%.*]]:2 = torch.operator "torch.aten.native_dropout"
            CHECK: torch.operator "torch.aten.rand"
            CHECK: return {{.*}}[[DROPPED]]#1
            CHECK: func.func @backward
            CHECK-NOT: torch.operator
            CHECK: func.func private @apply
        """,
        Malformed(
            r'torch.operator "torch.aten.native_dropout"\((.*?)\) {dovetail.effect = .*?, (dovetail.strides = .*?)}',
            r'torch.operator "torch.aten.native_dropout"(\1) {\2}',
            "computes in '@forward' at level 'program', expected a call or a view",
        ),
        level="program",
        tests=("runtime/test_random.py::test_draws",),
    ),
    Row(
        "J13",
        "Autograd's mode that the function sets is in force after the call.",
        turns_gradients_off,
        lambda: [vector()],
        """
            CHECK: "dovetail.set_grad_mode"() {enabled = false}
        """,
        Malformed("enabled = false", "enabled = 0 : i64", "expects 'enabled' to be true or false, got 0 : i64"),
        then=grad_mode_after,
    ),
    Row(
        "J14",
        "Autocast is in the graph as casts; what runs casts nothing more, and leaves it off.",
        in_bfloat16,
        two_matrices,
        """
            CHECK: func.func @forward
            CHECK-COUNT-2: torch.aten._to_copy %{{.*}} -> !value4x4_bfloat16
            CHECK: torch.aten.mm %{{.*}} -> !value4x4_bfloat16
        """,
        Malformed(" {requires_grad = true}", "", 'attribute "requires_grad" is expected but not provided'),
        level="split",
        then=autocast_after,
        tests=("runtime/test_autocast.py::test_autocast_around_the_call",),
    ),
    Row(
        "J15",
        "What decides by a last bit, a comparison or a rounding, goes by the same bits in forward and backward.",
        decides,
        lambda: [matrix()],
        """
            CHECK: func.func @forward
            CHECK: [[Y:%[0-9]+]] = torch.aten.sin %{{[0-9]+}} {dovetail.pinned}
            CHECK: [[LARGEST:%[0-9]+]] = torch.aten.amax [[Y]]
            CHECK: torch.aten.floor [[Y]]
            CHECK: func.func @backward
            CHECK-NOT: torch.aten.sin
        """,
        Malformed(
            r"( = torch.aten.cos (%\w+) : !value4x4 -> !value4x4)",
            r"\1\n%again = torch.aten.sin \2 : !value4x4 -> !value4x4\n"
            r"%decided = torch.aten.floor %again : !value4x4 -> !value4x4",
            "'torch.aten.floor' op in '@backward' decides once more what '@forward' did",
        ),
        level="split",
        tests=("semantics/test_compared_values.py::test_largest_probability",),
    ),
]
