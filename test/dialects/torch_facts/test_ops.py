"""What each row claims, held against PyTorch's own tags, schemas and kernels."""

from collections.abc import Iterable

import pytest
import torch

from dovetail.dialects.statements.effects import Effect, effect_of
from dovetail.dialects.torch_facts.ops import NAMESPACES, Kind, is_awaited, kind_of_name, row_of_name
from dovetail.dialects.torch_facts.row import Joins, ResultMemory, Row
from dovetail.dialects.torch_facts.rows import OPS, ROWS
from dovetail.dialects.torch_facts.rows.dialect import DIALECT

# Pointwise in fact, by our reading: PyTorch left the tag out, since they copy, are composite or are backward kernels.
UNTAGGED = set(
    "_to_copy clone contiguous copy elu_backward floor_divide hardsigmoid_backward hardswish hardswish_backward "
    "hardtanh_backward leaky_relu_backward lift_fresh_copy log_sigmoid_backward log_sigmoid_forward "
    "softplus_backward to tril triu".split()
)
# Attention draws for its dropout; the importer makes library calls of these, which no pass merges or repeats.
DRAWING = set(
    "_scaled_dot_product_attention_math _scaled_dot_product_flash_attention_for_cpu "
    "scaled_dot_product_attention".split()
)
# Ops of another namespace, which have rows too.
NOT_ATEN = {"convert_element_type", "iota"}


# They alias or copy, which PyTorch's schemas do not say.
UNMARKED = {"_unsafe_view", "chunk", "reshape", "contiguous", "to", "convert_element_type"}


def overloads(name: str) -> list[torch._ops.OpOverload]:
    """The overloads on tensors; TorchScript's own, on numbers and lists, have no dispatcher entry."""
    packet = getattr(torch.ops.aten, name)
    qualified = {each: f"aten::{name}" + f".{each}" * (each != "default") for each in packet.overloads()}
    return [getattr(packet, each) for each, full in qualified.items() if torch._C._dispatch_has_kernel(full)]


def kind(overload: torch._ops.OpOverload) -> Kind:
    return kind_of_name(f"aten.{overload._opname}.{overload._overloadname}")


def names(rows: Iterable[Row]) -> list[str]:
    return sorted({row.name.partition(".")[0] for row in rows} - NOT_ATEN)


EVERY = names(row for row in OPS if row.kind is not Kind.UNKNOWN)
VIEWS = [row for row in OPS if row.memory in (ResultMemory.OPERAND, ResultMemory.BY_STRIDES)]


def test_every_name_is_an_aten_op():
    """A misspelt name would never match, and its op would silently run as a fallback."""
    for row in OPS:
        name, _, overload = row.name.partition(".")
        if name not in NOT_ATEN:
            assert hasattr(torch.ops.aten, name), row.name
            assert not overload or overload in getattr(torch.ops.aten, name).overloads(), row.name


def test_no_op_has_two_rows():
    """The last one would win, whatever the first says."""
    assert len(ROWS) == len(OPS) + len(DIALECT)


@pytest.mark.parametrize("row", [row for row in OPS if row.refused], ids=lambda row: row.name)
def test_refused_overloads_exist(row):
    """A misspelt overload would be handed to IREE."""
    packet = getattr(torch.ops.aten, row.name.partition(".")[0])
    assert {overload for refused in row.refused for overload in refused.overloads} <= set(packet.overloads())


@pytest.mark.parametrize("name", EVERY)
def test_pointwise_tag(name):
    """An op tagged pointwise that we call a reduction, or the reverse, would be fused or recomputed wrongly."""
    for overload in overloads(name):
        if overload._schema.is_mutable:
            continue
        tagged = torch.Tag.pointwise in overload.tags
        if tagged:
            assert kind(overload) is Kind.POINTWISE, overload
        elif kind(overload) is Kind.POINTWISE and not any(torch.Tag.pointwise in each.tags for each in overloads(name)):
            assert name in UNTAGGED, f"{overload} is not tagged pointwise"


