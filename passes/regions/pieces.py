"""How `split-region` divides a region's operations in two."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.building.cloning import ancestors
from dovetail.dialects.memory.handed_on import handed_on, stores_after
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import body, operand_ops, producer, users
from dovetail.dialects.torch_facts.in_regions import positions
from dovetail.dialects.torch_facts.names import LOAD, STORE
from dovetail.dialects.torch_facts.ops import Kind, is_constant, kind
from dovetail.dialects.torch_facts.types import is_memory


@dataclass(frozen=True)
class Piece:
    """Operations of a region that become a region of their own.

    Attributes:
        ops: in order, with the views that they read through and without constants, which `clone` brings along.
        operands: what they need from outside: values, of the other piece among them, and then the memory to overwrite.
        crossing: their results that only the other piece needs.
        updated: their results that the other piece takes from the memory that they are stored in, with this memory.
    """

    ops: tuple[ir.Operation, ...]
    operands: tuple[ir.Value, ...]
    crossing: tuple[ir.Value, ...] = ()
    updated: tuple[tuple[ir.Value, ir.Value], ...] = ()


def is_work(op: ir.Operation) -> bool:
    """Whether `op`, in a lowered region, computes something."""
    return op.name not in (LOAD, STORE, "func.return") and kind(op) not in (Kind.CONSTANT, Kind.VIEW)


def work_count(region: func.FuncOp) -> int:
    """How many ops of a lowered region compute something."""
    return sum(map(is_work, body(region)))


def pieces_of(region: func.FuncOp) -> tuple[Piece, Piece] | None:
    """The two pieces of a lowered region, in the order that they must run; None where its work is one."""
    ops = body(region)
    if handed := handed_on(region):
        return _by_updates(ops, handed)
    if any(op.name == LOAD for op in ops):
        return by_stores(ops)
    again = _computing_positions(ops)
    work = [op for op in ops if is_work(op) and op not in again]
    return divided(ops, set(work[: (len(work) + 1) // 2])) if len(work) > 1 else None


def divided(ops: list[ir.Operation], early: set[ir.Operation]) -> tuple[Piece, Piece]:
    """The pieces of a region whose body is `ops`: the work in `early`, which must not need any other, and the rest.

    What the first piece stores, the second takes from there. Positions that it gathers at, each piece computes itself.
    """
    again = _computing_positions(ops)
    first, second = early - again, {op for op in ops if is_work(op)} - early - again
    for store in (op for op in ops if op.name == STORE):
        (second if _computed_by(store) & second else first).add(store)
    stored = dict(tuple(op.operands) for op in ops if op in first and op.name == STORE)
    second_piece = _piece(ops, second, again)
    shared = [value for value in second_piece.operands if producer(value)]
    crossing = tuple(value for value in shared if value not in stored)
    updated = tuple((value, stored[value]) for value in shared if value in stored)
    return replace(_piece(ops, first, again, crossing), updated=updated), second_piece


def by_stores(ops: list[ir.Operation], early: set[ir.Operation] | None = None) -> tuple[Piece, Piece] | None:
    """The pieces that make the results that `early` stores, by default the first half, and the others.

    What both need, both compute.
    """
    stores = [op for op in ops if op.name == STORE]
    early = set(stores[: (len(stores) + 1) // 2]) if early is None else early
    late = [op for op in stores if op not in early]
    return (_piece(ops, ancestors(early)), _piece(ops, ancestors(late))) if early and late else None


def _by_updates(ops: list[ir.Operation], handed: Mapping[ir.Value, ir.Value]) -> tuple[Piece, Piece]:
    """The pieces that update what no other update is needed for, and what is computed from those."""
    stores = [op for op in ops if op.name == STORE]
    updates = {op for op in stores if op.operands[0] in handed}
    late = {after for store in updates for after in stores_after(store)}
    made = {value: memory for value, memory in handed.items() if not late.intersection(users(value))}
    computed = {value.owner.operation for value in made}
    rest = reachable(late, lambda op: (each for each in operand_ops(op) if each not in computed))
    first = _piece(ops, ancestors(op for op in stores if op not in late))
    return replace(first, updated=tuple(made.items())), _piece(ops, rest)


def _computed_by(store: ir.Operation) -> set[ir.Operation]:
    """The work that computes what is stored, through views."""
    met = reachable(operand_ops(store), lambda op: () if is_work(op) else operand_ops(op))
    return {op for op in met if is_work(op)}


def _computing_positions(ops: Sequence[ir.Operation]) -> set[ir.Operation]:
    """The work that computes where gathers read."""
    made = (producer(value) for value in positions(ops))
    return set(filter(is_work, ancestors(op for op in made if op is not None)))


def _piece(
    ops: Iterable[ir.Operation],
    chosen: set[ir.Operation],
    shared: Container[ir.Operation] = (),
    crossing: tuple[ir.Value, ...] = (),
) -> Piece:
    """`chosen`, with what they and `crossing` read through: views, and what is `shared`, are cloned to both sides."""

    def views(op: ir.Operation) -> Iterator[ir.Operation]:
        return (each for each in operand_ops(op) if kind(each) is Kind.VIEW or each in shared)

    crossed = (each for value in crossing for each in views(value.owner.operation))
    inside = reachable([*chosen, *crossed], views)
    ordered = tuple(op for op in ops if op in inside and not is_constant(op))
    produced = {result for op in ordered for result in op.results}
    needed = (value for op in ordered for value in op.operands if value not in produced)
    operands = (value for value in needed if not ((op := producer(value)) and is_constant(op)))
    return Piece(ordered, tuple(sorted(dict.fromkeys(operands), key=is_memory)), crossing)
