"""Programs that only update their arguments, as an optimizer's step does: what a call must know is asked at once."""

from collections.abc import Callable, Sequence

from dovetail.backends.python import tensors

Run = Callable[[list], Sequence]
"""A program: it takes its arguments in a list, which it empties."""


class Updates:
    """Such a program. It runs at once where every argument lies as regions take it, else `step_by_step`."""

    def __init__(self, launch: Callable[[list], bool], moved: Sequence[int], step_by_step: Run):
        self._launch, self._moved, self.step_by_step = launch, moved, step_by_step

    def at_once(self, given: list) -> bool:
        """Runs if each of `given` has the type, sizes and strides that the program states, and lies well; tells if so.

        Raises:
            AliasMismatch: if they share memory in another way than assumed, before anything ran.
        """
        if not self._launch(given):
            return False
        if self._moved:
            tensors.increment_versions(map(given.__getitem__, self._moved))
        return True

    def __call__(self, given: list) -> Sequence:
        if not self.at_once(given):
            return self.step_by_step(given)
        given.clear()
        return ()
