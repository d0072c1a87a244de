"""Ways to change a module's text. Each takes a text and a generator, and returns the text, changed where it can be."""

import re
from collections.abc import Callable
from random import Random

from dovetail.dialects.attributes import NAMES
from dovetail.tools.fuzz_texts import payloads
from dovetail.tools.fuzz_texts.lines import call_operator, change_location, drop_line, repeat_line, swap_lines
from dovetail.tools.fuzz_texts.payloads import DEEP, quoted

Mutation = Callable[[str, Random], str]

_SYMBOL = re.compile(r'@(?:[A-Za-z_][\w$.]*|"[^"]*")')
_VALUE = re.compile(r"%[\w#]+")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_NUMBER = re.compile(r"(?<![\w%@#!.])-?\d+(?:\.\d+(?:e[+-]?\d+)?)?(?![\w.])")
_DIMENSIONS = re.compile(r"<\[[0-9,?]*\]")
_ELEMENT = re.compile(r"\b(?:f64|f32|f16|bf16|si64|si32|si16|si8|ui8|i1|i64|complex<f32>)\b")
_TYPE = re.compile(r"![\w.]+(?:<[^<>]*(?:<[^<>]*(?:<[^<>]*>)?[^<>]*>)?[^<>]*>)?")
_ATTRIBUTE = re.compile(r"\b(?P<key>[a-z_][\w.]*) = (?P<value>[^,{}]+)")
_ARRAY = re.compile(r"array<i64(?:: [^<>]*)?>")
_MAP = re.compile(r"affine_map<(?P<taken>\([^)]*\)(?:\[[^\]]*\])?) -> \((?P<sizes>.*?)\)>")
_NAMED_OP = re.compile(r"(?<![\w.!@#\"])(?:torch|dovetail|func|builtin)\.[\w.]+")
_OP_STRING = re.compile(r'"(?:torch|dovetail|aten)\.[\w.]+"')
_ATTRIBUTES = (
    *sorted(NAMES),
    *"sym_visibility callee args index mode versions requires_grad value size stride offset grad_mode".split(),
)


def rename_symbol(text: str, draw: Random) -> str:
    """A symbol gets another name, everywhere: the module stays valid."""
    found = _pick(_SYMBOL, text, draw)
    if found is None:
        return text
    by = f"@{quoted(payloads.text(draw))}"
    return re.sub(rf"{re.escape(found[0])}(?![\w$.])", lambda _: by, text)


def rename_one_symbol(text: str, draw: Random) -> str:
    """A symbol gets another name, in one place."""
    return _replaced(_SYMBOL, text, draw, lambda _: f"@{quoted(payloads.text(draw))}")


def swap_values(text: str, draw: Random) -> str:
    """A value stands where another stood."""
    values = sorted(set(_VALUE.findall(text)))
    return _replaced(_VALUE, text, draw, lambda _: draw.choice([*values, "%undefined"]))


def change_string(text: str, draw: Random) -> str:
    return _replaced(_STRING, text, draw, lambda _: quoted(payloads.text(draw)))


def change_number(text: str, draw: Random) -> str:
    return _replaced(_NUMBER, text, draw, lambda _: payloads.number(draw))


def change_sizes(text: str, draw: Random) -> str:
    sizes = ["", "0", "1", "4", "?", "2,3", "4,4", "4294967296,4294967296", "1000000000000", ",".join("2" * 70)]
    return _replaced(_DIMENSIONS, text, draw, lambda _: f"<[{draw.choice(sizes)}]")


def change_sizes_everywhere(text: str, draw: Random) -> str:
    """All types of one shape get another: the module stays valid, and does other work."""
    found = _pick(_DIMENSIONS, text, draw)
    return (
        text if found is None else text.replace(found[0], f"<[{draw.choice(['0', '1', '7', '2,3', '5,1', '99999'])}]")
    )


def change_element(text: str, draw: Random) -> str:
    return _replaced(_ELEMENT, text, draw, lambda _: draw.choice("f64 f32 f16 bf16 si64 si8 ui8 i1 i64".split()))


def change_type(text: str, draw: Random) -> str:
    types = ["!torch.int", "!torch.list<int>", "!torch.none", "!torch.vtensor", "i64", "tensor<4xf32>", "!torch.str"]
    return _replaced(_TYPE, text, draw, lambda _: draw.choice([*types, *_TYPE.findall(text)]))


def change_attribute(text: str, draw: Random) -> str:
    """An attribute gets another value or name, goes, or comes."""
    values = ("1 : i64", "-1 : i64", "[]", "unit", "true", "@call", "{}", "dense<0> : tensor<1xi64>", "f32", "4.0")

    def changed(found: re.Match[str]) -> str:
        key, value = found["key"], found["value"]
        other = draw.choice([*values, quoted(payloads.text(draw)), "array<i64: 0, 7, -1>"])
        added = f"{draw.choice(_ATTRIBUTES)} = {other}"
        return draw.choice([f"{key} = {other}", f"{draw.choice(_ATTRIBUTES)} = {value}", added, f"{found[0]}, {added}"])

    return _replaced(_ATTRIBUTE, text, draw, changed)


