"""Tiles of IREE's own by which a reduction loses parts, silently: such a kernel must not run."""

from iree.compiler import ir
from iree.compiler.dialects import iree_gpu

from dovetail.backends.worker.walk import editing, kernels, walk


def check(text: bytes) -> bytes:
    """`text`, of IREE's phase `executable-configurations`, as it is.

    Raises:
        ValueError: where one of its kernels is wrong, as `check_lanes` does.
    """
    with editing(), ir.Location.unknown():
        module = ir.Module.parse(text)  # which ends with its name, and its ops with it
        for kernel in kernels(module, "func.func"):
            check_lanes(kernel)
    return text


def check_lanes(kernel: ir.Operation) -> None:
    """Looks at how `kernel` deals the loops of its reductions to threads.

    Raises:
        ValueError: where fewer lanes than subgroups share a loop. Lanes read back what subgroups found, one each: what
            further subgroups found, none reads.
    """
    for op in walk(kernel):
        if "lowering_config" not in op.attributes or "iterator_types" not in op.attributes:
            continue
        tiles = op.attributes["lowering_config"]
        if not isinstance(tiles, iree_gpu.LoweringConfigAttr) or "lane_basis" not in tiles.attributes:
            continue
        lanes, subgroups = (_by_loop(tiles.attributes[name]) for name in ("lane_basis", "subgroup_basis"))
        for kind, at_once, beside in zip(op.attributes["iterator_types"], lanes, subgroups, strict=True):
            if "reduction" in str(kind) and at_once < beside:
                raise ValueError(f"a reduction would lose parts: {at_once} lanes read what {beside} subgroups reduced")


def _by_loop(basis: ir.Attribute) -> list[int]:
    """Of a basis, counts and each loop's position among them, the count of each loop."""
    counts, positions = ([each.value for each in part] for part in basis)
    return [counts[position] for position in positions]
