"""The compiler, as a page: every step from the captured graph to what runs, in order."""

from collections.abc import Callable

from dovetail.passes.base import Pass
from dovetail.passes.drop_redundant_copies import DropRedundantCopiesPass
from dovetail.passes.inline_regions import InlineRegionsPass
from dovetail.passes.lower_regions import LowerRegionsPass
from dovetail.passes.merge_equal_values import MergeEqualValuesPass
from dovetail.passes.mlir import MlirPass
from dovetail.passes.outline_regions import OutlineRegionsPass
from dovetail.passes.partition import PartitionPass
from dovetail.passes.place_ops import PlaceOpsPass
from dovetail.passes.plan_epilogue import PlanEpiloguePass
from dovetail.passes.prove_in_place import ProveInPlacePass
from dovetail.passes.verify_level import VerifyLevelPass

Pipeline = tuple[Pass | MlirPass, ...]


def compile_pipeline(partition: str = "min-cut") -> Pipeline:
    """From level `joint` to level `regions`; `partition` is the algorithm of the pass of that name."""
    return (
        VerifyLevelPass("joint"),
        # Copies first: two ops on a tensor and on its copy are equal only once the copy is gone.
        DropRedundantCopiesPass(),
        MergeEqualValuesPass(),
        PartitionPass(partition),
        VerifyLevelPass("split"),
        # After the cut, which decides what is shared; before placement, since its copies are ops like any other.
        PlanEpiloguePass(),
        PlaceOpsPass(),
        OutlineRegionsPass(),
        VerifyLevelPass("program"),
        LowerRegionsPass(),
        # Last: who reads an argument's memory, and when, is decided by then.
        ProveInPlacePass(),
        VerifyLevelPass("regions"),
    )


def fallback_pipeline(regions: list[str], reason: str) -> Pipeline:
    """What to run when IREE did not compile `regions`."""
    return (InlineRegionsPass("+".join(regions), reason), VerifyLevelPass("regions"))


# What `dovetail-opt --pass-pipeline` knows by name.
PIPELINES: dict[str, Callable[..., Pipeline]] = {"compile": compile_pipeline}
