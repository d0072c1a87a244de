"""The compiler, as a page: every step from the captured graph to what runs, in order."""

from collections.abc import Callable

from dovetail.errors import OptionError
from dovetail.passes.base import Pass
from dovetail.passes.border.state_border import StateBorderPass
from dovetail.passes.border.state_recordable import StateRecordablePass
from dovetail.passes.border.state_replay import StateReplayPass
from dovetail.passes.cleanup.compose_views import ComposeViewsPass
from dovetail.passes.cleanup.drop_redundant_copies import DropRedundantCopiesPass
from dovetail.passes.cleanup.eliminate_dead_writes import EliminateDeadWritesPass
from dovetail.passes.cleanup.fold_concatenations import FoldConcatenationsPass
from dovetail.passes.cleanup.fold_constants import FoldConstantsPass
from dovetail.passes.cleanup.fold_indices import FoldIndicesPass
from dovetail.passes.cleanup.fold_one_hot_sums import FoldOneHotSumsPass
from dovetail.passes.cleanup.fold_row_sums import FoldRowSumsPass
from dovetail.passes.cleanup.fold_scatters import FoldScattersPass
from dovetail.passes.cleanup.forward_stores import ForwardStoresPass
from dovetail.passes.cleanup.join_products import JoinProductsPass
from dovetail.passes.cleanup.merge_equal_values import MergeEqualValuesPass
from dovetail.passes.cleanup.pad_products import PadProductsPass
from dovetail.passes.cleanup.simplify_algebra import SimplifyAlgebraPass
from dovetail.passes.cleanup.sink_expansions import SinkExpansionsPass
from dovetail.passes.cleanup.unify_sums import UnifySumsPass
from dovetail.passes.exactness.pin_compared_values import PinComparedValuesPass
from dovetail.passes.exactness.verify_comparisons import VerifyComparisonsPass
from dovetail.passes.in_place.prove_in_place import ProveInPlacePass
from dovetail.passes.in_place.state_updates import StateUpdatesPass
from dovetail.passes.launches.verify_launches import VerifyLaunchesPass
from dovetail.passes.layouts.lay_out_arguments import LayOutArgumentsPass
from dovetail.passes.layouts.lay_out_attention import LayOutAttentionPass
from dovetail.passes.layouts.lay_out_convolutions import LayOutConvolutionsPass
from dovetail.passes.layouts.lay_out_operands import LayOutOperandsPass
from dovetail.passes.layouts.lay_out_results import LayOutResultsPass
from dovetail.passes.layouts.lay_out_stated import LayOutStatedPass
from dovetail.passes.layouts.turn_earlier import TurnEarlierPass
from dovetail.passes.levels.verify_level import VerifyLevelPass
from dovetail.passes.memory.keep_apart import KeepApartPass
from dovetail.passes.memory.plan_memory import PlanMemoryPass
from dovetail.passes.memory.verify_memory import VerifyMemoryPass
from dovetail.passes.partition.partition import PartitionPass
from dovetail.passes.partition.save_in_branches import SaveInBranchesPass
from dovetail.passes.placement.batch_library_calls import BatchLibraryCallsPass
from dovetail.passes.placement.call_small_regions import CallSmallRegionsPass
from dovetail.passes.placement.issue_late import IssueLatePass
from dovetail.passes.placement.outline_regions import OutlineRegionsPass
from dovetail.passes.placement.pass_numbers import PassNumbersPass
from dovetail.passes.placement.place_ops import PlaceOpsPass
from dovetail.passes.placement.plan_epilogue import PlanEpiloguePass
from dovetail.passes.placement.repeat_in_regions import RepeatInRegionsPass
from dovetail.passes.placement.sink_gathers import SinkGathersPass
from dovetail.passes.regions.choose_drivers import ChooseDriversPass
from dovetail.passes.regions.choose_variant import ChooseVariantPass
from dovetail.passes.regions.cut_into_blocks import CutIntoBlocksPass
from dovetail.passes.regions.inline_regions import InlineRegionsPass
from dovetail.passes.regions.keep_nan_tests import KeepNanTestsPass
from dovetail.passes.regions.keep_scalars import KeepScalarsPass
from dovetail.passes.regions.limit_regions import LimitRegionsPass
from dovetail.passes.regions.lower_regions import LowerRegionsPass
from dovetail.passes.regions.pair_rows import PairRowsPass
from dovetail.passes.regions.raise_slices import RaiseSlicesPass
from dovetail.passes.regions.select_parts import SelectPartsPass
from dovetail.passes.regions.split_reductions import SplitReductionsPass
from dovetail.passes.regions.split_region import SplitRegionPass
from dovetail.passes.regions.split_softmax import SplitSoftmaxPass
from dovetail.passes.regions.write_joined import WriteJoinedPass
from dovetail.passes.regions.write_scattered import WriteScatteredPass
from dovetail.passes.running.mlir import MlirPass

