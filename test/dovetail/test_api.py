"""The package's own names: what `dir` and completion list, and which version this is."""

from importlib.metadata import version

from new_process import run_python

import dovetail


def test_public_names_are_listed():
    """Would catch names that are loaded when asked for and that nobody can discover."""
    script = "import dovetail; print(*dir(dovetail))"
    done = run_python(script)
    assert {"stats", "explain", "Stats", "Explanation", "__version__"} <= set(done.stdout.split())
    assert all(hasattr(dovetail, name) for name in dir(dovetail))


def test_version_is_the_installed_one():
    """Would catch a version written down twice."""
    assert dovetail.__version__ == version("dovetail")
