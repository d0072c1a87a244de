"""Whose turn it is in Python, while regions compile."""

import functools
import os
import sys
import threading
from _thread import start_new_thread
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_TURN = 1e-4
"""Seconds that a thread computes before it lets those that wait have their turn."""

_lock = threading.Lock()
_before: list[tuple[float, threading.Lock]] = []
"""For each compilation that goes on, the turns of before the first of them, and what is released when they are back."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def with_short_turns(compile_: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """`compile_`, during which threads take turns often: those that wait for compilers do little, but many times.

    Beside a thread that computes, each of these times would else take five milliseconds. Turns are as before once no
    thread compiles any more, whatever interrupts this one: a thread of its own changes them, since only the main thread
    is interrupted, and sees by a lock that the work is over. All that both wait for is let go in one step, unlike
    what `threading` builds of locks.
    """

    @functools.wraps(compile_)
    def compile_in_short_turns(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        working, shortened, restored = threading.Lock(), threading.Lock(), threading.Lock()
        shortened.acquire()
        restored.acquire()
        is_watched = False
        try:
            with working:
                start_new_thread(_shorten, (working, shortened, restored))
                shortened.acquire()
                is_watched = True
                return compile_(*arguments, **options)
        finally:
            if is_watched:
                restored.acquire()

    return compile_in_short_turns


def _shorten(working: threading.Lock, shortened: threading.Lock, restored: threading.Lock) -> None:
    """Has turns be short until `working` is free; releases the others as soon as they are and are no more."""
    with _lock:
        before = _before[0][0] if _before else sys.getswitchinterval()
        _before.append((before, restored))
        sys.setswitchinterval(_TURN)
    shortened.release()
    with working, _lock:
        _before.remove((before, restored))
        if not _before:
            sys.setswitchinterval(before)
    restored.release()


def _restore_in_forked_child() -> None:
    """The threads that would do it are the parent's alone, as are those that compile, but for one that forked."""
    global _lock
    _lock = threading.Lock()  # one of those threads may have held it
    for before, restored in _before:
        sys.setswitchinterval(before)
        restored.release()
    _before.clear()


os.register_at_fork(after_in_child=_restore_in_forked_child)
