"""A program as the Python that a user would write."""

from collections.abc import Iterable, Iterator

from dovetail.tools.fuzz.helpers import SOURCES
from dovetail.tools.fuzz.program import Block, Call, CodeLine, Program, Statement


def render(program: Program) -> str:
    """Source that defines `fn`, and `inputs_0`, `later_0` and so on for the calls."""
    names = [parameter.name for parameter in program.parameters]
    parts = ["\n".join(_imports(program)), *(SOURCES[name].rstrip() for name in program.helpers)]
    parts += ["\n".join(map(str, program.captured))] if program.captured else []
    parts += [_module(program, names)] if program.state else _functions(program, "fn", names)
    for number, call in enumerate(program.calls):
        parts += _call(number, call, names)
    return "\n\n\n".join(parts) + "\n"


def script(program: Program, backend: str) -> str:
    """Source that can be run by itself and prints what differs."""
    return (
        f"{render(program)}\n\n"
        'if __name__ == "__main__":\n'
        "    from dovetail.tools.fuzz.rerun import print_differences\n\n"
        f"    print_differences(__file__, backend={backend!r}, modes={_modes(program)!r}, dynamic={program.dynamic}, "
        f"fullgraph={program.fullgraph})\n"
    )


def _modes(program: Program) -> list[tuple[str, str]]:
    return [(call.mode, call.backward) for call in program.calls]


def returned(results: tuple[CodeLine, ...], container: str) -> str:
    """The expression that packs the results."""
    each = [str(result) for result in results]
    match container:
        case "single" if len(each) == 1:
            return each[0]
        case "list":
            return f"[{', '.join(each)}]"
        case "dict":
            return "{" + ", ".join(f'"r{index}": {result}' for index, result in enumerate(each)) + "}"
        case "nested" if len(each) > 1:
            return f'({each[0]}, [{", ".join(each[1:-1])}], {{"last": {each[-1]}}})'
    return f"({', '.join(each)},)" if len(each) == 1 else f"({', '.join(each)})"


def _imports(program: Program) -> Iterator[str]:
    yield "import torch"
    if program.kind == "alias":
        yield "from torch.utils.checkpoint import checkpoint"
    if program.kind == "compute":
        yield "from torch import cond\nfrom torch.utils.checkpoint import checkpoint\n"
        yield "import dovetail.tools.fuzz.computations.opaque"
        yield "from dovetail.tools.fuzz.computations.numbers import numbers"


def _functions(program: Program, name: str, parameters: list[str]) -> list[str]:
    """The function `name`, and those that it calls where the body is inside of something."""
    own = "self" if parameters[0] == "self" else ""
    body, arguments = f"{own}.body".removeprefix("."), [parameter for parameter in parameters if parameter != own]
    head = f"def {name}({', '.join(parameters)}):"
    given = ", ".join(arguments)
    if program.form.startswith("checkpoint"):
        options = program.form.replace("checkpoint", "use_reentrant=False")
        call = f"    return checkpoint({', '.join([body, *arguments])}, {options})"
        return [_function(program, "body", parameters), f"{head}\n{call}"]
    if program.form == "cond":
        # Results of both branches are contiguous, and have memory of their own; a NaN takes the other branch.
        contiguous = "each.clone(memory_format=torch.contiguous_format)"
        return [
            _function(program, "body", parameters),
            f"def branch({given}):\n    return tuple({contiguous} for each in body({given}))",
            f"def other({given}):\n    return tuple(each + each for each in branch({given}))",
            f"{head}\n    is_number = ({arguments[0]} == {arguments[0]}).all()\n"
            f"    return cond(is_number, branch, other, ({given},))",
        ]
    return [_function(program, name, parameters)]


def _function(program: Program, name: str, parameters: list[str]) -> str:
    result = f"return {returned(program.results, program.container)}"
    return "\n".join([f"def {name}({', '.join(parameters)}):", *_lines(program.body), f"    {result}"])


def _module(program: Program, parameters: list[str]) -> str:
    init = ["def __init__(self):", "    super().__init__()", *_lines(program.state)]
    methods = "\n\n".join(_functions(program, "forward", ["self", *parameters])).splitlines()
    body = "\n".join(f"    {line}" if line else "" for line in [*init, "", *methods])
    return f"class Module(torch.nn.Module):\n{body}\n\n\nfn = Module()"


def _call(number: int, call: Call, parameters: list[str]) -> Iterator[str]:
    yield "\n".join([f"def inputs_{number}():", *_lines(call.inputs), "    return locals()"])
    if call.later:
        yield "\n".join([f"def later_{number}(outputs, {', '.join(parameters)}):", *_lines(call.later)])


def _lines(statements: Iterable[Statement], indent: str = "    ") -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, Block):
            yield f"{indent}with {statement.manager}:"
            yield from _lines(statement.body, indent + "    ")
        else:
            yield f"{indent}{statement}"
