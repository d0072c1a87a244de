"""What Dovetail is held to, as ratios to what else a user could run, and how far a recorded run came."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from statistics import geometric_mean, median

from dovetail.tools.bench.figures import DYNAMIC, EAGER, TRACING, Figures

OURS, THEIRS = "dovetail", "inductor"


@dataclass(frozen=True)
class Goal:
    """One row of the table.

    Attributes:
        what: the row's title.
        group: of the cases that it asks.
        against: the fastest of these is what Dovetail is compared with.
        mean: the geometric mean of the ratios must reach this, `worst` the worst of them, if it is asked. Infinity is
            reached by any share: the row says what a backend has no part in.
        figure: the field of `Figures` that is compared.
        is_share: the ratio is Dovetail's part of the other's time or bytes, and less is better; else a speed.
        ours: the compiler that is held to the goal.
    """

    what: str
    group: str
    against: tuple[str, ...]
    mean: float
    worst: float | None = None
    figure: str = "step"
    is_share: bool = False
    ours: str = OURS

    def ratios(self, results: Sequence[Figures]) -> dict[str, float]:
        """By name of the case, of those that were measured."""
        return {
            result.case: self._ratio(getattr(result, self.figure))
            for result in results
            if result.group == self.group and self.ours in getattr(result, self.figure)
        }

    def _ratio(self, samples: dict[str, list[float]]) -> float:
        ours, other = median(samples[self.ours]), min(median(samples[name]) for name in self.against)
        return ours / other if self.is_share else other / ours

    @property
    def asked(self) -> str:
        """The goal in words."""
        if self.mean == inf:
            return "–"
        if self.is_share:
            return f"≤ {self.mean:.2f}"
        return f"≥ {self.mean:.2f}" + (f", none under {self.worst:.2f}" if self.worst is not None else "")

    def found(self, results: Sequence[Figures]) -> str:
        """The mean and the worst case, in bold where the goal is not reached; "–" where nothing was measured."""
        ratios = self.ratios(results)
        if not ratios:
            return "–"
        mean = geometric_mean(ratios.values())
        worst = (max if self.is_share else min)(ratios, key=ratios.__getitem__)
        text = f"{mean:.2f}" + (f" ({worst} {ratios[worst]:.2f})" if len(ratios) > 1 else "")
        return text if self._is_reached(mean, ratios[worst]) else f"**{text}**"

    def _is_reached(self, mean: float, worst: float) -> bool:
        if self.is_share:
            return mean <= self.mean
        return mean >= self.mean and (self.worst is None or worst >= self.worst)


GOALS = (
    Goal("kernels, speed of inductor's", "kernel", (THEIRS,), 1.4, 0.9),
    Goal("AdamW, speed of inductor's", "optimizer", (THEIRS,), 1.0, 1.0),
    Goal("small networks, speed of the faster of eager and inductor", "network", (EAGER, THEIRS), 1.0, 0.95),
    Goal("training steps of models, speed of the faster of eager and inductor", "model", (EAGER, THEIRS), 1.03, 0.97),
    Goal("a small call, share of inductor's time", "call", (THEIRS,), 0.6, is_share=True),
    Goal("of which PyTorch alone", "call", (THEIRS,), inf, is_share=True, ours=TRACING),
    Goal("models compiled cold, share of inductor's time", "model", (THEIRS,), 0.2, None, "cold_compile", True),
    Goal("of which PyTorch alone", "model", (THEIRS,), inf, figure="cold_compile", is_share=True, ours=TRACING),
    Goal("models compiled warm in a new process, the same", "model", (THEIRS,), 0.7, None, "warm_compile", True),
    Goal("of which PyTorch alone", "model", (THEIRS,), inf, figure="warm_compile", is_share=True, ours=TRACING),
    Goal("kernels of open sizes, share of the time of known ones", "kernel", (OURS,), 1.1, is_share=True, ours=DYNAMIC),
    Goal("small networks of open sizes, the same", "network", (OURS,), 1.1, is_share=True, ours=DYNAMIC),
    Goal("a small call of open sizes, the same", "call", (OURS,), 1.2, is_share=True, ours=DYNAMIC),
    Goal("peak memory of a training step, share of inductor's", "model", (THEIRS,), 1.0, None, "peak", True),
)
