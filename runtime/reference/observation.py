"""What a run of a module shows its user, and in what two runs differ."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Observation:
    """What a run of a module shows: its results, its arguments afterwards, and one gradient (or None) an argument."""

    results: list
    arguments: list
    gradients: list

    def differences(self, other: "Observation") -> list[str]:
        """One line for each value, stride or size in which `other` differs, naming it."""
        found: list[str] = []
        for what in ("results", "arguments", "gradients"):
            ours, theirs = getattr(self, what), getattr(other, what)
            if len(ours) != len(theirs):
                found.append(f"{what}: {len(ours)} before, {len(theirs)} after")
                continue
            strides_count = what != "gradients"
            for index, (before, after) in enumerate(zip(ours, theirs, strict=True)):
                difference = _difference(before, after, strides_count)
                if difference:
                    found.append(f"{what}[{index}]: {difference}")
        return found


def _difference(before, after, strides_count: bool) -> str:
    if not isinstance(before, torch.Tensor) or not isinstance(after, torch.Tensor):
        return "" if type(before) is type(after) and before == after else f"{before} before, {after} after"
    if before.shape != after.shape or before.dtype != after.dtype:
        return f"{before.dtype} {tuple(before.shape)} before, {after.dtype} {tuple(after.shape)} after"
    if strides_count and before.numel() and before.stride() != after.stride():
        return f"strides {before.stride()} before, {after.stride()} after"
    try:
        torch.testing.assert_close(after, before, equal_nan=True)
    except AssertionError as error:
        return " ".join(str(error).split())
    return ""
