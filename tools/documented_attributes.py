"""What a class's docstring says of its attributes: for the reference, and for the commands' `--help`."""

import inspect


def documented_attributes(cls: type) -> dict[str, str]:
    """The entries under "Attributes:", by name, each on one line."""
    entries: list[str] = []
    for line in inspect.cleandoc(cls.__doc__ or "").partition("Attributes:\n")[2].splitlines():
        if line.startswith("     "):
            entries[-1] += f" {line.strip()}"
        else:
            entries.append(line.strip())
    return dict(entry.split(": ", 1) for entry in entries)
