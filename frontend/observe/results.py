"""What each result of an eager run is: a function for each kind, the first one that answers is right."""

from collections.abc import Callable, Sequence

import torch

from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.alias_groups import is_whole, storage
from dovetail.frontend.observe.replayed_chains import checked_chain
from dovetail.frontend.observe.run_facts import EagerRun, OwnedTensor
from dovetail.frontend.records import FinalLayout, Result


class Results:
    """The results of `run`, sorted one by one, in order.

    Attributes:
        names: the arguments'.
        owned: the memory that the call makes for the results so far; `tensors` is the same in the run.
        sorted: what the results so far are.
    """

    def __init__(self, run: EagerRun, names: Sequence[str]):
        self.run, self.names = run, names
        self.owned: list[OwnedTensor] = []
        self.sorted: list[Result] = []
        for index, value in enumerate(run.results):
            answers = (kind(self, index, value) for kind in KINDS)
            self.sorted.append(next(answer for answer in answers if answer is not None))

    def own(self, tensor: torch.Tensor, base: tuple[int, ...] | None = None) -> int:
        """The number of `tensor` among the memory that the call makes."""
        for number, own in enumerate(self.owned):
            if own.tensor is tensor:
                return number
        layout = FinalLayout(tuple(tensor.size()), tuple(tensor.stride()))
        requires_grad = tensor.requires_grad and any(result.requires_grad for result in self.showing(tensor))
        self.owned.append(OwnedTensor(tensor, self.run.origins[id(tensor)], layout, requires_grad, base))
        return len(self.owned) - 1

    def showing(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """The results that lie in the memory of `tensor`."""
        return [
            each for each in self.run.results if isinstance(each, torch.Tensor) and storage(each) == storage(tensor)
        ]

    def is_alone(self, value: torch.Tensor) -> bool:
        """Whether no other result lies in the same memory."""
        return all(result is value for result in self.showing(value))

    def passes_barrier(self, value: torch.Tensor) -> bool:
        """Whether a custom autograd function made `value`, or what it is a view of."""
        while id(value) in self.run.parents:
            if id(value) in self.run.barriers:
                return True
            value, _ = self.run.parents[id(value)]
        return False


Kind = Callable[[Results, int, torch.Tensor], Result | None]


def no_tensor(results: Results, index: int, value) -> Result | None:
    """Row O10: a number, None or the like, the same in each call."""
    return None if isinstance(value, torch.Tensor) else Result(value=value)


def same_object(results: Results, index: int, value: torch.Tensor) -> Result | None:
    """Row O9: an earlier result once more."""
    earlier = (number for number in range(index) if results.run.results[number] is value)
    first = next(earlier, None)
    return None if first is None else Result(same_as=first)


def argument(results: Results, index: int, value: torch.Tensor) -> Result | None:
    """Row O2: an argument."""
    number = results.run.numbers.get(id(value))
    return None if number is None else Result(argument=number)


def refused(results: Results, index: int, value: torch.Tensor) -> None:
    """A part of a tensor that was then written: autograd does not follow views that were made together."""
    try:
        value.grad_fn  # noqa: B018 (asking raises)
    except RuntimeError as error:
        raise UnsupportedError(f"result {index}: {str(error).partition('.')[0]}") from error
    if not (value._is_view() and value.requires_grad and _creation(value) == _TOGETHER):
        return
    # The run's tensors that share memory count their versions apart, as those of arguments may be one or not.
    root, _ = results.run.path(value)
    others = (results.run.arguments[number] for number in results.run.written)
    if any(other is not root and storage(other) == storage(value) for other in others):
        raise UnsupportedError(
            f"result {index} is a view made together with others, and an alias of its base is written"
        )


_creation = torch._C._autograd._get_creation_meta
_TOGETHER = torch._C._autograd.CreationMeta.MULTI_OUTPUT_NODE


def view_of_result(results: Results, index: int, value: torch.Tensor) -> Result | None:
    """Row O6, where the result is detached from another tensor itself: its view is that result's all the same."""
    run, base = results.run, value._base
    if base is None or id(base) not in run.parents or id(base) in run.numbers or run.path(value, base)[0] is not base:
        return None
    number = next((number for number, result in enumerate(run.results) if result is base), None)
    if number is None:
        return None
    return Result(of=number, chain=checked_chain(run, index, value, *run.path(value, base)))


def view_of_argument(results: Results, index: int, value: torch.Tensor) -> Result | None:
    """Row O3: a view of an argument. Other tensors in an argument's memory are refused."""
    run = results.run
    arguments = zip(results.names, run.arguments, strict=True)
    sharing = [name for name, each in arguments if isinstance(each, torch.Tensor) and storage(each) == storage(value)]
    if not sharing:
        return None
    root, chain = run.path(value)
    if id(root) not in run.numbers or results.passes_barrier(value):
        raise UnsupportedError(
            f"result {index} shares memory with argument {sharing[0]} in a way that can't be replayed"
        )
    return Result(argument=run.numbers[id(root)], chain=checked_chain(run, index, value, root, chain))


def fresh(results: Results, index: int, value: torch.Tensor) -> Result | None:
    """Rows O1, O7 and O11: a tensor that is no view, or detached from what nobody else sees."""
    root, _ = results.run.path(value)
    is_detached = value._base is None and not value.is_inference() and results.is_alone(value)
    return Result(owned=results.own(value)) if root is value or (is_detached and is_whole(value)) else None


def of_custom_function(results: Results, index: int, value: torch.Tensor) -> Result | None:
    """Row O8: a view that a custom `autograd.Function` made. Its gradient is the function's, not its base's."""
    if not results.passes_barrier(value):
        return None
    root, _ = results.run.path(value)
    is_own = results.is_alone(value) and id(value) in results.run.barriers
    if is_own and all(is_whole(tensor) and tensor.is_contiguous() for tensor in (value, root)):
        return Result(owned=results.own(value, tuple(root.size()) if value.requires_grad else None))
    raise UnsupportedError(f"result {index} shares memory through a custom autograd.Function")


def view_of_owned(results: Results, index: int, value: torch.Tensor) -> Result | None:
    """Rows O4, O5, O6 and O9: a view of memory that the call hands out, by this result or by others too."""
    root, chain = results.run.path(value)
    number = results.own(root)
    seen = root if results.owned[number].requires_grad else root.detach()
    return Result(owned=number, chain=checked_chain(results.run, index, value, seen, chain))


KINDS: tuple[Kind, ...] = (
    no_tensor,
    same_object,
    argument,
    refused,
    view_of_result,
    view_of_argument,
    fresh,
    of_custom_function,
    view_of_owned,
)
"""The last one takes what is left."""
