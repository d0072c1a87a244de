"""`python -m dovetail.tools.measure_costs`: its command line; what it measures differs from machine to machine."""

import pytest

from dovetail.tools import measure_costs


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measuring is an error."""

    def measured() -> None:
        raise AssertionError("measured unasked")

    monkeypatch.setattr(measure_costs, "measured", measured)


@pytest.mark.usefixtures("idle")
def test_help_does_not_measure(capsys: pytest.CaptureFixture):
    """Would catch `--help` that takes a minute and prints numbers."""
    with pytest.raises(SystemExit) as ended:
        measure_costs.main(["--help"])
    assert ended.value.code == 0
    assert "goes into COSTS in passes/costs/cost_model.py" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("idle")
def test_wrong_argument_is_told(capsys: pytest.CaptureFixture):
    """Would catch an argument that is ignored."""
    with pytest.raises(SystemExit) as ended:
        measure_costs.main(["--device=cuda"])
    assert ended.value.code == 2
    assert capsys.readouterr().err == (
        "usage: measure_costs [-h]\nmeasure_costs: error: unrecognized arguments: --device=cuda\n"
    )
