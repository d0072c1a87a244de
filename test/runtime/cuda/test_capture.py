"""Captures, with stand-ins for what PyTorch does on a GPU: one at a time, whoever asks."""

import threading
from contextlib import nullcontext

import pytest
import torch

from dovetail.runtime.cuda import capture, torch_streams


class Graph:
    def __init__(self, said: list[str], name: str):
        self.said, self.name = said, name

    def capture_begin(self, *_: object, **__: object) -> None:
        self.said.append(f"{self.name} begins")

    def capture_end(self) -> None:
        self.said.append(f"{self.name} ends")


def test_a_finalizer_that_captures_before_a_capture_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a thread that waits for itself: a dying object calls a program while this thread prepares a capture."""
    said: list[str] = []

    def finalizer() -> None:
        monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
        with capture.captured(Graph(said, "inner"), 0):  # type: ignore[arg-type]  # a stand-in
            pass

    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, 0))
    monkeypatch.setattr(torch.cuda, "device", nullcontext)
    monkeypatch.setattr(torch.cuda, "stream", nullcontext)
    monkeypatch.setattr(torch.cuda, "synchronize", finalizer)
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    monkeypatch.setattr(capture, "_stream", lambda _: None)
    monkeypatch.setattr(torch_streams, "clear_workspaces", lambda: None)

    def work() -> None:
        with capture.captured(Graph(said, "outer"), 0):  # type: ignore[arg-type]  # a stand-in
            pass

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(10)
    assert said == ["inner begins", "inner ends", "outer begins", "outer ends"]
