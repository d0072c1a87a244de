"""Textual pipelines and pass options: what they mean, and what a mistake is told."""

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context
from dovetail.errors import OptionError
from dovetail.passes.base import Pass, registry
from dovetail.passes.partition.partition import PartitionPass
from dovetail.passes.pipeline import compile_pipeline
from dovetail.passes.running.parse import parse_pipeline


class _OptionsPass(Pass, name="test-options"):
    """Has an option of each type."""

    flag: bool = False
    many_words: int = 1
    ratio: float = 0.5
    text: str = ""

    def run(self, module: ir.Module) -> None:
        """Does nothing."""


def _parse(text: str) -> tuple:
    return parse_pipeline(text, make_context())


@pytest.mark.parametrize(
    "each",
    [
        _OptionsPass(),
        _OptionsPass(flag=True, many_words=-3, ratio=1e-5, text="a.b-c+d"),
        _OptionsPass(text="spaces, commas, {braces), 'quotes', \"double\", \\ and\nlines; ü"),
        _OptionsPass(text="true"),
    ],
)
def test_text_of_a_pass_is_read_back(each: Pass):
    """Would catch a pass that prints what the parser takes for something else."""
    assert _parse(str(each)) == (each,)
    assert _parse(f"builtin.module({each},cse)")[0] == each


def test_named_pipeline_is_the_compilers():
    """Would catch `dovetail-opt` and the compiler running different passes."""
    assert _parse("compile") == compile_pipeline()
    assert _parse("compile{partition=default}") == compile_pipeline("default")
    assert _parse("compile{memory-budget=0.5}") == compile_pipeline(memory_budget=0.5)


def test_neighbours_and_nesting_are_kept_apart():
    """Would catch a split at a comma inside of brackets, or spaces that matter."""
    text = " partition{algorithm=default} , func.func(cse,canonicalize{max-iterations=2 top-down=false}),cse"
    first, *rest = _parse(text)
    assert first == PartitionPass("default")
    assert [str(each) for each in rest] == ["func.func(cse,canonicalize{max-iterations=2 top-down=false})", "cse"]


def test_nothing_is_an_empty_pipeline():
    """Would catch an error, or a pass, where none was asked for."""
    assert _parse("") == _parse("builtin.module()") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("partitoin", "unknown pass 'partitoin'; did you mean 'partition'?"),
        (
            "partitoin{algorithm=default}",
            "unknown pass 'partitoin' in 'partitoin{algorithm=default}'; did you mean 'partition'?",
        ),
        ("cannonicalize", "unknown pass 'cannonicalize'; did you mean 'canonicalize'?"),
        ("comple", "unknown pass 'comple'; did you mean 'compile'?"),
        ("qqq", "unknown pass 'qqq'; see --list-passes"),
        ("func.func(qqq)", "unknown pass 'qqq' in 'func.func(qqq)'; see --list-passes"),
        (
            "cse{qqq=1}",
            "MLIR can't read 'cse{qqq=1}': <Pass-Options-Parser>: no such option qqq failed to add `cse` with options"
            " `qqq=1`",
        ),
        (
            "func.func(cse,partition)",
            "pass 'partition' runs on the outermost 'builtin.module', it can't be nested in 'func.func'",
        ),
        (
            "func.func(builtin.module(compile))",
            "pipeline 'compile' runs on the outermost 'builtin.module', it can't be nested in 'builtin.module'",
        ),
        (
            "test-options{nope=1}",
            "pass 'test-options' has no option 'nope', valid are 'flag', 'many-words', 'ratio', 'text'",
        ),
        ("plan-epilogue{nope=1}", "pass 'plan-epilogue' has no option 'nope', it takes none"),
        ("compile{nope=1}", "pipeline 'compile' has no option 'nope', valid are 'partition', 'memory-budget'"),
        ("test-options{flag=yes}", "pass 'test-options': option 'flag' expects true or false, got 'yes'"),
        ("test-options{many-words=1.5}", "pass 'test-options': option 'many-words' expects an integer, got '1.5'"),
        ("test-options{ratio=half}", "pass 'test-options': option 'ratio' expects a number, got 'half'"),
        (
            "partition{default}",
            "pass 'partition': can't read option 'default', expected name=value; valid are 'algorithm',"
            " 'memory-budget'",
        ),
        (
            "compile{default}",
            "pipeline 'compile': can't read option 'default', expected name=value; valid are 'partition',"
            " 'memory-budget'",
        ),
        ("plan-epilogue{fast}", "pass 'plan-epilogue': can't read option 'fast', expected name=value; it takes none"),
        (
            "test-options{flag=true flag=false}",
            "pass 'test-options': option 'flag' is given twice, 'true' and 'false'",
        ),
        ('test-options{text="a}', "can't read the quoted value \"a, expected a string as in JSON"),
        (
            "partition{algorithm=best}",
            "pass 'partition': option 'algorithm' expects 'min-cut' or 'default', got 'best'",
        ),
        ("compile{partition=best}", "pass 'partition': option 'algorithm' expects 'min-cut' or 'default', got 'best'"),
        (
            "partition{memory-budget=1.5}",
            "pass 'partition': option 'memory-budget' expects a number from 0 to 1, got 1.5",
        ),
        (
            "partition{memory-budget=nan}",
            "pass 'partition': option 'memory-budget' expects a number from 0 to 1, got nan",
        ),
        ("compile{memory-budget=half}", "pass 'partition': option 'memory-budget' expects a number, got 'half'"),
        (
            "partition{algorithm=default memory-budget=0.5}",
            "pass 'partition': option 'memory-budget' needs algorithm 'min-cut', got 'default'",
        ),
        (
            "verify-level{level=last}",
            "pass 'verify-level': option 'level' expects one of 'joint', 'split', 'program', 'regions', 'launches', "
            "got 'last'",
        ),
        ("partition{algorithm=default", "missing closing bracket in pipeline 'partition{algorithm=default'"),
        ("cse,partition}", "unbalanced '}' at column 14 of pipeline 'cse,partition}'"),
        ("cse(", "missing closing bracket in pipeline 'cse('"),
        (
            "cse partition",
            "can't read 'cse partition' in the pipeline; expected name, name{option=value} or op(passes)",
        ),
        ("(cse)", "can't read '(cse)' in the pipeline; expected name, name{option=value} or op(passes)"),
    ],
)
def test_mistake_is_told(text: str, message: str):
    """Would catch a mistake that is passed over, or told without its name or what would be valid."""
    with pytest.raises(OptionError) as caught:
        _parse(text)
    assert str(caught.value) == message


def test_name_is_taken_once():
    """Would catch a second pass that silently takes over a name."""
    with pytest.raises(OptionError) as caught:

        class Again(Pass, name="partition"):
            """Never made."""

    again = "test_name_is_taken_once.<locals>.Again"
    assert str(caught.value) == f"pass 'partition' is defined twice: PartitionPass and {again}"


def test_every_pass_is_summarised():
    """Would catch a pass that --list-passes shows without a word, or a class name that does not match the pass's."""
    ours = {name: each for name, each in registry().items() if not name.startswith("test-")}
    assert ours
    for name, each in ours.items():
        assert each.summary()
        assert each.__name__ == "".join(word.title() for word in name.split("-")) + "Pass"