@pytest.mark.parametrize("row", [row for row in VIEWS if row.name not in UNMARKED], ids=lambda row: row.name)
def test_views_alias(row):
    """An op that copies, if called a view, would be free in the accounting and replayed on its input."""
    found = [overload for overload in overloads(row.name.partition(".")[0]) if not overload._schema.is_mutable]
    functional = [each for each in found if "Dimname" not in str(each._schema)]
    assert any(argument.alias_info is not None for each in functional for argument in each._schema.arguments)


def drawing(names: Iterable[str]) -> set[str]:
    """Those ops that draw random numbers in one of their overloads."""
    return {name for name in names if any(torch.Tag.nondeterministic_seeded in each.tags for each in overloads(name))}


def test_no_row_draws_random_numbers():
    """An op that draws, given any kind, would be merged with its equals and drawn anew in the backward."""
    assert drawing(EVERY) == DRAWING
    assert drawing(["bernoulli", "native_dropout"]) == {"bernoulli", "native_dropout"}


@pytest.mark.parametrize("name", sorted(DRAWING))
def test_what_draws_is_imported_as_a_library_call(name):
    """Would catch attention with dropout that passes may merge, since it has a row."""
    assert all(effect_of(overload) in (Effect.DRAWS, Effect.WRITES) for overload in overloads(name))


@pytest.mark.parametrize("name", sorted(set(EVERY) - set(names(VIEWS))))
def test_results_are_in_fresh_memory(name):
    """The memory plan would free, or give to another value, what an operand lies in."""
    functional = [overload for overload in overloads(name) if not overload._schema.is_mutable]
    aliased = [each for each in functional if any(result.alias_info is not None for result in each._schema.returns)]
    assert [each for each in aliased if kind(each) is not Kind.UNKNOWN] == []


def awaited() -> set[str]:
    """The overloads whose results' sizes, or whose numbers, PyTorch says that only values tell."""
    by_values = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
    known = (each.replace("::", ".").split(".") for each in torch._C._dispatch_get_all_op_names())
    listed = [(space, name, *(more or ["default"])) for space, name, *more in known if space in NAMESPACES]
    tagged = {".".join(each): getattr(getattr(getattr(torch.ops, each[0]), each[1]), each[2]).tags for each in listed}
    return {name for name, tags in tagged.items() if by_values.intersection(tags)}


def test_rows_tell_what_the_host_waits_for():
    """A CUDA graph would take what the first call's values said for that of all calls, or refuse what it can replay."""
    said = {f"aten.{row.name.partition('.')[0]}.{overload}" for row in OPS for overload in row.awaited}
    assert said == awaited()
    assert all(map(is_awaited, said))
    assert not is_awaited("mine.nonzero.default")


def test_a_custom_op_has_no_row():
    """Would catch a custom op that is merged, or drawn into a region, since it is called as one of ATen's."""
    assert kind_of_name("mine.exp.default") is Kind.UNKNOWN
    assert kind_of_name("prims.iota.default") is Kind.CREATION