Pipeline = tuple[Pass | MlirPass, ...]


def compile_pipeline(partition: str = "min-cut", memory_budget: float | str = 1.0) -> Pipeline:
    """From level `joint` to level `regions`; both options are the pass `partition`'s, its algorithm and its budget."""
    return (*regions_pipeline(partition, memory_budget), *AROUND_REGIONS)


def regions_pipeline(partition: str = "min-cut", memory_budget: float | str = 1.0) -> Pipeline:
    """The passes of `compile_pipeline` up to where its regions are as they will be compiled."""
    split = PartitionPass.parse({"algorithm": partition, "memory-budget": str(memory_budget)})
    return (
        VerifyLevelPass("joint"),
        # Copies first: two ops on a tensor and on its copy are equal only once the copy is gone. Most ops are equal
        # constants, which the passes below need not walk over then; what those look up is one op.
        DropRedundantCopiesPass(),
        MergeEqualValuesPass(),
        ForwardStoresPass(),
        # Views before what looks through one of them; constants before the algebra of ones and zeros.
        ComposeViewsPass(),
        FoldConcatenationsPass(),
        FoldScattersPass(),
        FoldConstantsPass(),
        SimplifyAlgebraPass(),
        # After the algebra, which drops what is added to indices for nothing.
        FoldIndicesPass(),
        # Before the cut, for which a sum of many numbers is more to save or to compute again than what it adds up.
        FoldOneHotSumsPass(),
        # Before the cut, which would save for the backward what is expanded.
        SinkExpansionsPass(),
        # Before values are merged and pinned; sums are equal later, when long ones are split.
        UnifySumsPass(),
        # After all that may show that a written value is the one that was there.
        EliminateDeadWritesPass(),
        # Drops what nothing uses any more, and merges what the passes above built.
        MergeEqualValuesPass(),
        # Before all that computes values again, or in regions.
        PinComparedValuesPass(),
        SinkGathersPass(),
        # After all that looks for sums and gathers, which are of other rows then.
        PadProductsPass(),
        # After whatever makes one value of two, before the cut, which saves what is joined.
        JoinProductsPass(),
        FoldRowSumsPass(),
        # After whatever looks for permutations and copies; before the cut, which saves images as they lie.
        LayOutConvolutionsPass(),
        LayOutAttentionPass(),
        # Behind both, whose permutations stand where libraries take and give tensors.
        TurnEarlierPass(),
        # After whatever turns what libraries take; before the cut, which saves what both halves take as it is laid out.
        LayOutStatedPass(),
        # A budget would rather have branches compute again.
        *((SaveInBranchesPass(),) if split.memory_budget == 1 else ()),
        split,
        VerifyLevelPass("split"),
        VerifyComparisonsPass(),
        # After the cut, which decides what else uses a result.
        LayOutResultsPass(),
        LayOutOperandsPass(),
        # After the cut, which decides what is shared; before placement, since its copies are ops like any other.
        PlanEpiloguePass(),
        # After it, since a copy of an argument is as much a region's work as what computes.
        LayOutArgumentsPass(),
        # After it, since of what the user got a copy of nothing need be checked; before regions give memory to views.
        StateBorderPass(),
        PassNumbersPass(),
        PlaceOpsPass(),
        BatchLibraryCallsPass(),
        # After it, since the calls that are left stand between regions.
        RepeatInRegionsPass(),
        OutlineRegionsPass(),
        CallSmallRegionsPass(),
        # After it, which makes calls of little; before memory is planned by the order of calls.
        IssueLatePass(),
        # Of what stays a region: ATen joins and adds up in its own way.
        SelectPartsPass(),
        # Before it, which cuts sums that are left.
        SplitSoftmaxPass(),
        SplitReductionsPass(),
        # After both, which make slices and what is sliced.
        RaiseSlicesPass(),
        KeepScalarsPass(),
        # After all that may show two operands to be one value.
        KeepNanTestsPass(),
        VerifyLevelPass("program"),
        VerifyComparisonsPass(),
        LowerRegionsPass(),
        # Last: who reads an argument's memory, and when, is decided by then.
        ProveInPlacePass(),
        # After it, since it makes regions too.
        LimitRegionsPass(),
        # After it, since what it takes apart it gives to ATen.
        WriteJoinedPass(),
        WriteScatteredPass(),
        # After whatever makes a region.
        CutIntoBlocksPass(),
        PairRowsPass(),
        ChooseDriversPass(),
    )


