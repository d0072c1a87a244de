"""Models train on batches of any size and length by one program; twenty sizes of four models take a command."""

from dataclasses import replace
from functools import partial

import pytest

from dovetail.tools.demo.tasks import GPT2, RESNET, Sizes, Task, gpt2, resnet
from dovetail.tools.demo.varied_sizes import main, train

ONE_LAYER = replace(GPT2, model=partial(gpt2, Sizes(layers=1)))
ONE_STAGE = replace(RESNET, model=partial(resnet, (16,)))


@pytest.mark.parametrize("task", [ONE_LAYER, ONE_STAGE], ids=lambda task: task.name)
def test_one_program_trains_on_all_sizes(op_by_op, task: Task) -> None:
    """Each batch size or length has a program of its own, or its losses or gradients are those of another one."""
    outcome = train(task, 3)
    assert outcome.wrong == []
    assert outcome.reasons == []
    assert outcome.is_right


def test_unknown_model_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt model that trains nothing and passes."""
    with pytest.raises(SystemExit):
        main(["gpt3"])
    assert "no model gpt3, expected some of gpt2, bert, llama, resnet" in capsys.readouterr().err