def _sample(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors that the op `name` takes, with NaN, infinities and zeros where it takes floating-point numbers."""
    if name.startswith("bitwise"):
        return torch.tensor([0, 1, -1, 7, 2**31, -5]), torch.tensor([3, -2, 0, 7, 9, 11])
    special = [0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e-40, 3e38, 0.1]
    pairs = torch.cartesian_prod(torch.tensor(special), torch.tensor(special))
    return pairs[:, 0].contiguous(), pairs[:, 1].contiguous()


@pytest.mark.parametrize("row", [row for row in OPS if row.is_commutative], ids=lambda row: row.name)
def test_commutative_ops_commute(row):
    """Would catch f(a, b) merged with f(b, a) though they differ in a bit."""
    left, right = _sample(row.name)
    function = getattr(torch.ops.aten, row.name)
    torch.testing.assert_close(function(left, right), function(right, left), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("row", [row for row in OPS if row.is_identity], ids=lambda row: row.name)
def test_identities_give_their_operand(row):
    """Would catch an op that is dropped as a copy though it changes something."""
    value = torch.rand(3, 4)
    assert torch.equal(getattr(torch.ops.aten, row.name)(value), value)


@pytest.mark.parametrize("row", [row for row in OPS if row.fills_with is not None], ids=lambda row: row.name)
def test_fills_with(row):
    """Would catch ones that are taken for zeros."""
    made = {"new_": lambda f: f(torch.rand(2), [3]), "_like": lambda f: f(torch.rand(3)), "": lambda f: f([3])}
    call = next(make for part, make in made.items() if part in row.name)
    assert torch.equal(call(getattr(torch.ops.aten, row.name)), torch.full((3,), float(row.fills_with)))


@pytest.mark.parametrize("row", [row for row in OPS if row.fills_at is not None], ids=lambda row: row.name)
def test_fills_at_a_number(row):
    """Would catch a fill whose number is read from another operand."""
    packet = getattr(torch.ops.aten, row.name)
    overload = getattr(packet, "Scalar" if "Scalar" in packet.overloads() else "default")
    assert str(overload._schema.arguments[row.fills_at].type) == "number"


def test_nothing_is_claimed_of_what_has_no_row():
    """Would catch a field whose default claims something."""
    row = row_of_name("aten.never_heard_of.default")
    assert row == Row("")
    assert row == row_of_name("mine.add.Tensor")


@pytest.mark.parametrize("name", names(row for row in OPS if row.reduces_at is not None))
def test_reduced_dimensions_are_where_the_row_says(name: str):
    """The order of a norm was taken for the dimension that it reduces: the place differs from op to op."""
    position = row_of_name(f"aten.{name}").reduces_at
    for overload in overloads(name):
        arguments = [argument.name for argument in overload._schema.arguments if not argument.is_out]
        named = [index for index, each in enumerate(arguments) if each in ("dim", "dims")]
        assert named in ([], [position]), overload


@pytest.mark.parametrize("row", [row for row in OPS if row.writes_in_training], ids=lambda row: row.name)
def test_unmarked_writes_are_of_arguments(row: Row):
    """Catches a name that is no argument's, or a write that PyTorch's schema tells by now: it would be noted twice."""
    written = {each.name: each.is_write for each in getattr(torch.ops.aten, row.name).default._schema.arguments}
    assert "training" in written
    assert not any(written[name] for name in row.writes_in_training)


@pytest.mark.parametrize("name", ["expand", "unfold"])
def test_views_that_overlap(name: str):
    """Catches a view that shows an element twice and is taken for one that does not: a write to it would be traced."""
    arguments = {"expand": ([3, 2],), "unfold": (0, 2, 1)}[name]
    shown = getattr(torch.ops.aten, name)(torch.arange(2.0) if name == "expand" else torch.arange(4.0), *arguments)
    assert row_of_name(f"aten.{name}.default").overlaps
    assert len(shown.unique()) < shown.numel()


REDUCTIONS = [row for row in OPS if row.kind is Kind.REDUCTION and row.reduces_at == 1]


@pytest.mark.parametrize("row", REDUCTIONS, ids=lambda row: row.name)
def test_reductions_that_need_elements(row: Row):
    """Would catch a maximum of no elements, for which eager raises, in a region that gives some number for it."""
    function, empty = getattr(torch.ops.aten, row.name), torch.empty(2, 0)
    further = [False] if "softmax" in row.name else []
    if row.needs_elements:
        with pytest.raises(IndexError, match="non-zero size"):
            function(empty, 1, *further)
    else:
        function(empty, 1, *further)


@pytest.mark.parametrize("row", [row for row in OPS if row.format_at is not None], ids=lambda row: row.name)
def test_memory_formats_are_where_the_row_says(row: Row):
    """Would catch another operand that is taken for the format in which a copy lies."""
    for overload in overloads(row.name):
        arguments = [argument.name for argument in overload._schema.arguments if not argument.is_out]
        assert arguments.index("memory_format") == row.format_at, overload


@pytest.mark.parametrize("row", [row for row in OPS if row.joins is not Joins.NOT], ids=lambda row: row.name)
def test_joins(row: Row):
    """Would catch a stack that is taken for a concatenation: its result has other dimensions."""
    joined = getattr(torch.ops.aten, row.name)([torch.ones(2, 3), torch.zeros(2, 3)], 1)
    assert joined.shape == ((2, 6) if row.joins is Joins.ALONG else (2, 2, 3))
    assert joined.flatten()[0] == 1
    assert joined.flatten()[3] == 0
