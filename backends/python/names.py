"""Python's names for the IR's functions: made of words and numbers of ours, never of a symbol's own text."""

_WORDS = "apply backward body branch call condition else forward function guard host joint region then update"
_KNOWN = {word: word for word in _WORDS.split()}
_DIGITS = 9
OTHER = "function_of_the_module"
"""What a function is called whose symbol our passes would not make."""


def made_name(symbol: str) -> str:
    """A Python identifier for the function `symbol`: the same where our passes made it (`forward_region_0_1`).

    A symbol may hold any text, Python statements included. It is read part by part, a word that we know or a number,
    and the name is written anew from what was read.
    """
    first, *rest = symbol.split("_")
    made = [_KNOWN.get(first), *map(_part, rest)]
    # A word alone may be one of Python's own.
    return OTHER if None in made or symbol == "else" else "_".join(map(str, made))


def _part(text: str) -> str | int | None:
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS:
        return int(text)
    return _KNOWN.get(text)
