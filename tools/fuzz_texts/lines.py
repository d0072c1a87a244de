"""Ways to change the lines of a module's text, one of them or what is in the order of all."""

from random import Random

from dovetail.dialects.attributes import REASON
from dovetail.tools.fuzz_texts import payloads
from dovetail.tools.fuzz_texts.payloads import DEEP, quoted


def call_operator(text: str, draw: Random) -> str:
    """Before some op, a call of an operator on strings and numbers."""
    lines = [
        f"    %canary = torch.constant.str {quoted(payloads.CANARY)}",
        "    %canary_on = torch.constant.bool true",
        "    %canary_size = torch.constant.int 4",
        "    %canary_none = torch.constant.none",
        f"    %canaries = torch.operator {quoted(payloads.operator(draw))}(%canary, %canary_on, %canary_size, "
        f'%canary_none, %canary_none, %canary_none, %canary_none) {{{REASON} = "x"}} : (!torch.str, !torch.bool, '
        "!torch.int, !torch.none, !torch.none, !torch.none, !torch.none) -> !torch.vtensor<[4],f32>",
    ]
    return _with_line(text, draw, "\n".join(lines))


def change_location(text: str, draw: Random) -> str:
    """An op says that it comes from elsewhere."""
    deep = draw.choice(DEEP)
    indices = [
        f"loc({quoted(payloads.text(draw))})",
        f"loc({quoted(payloads.text(draw))}:{abs(int(draw.random() * 10**12))}:1)",
        f"loc({'fused[' * 3}unknown{']' * 3})",
        f"loc({'callsite(' * deep}unknown{' at unknown)' * deep})",
        f"loc(#{payloads.CANARY})",
    ]
    lines = text.split("\n")
    ends = [number for number, line in enumerate(lines) if line.startswith("    ") and not line.rstrip().endswith("{")]
    if ends:
        number = draw.choice(ends)
        lines[number] = f"{lines[number]} {draw.choice(indices)}"
    return "\n".join(lines)


def drop_line(text: str, draw: Random) -> str:
    lines = text.split("\n")
    del lines[draw.randrange(len(lines))]
    return "\n".join(lines)


def repeat_line(text: str, draw: Random) -> str:
    lines = text.split("\n")
    number = draw.randrange(len(lines))
    return "\n".join(
        [*lines[: number + 1], *lines[number : number + 1] * draw.choice((1, 1, 500)), *lines[number + 1 :]]
    )


def swap_lines(text: str, draw: Random) -> str:
    lines = text.split("\n")
    one, other = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return "\n".join(lines)


def _with_line(text: str, draw: Random, line: str) -> str:
    lines = text.split("\n")
    inside = [number for number, each in enumerate(lines) if each.startswith("    ")]
    lines.insert(draw.choice(inside) if inside else len(lines), line)
    return "\n".join(lines)
