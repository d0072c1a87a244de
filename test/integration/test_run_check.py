"""Whole models run the same before and after every pass."""

from dataclasses import replace

import pytest
import torch
from partition_models import MODELS, Lstm, Model, VisionTransformer, joint_graph

from dovetail.dialects.context import make_context
from dovetail.frontend.to_ir.importer import import_capture
from dovetail.passes.pipeline import compile_pipeline
from dovetail.passes.running.runner import Runner
from dovetail.tools.demo.tasks import ALL_TASKS
from dovetail.tools.opt.run_check import RunCheck

# Fewer of equal layers and steps, of which one follows another all the same.
SHORTER = {
    "vision transformer": lambda: (VisionTransformer(layers=1), (torch.randn(4, 3, 32, 32), torch.arange(4))),
    "LSTM": lambda: (Lstm().bfloat16(), (torch.randn(3, 8, 64, dtype=torch.bfloat16), torch.arange(8))),
}

# Those that test_demo_models.py does not train.
UNTRAINED = [model for model in MODELS if model.name not in {task.title.partition(" on ")[0] for task in ALL_TASKS}]


@pytest.mark.parametrize("model", UNTRAINED, ids=lambda model: model.name)
def test_no_pass_changes_a_model(model: Model) -> None:
    """Catches a pass that is right on small modules and wrong on the combinations that a model has.

    In float64, since random weights are far from trained ones: other memory layouts alone change float32 gradients.
    """
    shorter = replace(model, build=SHORTER.get(model.name, model.build))
    module = import_capture(joint_graph(shorter, torch.float64), make_context())
    ran = []
    check = RunCheck(module, runs=1)

    def compare(each, changed) -> None:
        ran.append(str(each))
        check.compare(each, changed)

    Runner(after=compare).run(compile_pipeline(), module)
    assert len(ran) == len(compile_pipeline())
