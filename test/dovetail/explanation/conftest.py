"""What the tests of explanations share."""

from collections.abc import Iterator

import pytest

from dovetail.explanation import argument_copies

SEARCH = argument_copies._all_tensors


@pytest.fixture(autouse=True, scope="module")
def arguments_alone() -> Iterator[None]:
    """No search for the tensors of the process, which takes longer than the rest: what changes is in the arguments."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(argument_copies, "_all_tensors", lambda: iter(()))
        yield


@pytest.fixture
def all_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search all the same, for tensors that are in no argument."""
    monkeypatch.setattr(argument_copies, "_all_tensors", SEARCH)
