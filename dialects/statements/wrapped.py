"""The wrapper subclasses that a program's caller holds, as records, which need no MLIR.

`subclasses.py` beside this file reads and writes them as attributes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Wrapped:
    """A wrapper subclass around tensors.

    Attributes:
        class_name: "module:qualified name" of its class.
        names: its attributes that hold tensors; `parts` says for each the position of a plain tensor, or what it is.
        context: a Python literal, the second thing that its `__tensor_flatten__` returns.
        size, stride: its own, which need not be those of its parts. Open numbers are expressions of symbols; in a call
            they are the call's, and PyTorch's in `frontend/`.
        versions: by how much the call moves its version counter, where it is an argument.
    """

    class_name: str
    names: tuple[str, ...]
    parts: tuple["int | Wrapped", ...]
    context: str
    size: tuple[Any, ...]
    stride: tuple[Any, ...]
    versions: int = 0

    def positions(self) -> Iterator[int]:
        """The plain tensors that it is made of, in order."""
        for part in self.parts:
            yield from (part,) if isinstance(part, int) else part.positions()

    def with_numbers(self, made_of: Callable[[Any], Any]) -> "Wrapped":
        """The same with what is `made_of` each of its sizes and strides, and of those inside."""
        size, stride = (tuple(map(made_of, numbers)) for numbers in (self.size, self.stride))
        parts = tuple(part if isinstance(part, int) else part.with_numbers(made_of) for part in self.parts)
        return replace(self, parts=parts, size=size, stride=stride)

    def open_numbers(self) -> Iterator[Any]:
        """Those of its sizes and strides, and of those inside, that a call tells."""
        yield from (number for number in (*self.size, *self.stride) if not isinstance(number, int))
        for part in self.parts:
            yield from () if isinstance(part, int) else part.open_numbers()


@dataclass(frozen=True)
class Same:
    """A result that is the very object of `kind` "argument" or (an earlier) "result", number `index` in the lists."""

    kind: str
    index: int


@dataclass(frozen=True)
class Convention:
    """What the caller passes and gets. A number is a plain value, by position among the function's own."""

    arguments: tuple[int | Wrapped, ...]
    results: tuple[int | Wrapped | Same, ...]

    def with_numbers(self, made_of: Callable[[Any], Any]) -> "Convention":
        """The same with what is `made_of` each size and stride of a wrapped tensor."""
        arguments = (each if isinstance(each, int) else each.with_numbers(made_of) for each in self.arguments)
        results = (each.with_numbers(made_of) if isinstance(each, Wrapped) else each for each in self.results)
        return Convention(tuple(arguments), tuple(results))

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing to wrap or unwrap."""
        return all(isinstance(position, int) for position in (*self.arguments, *self.results))
