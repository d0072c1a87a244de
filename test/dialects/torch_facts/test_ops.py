"""The table of kinds against PyTorch's own tags and schemas: what each row claims."""

from collections.abc import Iterable

import pytest
import torch

from dovetail.dialects.torch_facts.ops import (
    CREATION,
    LIBRARY,
    MOVEMENT,
    POINTWISE,
    REDUCTIONS,
    VIEWS,
    Kind,
    kind_of_name,
)
from dovetail.frontend.to_ir.node_importer import has_effect

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
# Fresh memory only where their operand needs a conversion: `result_memory` says so.
FORWARDING = {"contiguous", "to"}
# Ops of another namespace, which the tables name too.
NOT_ATEN = {"convert_element_type", "iota"}


def overloads(name: str) -> list[torch._ops.OpOverload]:
    """The overloads on tensors; TorchScript's own, on numbers and lists, have no dispatcher entry."""
    packet = getattr(torch.ops.aten, name)
    qualified = {each: f"aten::{name}" + f".{each}" * (each != "default") for each in packet.overloads()}
    return [getattr(packet, each) for each, full in qualified.items() if torch._C._dispatch_has_kernel(full)]


def kind(overload: torch._ops.OpOverload) -> Kind:
    return kind_of_name(f"aten.{overload._opname}.{overload._overloadname}")


EVERY = sorted((POINTWISE | REDUCTIONS | MOVEMENT | CREATION | VIEWS | set(LIBRARY)) - NOT_ATEN)


def test_every_name_is_an_aten_op():
    """A misspelt name would never match, and its op would silently run as a fallback."""
    assert [name for name in EVERY if not hasattr(torch.ops.aten, name)] == []


def test_no_name_has_two_kinds():
    """The first table would win, whatever the second says."""
    tables = [POINTWISE, REDUCTIONS, MOVEMENT, CREATION, VIEWS, frozenset(LIBRARY)]
    assert sum(map(len, tables)) == len(frozenset().union(*tables))


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


@pytest.mark.parametrize("name", sorted(VIEWS - {"_unsafe_view", "chunk", "reshape", "contiguous"}))
def test_views_alias(name):
    """An op that copies, if called a view, would be free in the accounting and replayed on its input."""
    found = [overload for overload in overloads(name) if not overload._schema.is_mutable]
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
    assert all(has_effect(overload) for overload in overloads(name))


@pytest.mark.parametrize("name", sorted(set(EVERY) - VIEWS - FORWARDING))
def test_results_are_in_fresh_memory(name):
    """The memory plan would free, or give to another value, what an operand lies in."""
    functional = [overload for overload in overloads(name) if not overload._schema.is_mutable]
    aliased = [each for each in functional if any(result.alias_info is not None for result in each._schema.returns)]
    assert [each for each in aliased if kind(each) is not Kind.UNKNOWN] == []


def test_a_custom_op_has_no_row():
    """Would catch a custom op that is merged, or drawn into a region, since it is called as one of ATen's."""
    assert kind_of_name("mine.exp.default") is Kind.UNKNOWN
    assert kind_of_name("prims.iota.default") is Kind.CREATION
