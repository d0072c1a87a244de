"""Command line of the demo: `python -m dovetail.tools.demo [--out DIR] [--steps N]`."""

import argparse
import logging
import sys
from importlib.util import find_spec
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

NEEDED = ("transformers", "sklearn", "matplotlib")


def main(arguments: list[str] | None = None) -> int:
    """Runs the demo; 0 where every value is within tolerance and enough ran in IREE regions, else 1."""
    options = _parse(arguments)
    # Imported here, for a clear message where a package is missing and a fast --help.
    from dovetail.tools.demo import experiment, report
    from dovetail.tools.demo.tasks import DEMO_TASKS

    torch._logging.set_logs(dynamo=logging.ERROR)  # Dynamo warns that it doesn't trace AdamW's profiler marks
    # A log has no width of its own, and 80 columns would cut the tables' words.
    console = Console(width=None if sys.stdout.isatty() else 120)
    outcomes = []
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress:
        for task in DEMO_TASKS:
            line = progress.add_task(task.title, total=experiment.progress_count(options.steps))

            def advance(what: str, line: TaskID = line, title: str = task.title) -> None:
                progress.update(line, description=f"{title}: {what}", advance=1)

            outcomes.append(experiment.run(task, options.steps, advance))
            progress.update(line, description=f"{task.title}: done")
            if not console.is_terminal:  # which shows progress only when all is done
                print(f"{task.title}: done", flush=True)

    console.print(report.training_table(outcomes))
    console.print(report.accuracy_table(outcomes))
    picture = options.out / "losses.png"
    report.save_loss_curves(outcomes, picture)
    console.print(f"loss curves: {picture}")
    failures = [failure for outcome in outcomes for failure in outcome.failures()]
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m dovetail.tools.demo",
        description="Trains GPT-2 and ResNet through Dovetail and compares every step with eager.",
    )
    parser.add_argument("--out", type=Path, default=Path("demo-output"), help="folder of the picture (%(default)s)")
    parser.add_argument("--steps", type=int, default=40, help="training steps of each model (%(default)s)")
    options = parser.parse_args(arguments)
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        parser.error(f"package {missing[0]} is missing; it comes with the development extra: pip install dovetail[dev]")
    if options.steps < 1:
        parser.error(f"--steps must be 1 or more, got {options.steps}")
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"--out must name a folder that can be written: {error}")
    return options


if __name__ == "__main__":
    sys.exit(main())
