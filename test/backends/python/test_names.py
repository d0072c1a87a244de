"""Python's names for functions: of a symbol, which may be any text, nothing gets into Python's source."""

import keyword

import pytest

from dovetail.backends.python.names import OTHER, made_name


@pytest.mark.parametrize("symbol", ["call", "joint", "forward_region_0", "backward_update_12_1", "else_3", "then_0"])
def test_what_our_passes_name_keeps_its_name(symbol: str):
    """Catches a program whose Python no longer says which region it calls."""
    assert made_name(symbol) == symbol


@pytest.mark.parametrize(
    "symbol",
    [
        "z(a):\n    pass\nimport os; os.system('true')\ndef forward_region_1",
        "forward_region_1\n",
        "forward_region_1 ",
        "forward region",
        "else",
        "import",
        "torch",
        "v0",
        "",
        "_",
        "0",
        "__builtins__",
        "forward_\u0661",
        "forward_" + "9" * 5000,
    ],
)
def test_any_other_symbol_gets_a_name_of_ours(symbol: str):
    """Catches a symbol that ends the line that defines it, or takes the name of what the program uses."""
    assert made_name(symbol) == OTHER
    assert not keyword.iskeyword(made_name(symbol))


def test_numbers_are_written_anew():
    """Catches a name that is passed through because it looks harmless."""
    assert made_name("forward_region_007") == "forward_region_7"
