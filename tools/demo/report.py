"""The demo's output: two tables and a picture."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from rich.table import Table

from dovetail.tools.demo.compare import EAGER_FACTOR, ULPS, Verdict
from dovetail.tools.demo.experiment import Outcome


def training_table(outcomes: Sequence[Outcome]) -> Table:
    """Loss, times and where the work ran; one row a task and compiler."""
    table = Table(title="Training through Dovetail, beside eager and inductor")
    table.add_column("task")
    table.add_column("compiler")
    for heading in ("loss", "step ms", "compile s", "IREE ops", "IREE FLOPs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for outcome in outcomes:
        for name, seconds in outcome.step_seconds.items():
            compile_seconds = outcome.compile_seconds.get(name)
            table.add_row(
                outcome.task.name if name == "eager" else "",
                name,
                _loss(outcome, name),
                f"{seconds * 1e3:.1f}",
                "" if compile_seconds is None else f"{compile_seconds:.1f}",
                f"{outcome.coverage.ops:.1%}" if name == "dovetail" else "",
                f"{outcome.coverage.flops:.1%}" if name == "dovetail" else "",
            )
        table.add_section()
    return table


def accuracy_table(outcomes: Sequence[Outcome]) -> Table:
    """The largest errors to float64 over all steps; one row a task and kind of value."""
    table = Table(
        title="Largest error to the float64 reference, in units of each tensor's largest value",
        caption=f"of allowed: share of {EAGER_FACTOR:g} times eager's error (same tensor, same step) + {ULPS:g} ulp\n"
        "noise: values over that, but within it of eager under random rounding; wrong: over both\n"
        "parameter and moment: eager is the update that Dynamo traced, run by eager (tools/demo/lockstep.py)",
        caption_justify="left",
    )
    table.add_column("task")
    table.add_column("value", no_wrap=True)
    for heading in ("compared", "eager", "dovetail", "of allowed", "noise", "wrong"):
        table.add_column(heading, justify="right")
    for outcome in outcomes:
        kinds = dict.fromkeys(verdict.kind for verdict in outcome.record.verdicts)
        for kind in kinds:
            verdicts = [verdict for verdict in outcome.record.verdicts if verdict.kind == kind]
            table.add_row(outcome.task.name, kind, *_accuracy(verdicts))
        table.add_section()
    return table


def _loss(outcome: Outcome, compiler: str) -> str:
    losses = {"eager": outcome.eager_losses, "dovetail": outcome.record.losses}.get(compiler)
    return f"{losses[0]:.3f} → {losses[-1]:.3f}" if losses else ""


def _accuracy(verdicts: Sequence[Verdict]) -> list[str]:
    scaled = [verdict for verdict in verdicts if verdict.scale]
    wrong = sum(not verdict.ok for verdict in verdicts)
    return [
        str(len(verdicts)),
        f"{max((verdict.eager_error / verdict.scale for verdict in scaled), default=0.0):.1e}",
        f"{max((verdict.error / verdict.scale for verdict in scaled), default=0.0):.1e}",
        f"{max((verdict.error / verdict.allowed for verdict in verdicts if verdict.allowed), default=0.0):.0%}",
        str(sum(verdict.widened for verdict in verdicts)),
        f"[red]{wrong}[/red]" if wrong else "0",
    ]


def save_loss_curves(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draws the losses of the Dovetail run and of eager's own run, one panel a task, as a PNG at `path`."""
    figure = Figure(figsize=(5 * len(outcomes), 4), layout="constrained")
    panels = figure.subplots(1, len(outcomes), squeeze=False)[0]
    for panel, outcome in zip(panels, outcomes, strict=True):
        panel.plot(outcome.eager_losses, label="eager", linewidth=4, alpha=0.4)
        panel.plot(outcome.record.losses, label="dovetail", linewidth=1.5)
        panel.set(title=outcome.task.title, xlabel="step", ylabel="cross-entropy (nats)")
        panel.legend()
    figure.savefig(path, dpi=120)
