"""Parts of a pipeline, cut where it verifies a level."""

from dovetail.errors import OptionError
from dovetail.passes.levels.verify_level import VerifyLevelPass
from dovetail.passes.pipeline import Pipeline


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
