"""Reads a guard declaration: what the check before a call compares."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import APART, GROUP, MUTATED, NAME, OBJECT, OFFSET, ROOT, START, TRACKED
from dovetail.dialects.by_key import by_key
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import argument_facts, symbol
from dovetail.dialects.statements.stated import stated, stated_by
from dovetail.runtime.checks.guard import Guard, Member, extent


def read_guard(declared: func.FuncOp) -> Guard:
    """Reads a guard declaration; raises ModuleError if an argument does not say what guards do, naming it."""
    facts = argument_facts(declared)

    def fact(index: int, name: str, kind: type = ir.IntegerAttr) -> Any:
        position = f"{declared.location}: argument {index} of '@{symbol(declared)}'"
        return stated_by(position, facts[index], name, kind)

    names = tuple(fact(index, NAME, ir.StringAttr) for index in range(len(facts)))
    extents = tuple(_extent(RefType(type_)) for type_ in declared.type.inputs)
    members = [index for index, each in enumerate(facts) if GROUP in each]
    groups = by_key(
        (fact(index, GROUP), Member(index, *(fact(index, name) for name in (START, ROOT, OBJECT)))) for index in members
    )
    offsets = tuple((index, fact(index, OFFSET)) for index, each in enumerate(facts) if OFFSET in each)
    joined = tuple(tuple(members) for members in groups.values())
    tracked = tuple(index for index, each in enumerate(facts) if TRACKED in each)
    apart = tuple((index, fact(index, APART)) for index, each in enumerate(facts) if APART in each)
    return Guard(names, extents, stated(declared, MUTATED, ir.IntegerAttr), joined, offsets, tracked, apart)


def _extent(type_: RefType) -> int | None:
    """Bytes from a tensor's first element to the end of its last, None where these are open."""
    sizes = [*type_.shaped.shape, *type_.strides]
    known = [size for size in sizes if size is not None]
    if len(known) < len(sizes):
        return None
    rank = len(type_.strides)
    return extent(known[:rank], known[rank:], type_.shaped.itemsize)
