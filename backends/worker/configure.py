"""Says how kernels are tiled, in a text of IREE's phase `executable-configurations`: where a form of ours fits."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from iree.compiler import ir

from dovetail.backends.worker.columns import columns, wide_columns
from dovetail.backends.worker.configurations import pointwise, rows
from dovetail.backends.worker.executables import name_in_code
from dovetail.backends.worker.lanes_of_reductions import check_lanes
from dovetail.backends.worker.loops import Loops
from dovetail.backends.worker.math_functions import mark
from dovetail.backends.worker.read_loops import read_loops, width_of
from dovetail.backends.worker.scaled_terms import part_from_sums
from dovetail.backends.worker.split_gathers import split_gathers
from dovetail.backends.worker.tilings import LANES, Configuration
from dovetail.backends.worker.transposed import transposed
from dovetail.backends.worker.turned import turned
from dovetail.backends.worker.walk import editing, kernels, walk

_CONFIG, _TRANSLATION = "lowering_config", "translation_info"


def configure(text: bytes, plain: Mapping[str, str]) -> tuple[dict[str, str], bytes]:
    """Which form each kernel got, by its name in code, or why it keeps IREE's tiles; and the text with them.

    Those of `plain` keep them, for the reasons given.

    Raises:
        ValueError: where tiles that IREE keeps are wrong, as `check_lanes` does.
    """
    with editing(), ir.Location.unknown():
        module = ir.Module.parse(text)
        found: dict[str, str] = {}
        for kernel in kernels(module, "func.func"):
            mark(kernel)
            part_from_sums(kernel)
            name = name_in_code(ir.StringAttr(kernel.attributes["sym_name"]).value)
            found[name] = f"IREE's tiles: {plain[name]}" if name in plain else _configure(kernel)
            check_lanes(kernel)
        return found, str(module).encode()


@dataclass(frozen=True)
class _Nest:
    """An op that computes, with its loops; `is_tiled` by IREE."""

    op: ir.Operation
    loops: Loops
    is_tiled: bool


def _configure(kernel: ir.Operation) -> str:
    tiled = [op for op in walk(kernel) if _CONFIG in op.attributes]
    if _TRANSLATION not in kernel.attributes or not tiled:
        return "IREE tiles nothing there"
    if any("promote_operands" in str(op.attributes[_CONFIG]) for op in tiled):
        return _transposed(tiled)
    if any("iterator_types" not in op.attributes and op.name != "linalg.fill" for op in tiled):
        return "IREE's tiles: of what is no loop"
    computing = [op for op in walk(kernel) if "iterator_types" in op.attributes]
    found = [read_loops(op, takes_open=True) for op in computing]
    nests = [_Nest(op, loops, _CONFIG in op.attributes) for op, loops in zip(computing, found, strict=True) if loops]
    if len(nests) != len(computing):
        return "IREE's tiles: not all loops are plain"
    reductions = [nest for nest in nests if nest.loops.reduces]
    if not reductions:
        return _pointwise(kernel, [nest for nest in nests if nest.is_tiled])
    if not any(nest.loops.reduces_rows for nest in reductions) and _follow_one_another(reductions):
        return _columns(kernel, nests, reductions)
    if len(nests) > 1 and any(len(nest.op.results) != 1 for nest in reductions):
        return "IREE's tiles: a reduction of several results"
    if all(nest.loops.reduces_rows for nest in reductions):
        return _rows(kernel, nests, reductions)
    return "IREE's tiles: rows and columns in one kernel"


def _transposed(tiled: list[ir.Operation]) -> str:
    loops = read_loops(tiled[-1]) if len(tiled) == 1 else None
    stated = None if loops is None else transposed(loops, str(tiled[-1].attributes[_CONFIG]))
    if stated is None:
        return "IREE's tiles, through shared memory"
    tiled[-1].attributes[_CONFIG] = ir.Attribute.parse(stated)
    return "transposed"


def _pointwise(kernel: ir.Operation, tiled: list[_Nest]) -> str:
    last = tiled[-1]
    if any(nest.loops.extents != last.loops.extents for nest in tiled):
        return "IREE's tiles: loops of several extents"
    if "TileAndFuse" not in str(kernel.attributes[_TRANSLATION]):
        return "IREE's tiles: another pipeline"
    if split := split_gathers(kernel):
        last = _Nest(*split, is_tiled=True)
        tiled = [last]
    widest = replace(last.loops, bits=max(nest.loops.bits for nest in tiled))
    if tiles := turned(widest):
        return _set(kernel, "turned", tiles, tiled, last)
    return _set(kernel, "pointwise", pointwise(widest), tiled, last)


def _rows(kernel: ir.Operation, nests: list[_Nest], reductions: list[_Nest]) -> str:
    root = reductions[-1]
    if any(nest.loops.extents != root.loops.extents for nest in reductions):
        return "IREE's tiles: rows of several lengths"
    whole = [nest for nest in nests if nest.loops.extents == root.loops.extents]
    # What is computed of single numbers behind them, one thread computes, whether IREE tiles it or not.
    ends = [nest for nest in nests if nest.is_tiled and not nest.loops.reduces and nest.loops.extents] or whole[-1:]
    # What a kernel stores along the way, too: each thread would compute and store all of a row that has no tiles.
    stored = [nest for nest in whole if any("store" in use.owner.name for each in nest.op.results for use in each.uses)]
    ends += [nest for nest in stored if nest not in ends]
    # Where the end of a row is masked, also what several loops read: each thread would hold all of it as one vector.
    ends += [nest for nest in whole if root.loops.extents[-1] % LANES and nest not in ends]
    ends = [nest for nest in ends if not nest.loops.reduces]
    if any(nest.loops.extents != root.loops.extents for nest in ends):
        return "IREE's tiles: what follows the rows has other loops"
    widest = replace(root.loops, bits=_moved(whole), written=max(nest.loops.written for nest in whole))
    return _set(kernel, "rows", rows(widest), [*reductions, *ends], root)


def _moved(nests: list[_Nest]) -> int:
    """Bits of the widest number that memory holds for each iteration of the loops of `nests`, which all have."""
    computed = {value for nest in nests for value in nest.op.results}
    read = [
        value for nest in nests for value in list(nest.op.operands)[: -len(nest.op.results)] if value not in computed
    ]
    stored = [value for value in computed if any("store" in use.owner.name for use in value.uses)]
    types = [value.type for value in [*read, *stored] if isinstance(value.type, ir.RankedTensorType)]
    whole = [width_of(each.element_type) for each in types if each.rank == len(nests[0].loops.extents)]
    return max(whole, default=nests[0].loops.bits)


def _columns(kernel: ir.Operation, nests: list[_Nest], reductions: list[_Nest]) -> str:
    others = [nest for nest in nests if nest not in reductions]
    if not all(any(_follows(nest, sums) for sums in reductions) for nest in others):
        return "IREE's tiles: columns, and what does not only take their sums"
    root, forms = reductions[-1], [columns(nest.loops) for nest in reductions]
    if len(reductions) == len(root.op.results) == 1:
        forms = [wide_columns(replace(root.loops, bits=_moved([root]))) or forms[0]]
    found = [form for form in forms if form is not None]
    said = _set(kernel, "columns", found[-1] if len(found) == len(forms) else None, [root], root)
    if said == "columns":
        for nest, form in zip(reductions[:-1], found, strict=False):
            nest.op.attributes[_CONFIG] = ir.Attribute.parse(form.of(nest.loops, False))
    return said


def _follow_one_another(reductions: list[_Nest]) -> bool:
    """Whether all are of as many columns, also of other lengths, and each but the last is taken by a later one.

    What takes sums goes along them one by one, in order.
    """
    first = reductions[0].loops
    if any(_kept(nest.loops) != _kept(first) or nest.loops.inner != first.inner for nest in reductions):
        return False
    for index, sums in enumerate(reductions[:-1]):
        along = [number for number, _ in _kept(sums.loops)]
        taken = [given for nest in reductions[index + 1 :] for given in _taken(nest, sums)]
        dims = [[ir.AffineDimExpr(each).position for each in given.value.results] for given in taken]
        if not taken or any(each != along for each in dims):
            return False
    return True


def _taken(nest: _Nest, sums: _Nest) -> list[ir.Attribute]:
    """The maps by which `nest` takes what `sums` gives."""
    maps = zip(nest.op.operands, nest.op.attributes["indexing_maps"], strict=True)
    return [given for value, given in maps if value in list(sums.op.results)]


def _kept(loops: Loops) -> tuple[tuple[int, int], ...]:
    """The loops that reduce nothing, by number, and how far each runs."""
    return tuple((n, extent) for n, extent in enumerate(loops.extents) if not loops.reduced[n])


def _follows(nest: _Nest, sums: _Nest) -> bool:
    """Whether `nest` goes along the sums of `sums`, one by one and in their order, as where these are rounded."""
    last, taken = list(nest.op.attributes["indexing_maps"])[-1], _taken(nest, sums)
    is_along = nest.loops.extents == tuple(extent for _, extent in _kept(sums.loops))
    return is_along and bool(taken) and all(given == last for given in taken)


def _set(kernel: ir.Operation, form: str, found: Configuration | None, nests: list[_Nest], root: _Nest) -> str:
    if found is None:
        return f"IREE's tiles: {form} of these sizes have no form"
    for op in walk(kernel):
        if _CONFIG in op.attributes:
            del op.attributes[_CONFIG]
    for nest in nests:
        nest.op.attributes[_CONFIG] = ir.Attribute.parse(found.of(nest.loops, nest is root))
    kernel.attributes[_TRANSLATION] = ir.Attribute.parse(found.translation())
    return form
