"""Whether what the compiler wrote is what was asked for: it may end well and not have written all of it."""

import io
import zipfile
from collections.abc import Sequence

import iree.runtime as iree


def wrong_output(module: bytes, entries: Sequence[str]) -> str | None:
    """Why `module` can't hold the functions `entries`, None if it does.

    It is an archive of bytecode and machine code, whose directory stands at its end.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(module)) as archive:
            damaged = archive.testzip()
        names = iree.VmModule.copy_buffer(iree.VmInstance(), module).function_names
    except (zipfile.BadZipFile, ValueError) as error:
        return f"error: the compiler's output is no module: {error}"
    if damaged is not None:
        return f"error: the compiler's output is damaged: {damaged}"
    missing = [entry for entry in entries if entry not in names]
    return f"error: the compiler's output is another module: it has no function {missing[0]}" if missing else None
