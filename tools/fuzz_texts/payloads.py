"""What a stranger may write where a name, a string, a number or an operator stands."""

from random import Random

CANARY = "dovetail_canary"
"""In every text that must not run: a module that may not be imported, a file that may not be made."""

DEEP = (10, 300, 20_000)
"""How many times over something stands in itself."""

_CODE = f"open('{CANARY}', 'w')"
_STATEMENTS = (
    f"z(a):\n    pass\n{_CODE}\ndef forward_region_1",
    f"f(arguments):\n    import {CANARY}\ndef f",
    f"x'); {_CODE}; ('",
    f'x"); {_CODE}; ("',
    f"{_CODE} #",
    f"(lambda: {_CODE})()",
    f"__import__('{CANARY}')",
    f"\\n{_CODE}",
    f"{CANARY}\r{_CODE}",
    f"{CANARY}:Tensor",
    f"{CANARY}.Tensor:x",
    f"../../../{CANARY}",
    f"/tmp/{CANARY}",
    f"$(touch {CANARY})",
    f"--output={CANARY}",
    f"<script>{CANARY}()</script>",
    f"{{{{{CANARY}}}}}",
    f"%s %d {{0}} {{{CANARY}}}",
)
_WORDS = (
    "call joint forward backward apply guard main ready with_strides destination copied write_tracked write_hidden v0 "
    "v1 arguments gradients tangents torch empty spoil literal float32 def import class None lambda print exec open "
    "__builtins__ __import__ __class__ else region forward_region_0 forward_region_00 then_0 os:system "
    "builtins:exec torch:Tensor torch:load subprocess:Popen float64 complex64 load save hub cuda meta cpu "
    "local-task local-sync remote cuda:99 data-tiling joint split program regions tracked hidden no_grad "
    "aten.view.dtype aten.expand.default aten.as_strided.default min-cut checked private"
).split()
_ODD = (
    "",
    " ",
    "\0",
    "\x1b]0;owned\x07\x1b[2J",
    "\u202egnp.exe",
    "\udcff\udcfe",  # bytes that are no UTF-8
    "ä\u2028\u2029",
    "a" * 5000,
    "_" * 300 + "1",
    "forward_" + "9" * 5000,
    "\n\n\n",
    "a+b",
    "a,b{c=d}",
    '"',
    "'",
    "\\",
    "}}{{",
    "-",
    ".",
    "..",
)
_NUMBERS = (
    *"0 1 -1 2 3 7 64 -9223372036854775808 9223372036854775807 18446744073709551615 1000000000000".split(),
    *"4294967296 2147483647 99999999999999999999999999 0x7FC00000 1.0e+308 -1.0e+400 1.0e-320".split(),
)
WHOLE = "0 1 2 -1 -5 64 100 4611686018427387904 9223372036854775807 -9223372036854775808".split()
"""Numbers of 64 bits."""

_EXPRESSIONS = (
    *("s0 floordiv 0", "s0 mod 0", "s0 ceildiv 0", "s0 floordiv -2", "s0 mod -2", "s0 ceildiv 2", "s0 floordiv 2"),
    *("s0 floordiv (s0 - s0 mod 1000)", "s0 mod (s0 floordiv 1000)", "s0 floordiv s1", "s1", "d0", "-s0", "s0 - 50"),
    *("s0 * s0 * 9223372036854775807", "s0 + 9223372036854775807", "s0 * 1000000000000", "s0 * 0", "0", "-1", "2"),
    " + ".join(f"s0 mod {each}" for each in range(2, 3000)),
    "(" * 300 + "s0" + " floordiv 2)" * 300,
)
_OPERATORS = (
    *"torch.aten.from_file torch.aten.save torch.load_library.x torch.loaded_libraries.add.x torch.aten._print".split(),
    *"torch.__class__.x.y torch.aten.__class__ torch.aten.add.__call__ torch.aten.add.Tensor.junk torch..".split(),
    *"torch. torch.x torch.aten torch.aten. torch.aten.. torch.prim.Print torch.prim.RaiseException".split(),
    *"torch.profiler._record_function_enter_new torch.c10d.broadcast_ torch.aten.set_.source_Tensor".split(),
    *"torch.dovetail.cond torch.dovetail.while_loop torch.aten.resize_ torch.aten.as_strided_ torch.aten.copy_".split(),
    *"torch.aten.mul.Tensor torch.aten.mm torch.aten.sum.dim_IntList torch.aten.item torch.aten._to_copy".split(),
    *"torch.higher_order.cond torch.quantized.add torch.symm_mem.get_remote_tensor torch.prims.device_put".split(),
    f"torch.aten.{CANARY}",
    f"torch.{CANARY}.x",
    f"torch.aten.add({_CODE}).x",
)


def text(draw: Random) -> str:
    """Something for a name or a string."""
    return draw.choice(draw.choice((_STATEMENTS, _STATEMENTS, _WORDS, _ODD)))


def number(draw: Random) -> str:
    """Something for a number."""
    return draw.choice(_NUMBERS)


def expression(draw: Random) -> str:
    """Something for a size by symbols."""
    return draw.choice(_EXPRESSIONS)


def operator(draw: Random) -> str:
    """Something for the name of an operator."""
    return draw.choice(_OPERATORS)


def quoted(content: str) -> str:
    """`content` as a string of MLIR: whatever is not plain stands as its bytes in hexadecimal."""
    plain = (
        chr(each) if 32 <= each < 127 and each not in b'"\\' else f"\\{each:02X}"
        for each in content.encode(errors="surrogateescape")
    )
    return f'"{"".join(plain)}"'