def change_array(text: str, draw: Random) -> str:
    """Numbers that stand in order become others, more or fewer."""

    def changed(found: re.Match[str]) -> str:
        drawn = ", ".join(draw.choice(payloads.WHOLE) for _ in range(draw.randrange(4)))
        of_others = ("array<i32: 2, 3>", "array<f32: 0.5>", "[2, 3]", "dense<2> : tensor<2xi64>")
        return draw.choice((f"array<i64: {drawn}>" if drawn else "array<i64>",) * 4 + of_others)

    return _replaced(_ARRAY, text, draw, changed)


def change_map(text: str, draw: Random) -> str:
    """What sizes are by symbols becomes something else, or of another rank, or of other symbols."""

    def changed(found: re.Match[str]) -> str:
        taken, sizes = draw.choice((found["taken"], found["taken"], "()[s0, s1]")), found["sizes"].split(", ")
        put, at = payloads.expression(draw), draw.randrange(len(sizes))
        sizes[at : at + draw.choice((0, 1, 1, 1))] = draw.choice(([put], [put], [put], [put, put], []))
        names = {"d0": "(d0)[s0, s1]", "s1": "()[s0, s1]", "s0": "()[s0]"}
        needed = next((names[name] for name in names if any(name in size for size in sizes)), "()")
        return f"affine_map<{taken if draw.random() < 0.2 else needed} -> ({', '.join(sizes)})>"

    return _replaced(_MAP, text, draw, changed)


def change_operator(text: str, draw: Random) -> str:
    """An op by another name."""
    if draw.random() < 0.5:
        return _replaced(_OP_STRING, text, draw, lambda _: quoted(payloads.operator(draw)))
    names = _NAMED_OP.findall(text)
    return _replaced(_NAMED_OP, text, draw, lambda _: draw.choice([*names, payloads.operator(draw)]))


def nest(text: str, draw: Random) -> str:
    """Something stands in itself, many times over."""
    deep = draw.choice(DEEP)
    key = draw.choice(_ATTRIBUTES)
    values = (
        f"{'[' * deep}{']' * deep}",
        f"{'{a = ' * deep}1{'}' * deep}",
        f"{'tuple<' * deep}i1{'>' * deep}",
        f"{'!torch.list<' + 'list<' * deep}int{'>' * deep}>",
        quoted("(" * deep + ")" * deep),
        quoted("[" * deep),
        quoted("{1:" * deep),
    )
    if draw.random() < 0.3:
        return "module {\n" * deep + text + "}\n" * deep
    return _replaced(_ATTRIBUTE, text, draw, lambda found: f"{found[0]}, {key} = {draw.choice(values)}")


def change_character(text: str, draw: Random) -> str:
    at = draw.randrange(len(text) + 1)
    put = draw.choice(["", " ", *'"<>(){}[]%@!#:,=\\\n\0', "ä", "\x1b[31m"])
    return text[:at] + put + text[at + draw.choice((0, 1)) :]


def cut(text: str, draw: Random) -> str:
    return text[: draw.randrange(len(text) + 1)]


# As often as they stand here: what leaves a module valid gets further, and finds more.
MUTATIONS: tuple[Mutation, ...] = (
    *(rename_symbol,) * 5,
    rename_one_symbol,
    *(swap_values,) * 3,
    *(change_string,) * 4,
    *(change_number,) * 3,
    change_sizes,
    *(change_sizes_everywhere,) * 2,
    *(change_element,) * 2,
    *(change_type,) * 2,
    *(change_attribute,) * 4,
    *(change_array,) * 3,
    *(change_map,) * 4,
    *(change_operator,) * 3,
    *(call_operator,) * 2,
    change_location,
    nest,
    *(drop_line,) * 3,
    repeat_line,
    *(swap_lines,) * 2,
    change_character,
    cut,
)


def mutated(text: str, draw: Random) -> str:
    """`text` after one to three mutations, mostly one."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        text = draw.choice(MUTATIONS)(text, draw)
    return text


def _pick(pattern: re.Pattern[str], text: str, draw: Random) -> re.Match[str] | None:
    found = list(pattern.finditer(text))
    return draw.choice(found) if found else None


def _replaced(pattern: re.Pattern[str], text: str, draw: Random, by: Callable[[re.Match[str]], str]) -> str:
    found = _pick(pattern, text, draw)
    return text if found is None else text[: found.start()] + by(found) + text[found.end() :]
