"""Observations for the tests of the table of wrongs: in a module, for other processes must import them."""

import os
import signal


def identity(x):
    """The function that is observed."""
    return x


def dies(function):
    """Takes its process with it, as a crash of a backend does."""
    os.kill(os.getpid(), signal.SIGKILL)


def raises(function):
    """A mistake in a case."""
    raise ValueError


def first(function):
    """Which cache the process was given."""
    return {"cache": os.environ["DOVETAIL_CACHE_DIR"]}


def second(function):
    """As `first`, in another process."""
    return first(function)