AROUND_REGIONS: Pipeline = (
    # After whatever makes a region or a library call: it decides who uses memory, and until when.
    PlanMemoryPass(),
    VerifyMemoryPass(),
    # After whatever makes memory.
    StateUpdatesPass(),
    # Of the functions as they run: what they compute hangs on less than what was traced.
    StateReplayPass(),
    # After whatever makes a library call, or memory that is updated in place.
    StateRecordablePass(),
    VerifyLevelPass("regions"),
)
"""The rest of `compile_pipeline`, which leaves the regions as they are: they are compiled meanwhile."""

_AFTER_CHANGES = (
    PlanMemoryPass(),
    VerifyMemoryPass(),
    StateUpdatesPass(),
    StateRecordablePass(),
    VerifyLevelPass("regions"),
)


def fallback_pipeline(regions: list[str], reason: str) -> Pipeline:
    """What to run when IREE did not compile `regions`."""
    inline = InlineRegionsPass("+".join(regions), reason)
    return (inline, *_AFTER_CHANGES)


def split_pipeline(region: str) -> Pipeline:
    """What to try first when IREE did not compile `region`."""
    return (SplitRegionPass(region), ChooseDriversPass(), *_AFTER_CHANGES)


def apart_pipeline(regions: list[str], reason: str) -> Pipeline:
    """What to run when plans of `regions` do not show that results may lie where operands die."""
    return (KeepApartPass("+".join(regions), reason), *_AFTER_CHANGES)


def library_pipeline(regions: list[str], reason: str) -> Pipeline:
    """What to run when library calls were measured to be faster than `regions`."""
    inline = InlineRegionsPass("+".join(regions), reason, fallback=False)
    return (inline, *_AFTER_CHANGES)


def chosen_pipeline(regions: list[str], measured: str, variant: str = "", driver: str = "") -> Pipeline:
    """What to run when a way to compile and run `regions` was measured to be the fastest; none: as it would be."""
    return (ChooseVariantPass("+".join(regions), variant, driver, measured), VerifyLevelPass("regions"))


def launch_pipeline() -> Pipeline:
    """What to run when plans were imported to a module at level `regions`, all of which was verified as that."""
    return (VerifyLaunchesPass(),)


def until(pipeline: Pipeline, level: str) -> Pipeline:
    """`pipeline` up to the pass that verifies `level`; raises OptionError if it has none."""
    return pipeline[: _position(pipeline, level) + 1]


def since(pipeline: Pipeline, level: str) -> Pipeline:
    """`pipeline` from the pass that verifies `level`; raises OptionError if it has none."""
    return pipeline[_position(pipeline, level) :]


def _position(pipeline: Pipeline, level: str) -> int:
    verifies = VerifyLevelPass(level)
    if verifies not in pipeline:
        raise OptionError(f"the pipeline has no '{verifies}', where level '{level}' is reached")
    return pipeline.index(verifies)


# What `dovetail-opt --pass-pipeline` knows by name.
PIPELINES: dict[str, Callable[..., Pipeline]] = {"compile": compile_pipeline}
