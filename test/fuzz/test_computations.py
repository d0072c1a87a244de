"""Programs that compute: a seed is a program for ever, in each of its forms, and every line of the tables is drawn."""

import hashlib
import re
from collections import Counter

import pytest
import torch

from dovetail.tools.fuzz import computations
from dovetail.tools.fuzz.backends import compiled
from dovetail.tools.fuzz.computations.opaque import scale_by_layout
from dovetail.tools.fuzz.observe import observe
from dovetail.tools.fuzz.program import Call, CodeLine, Program, code_lines
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.seeds import programs
from dovetail.tools.fuzz.world import World

# Of the first seeds' sources, by generator. A new entry needs a new number: old reports name seeds of the old one.
DIGESTS = {1: "331d9af138e124b5", 2: "f64c58202c87833a", 3: "69ccbb996420ced0"}
SEEDS = [each for each in range(400) if each % 10]
MORE_SEEDS = [each for each in range(400, 1000) if each % 10]  # until lines that seldom apply are drawn


@pytest.fixture(scope="module")
def drawn() -> dict[int, tuple[Program, ...]]:
    return {seed: programs("compute", seed) for seed in SEEDS}


def test_seed_means_the_same_programs(drawn: dict[int, tuple[Program, ...]]) -> None:
    """Catches a draw that changes under the same generator number, or that depends on what ran before."""
    text = "".join(render(each) for found in drawn.values() for each in found)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[computations.GENERATOR]
    assert programs("compute", 7) == drawn[7]


def test_every_table_is_drawn(drawn: dict[int, tuple[Program, ...]]) -> None:
    """Catches a table whose lines never apply, so that the fuzzer is silent about what it claims to cover."""
    found = [each[0] for each in drawn.values()] + [programs("compute", seed)[0] for seed in MORE_SEEDS]
    text = "\n".join(map(render, found)) + str([each.calls for each in found])
    wanted = ["amax", "amin", "float('inf')", "median", "softmax", "layer_norm", "batch_norm", "group_norm", "rms_norm"]
    wanted += ["transpose", "torch.cat", "torch.stack", "expand", "[::2]", "channels_last", "pad", "flip", "tril"]
    wanted += ["torch.bfloat16", "torch.float16", "torch.int64", "bool()", "torch.uint8", "scale_by_layout", "Twice"]
    wanted += ["round()", "floor()", "where", "clamp", "cumsum", "gather", "index_select", "scatter", "embedding"]
    wanted += ["@", "addmm", "conv2d", "max_pool2d", "avg_pool2d", "dropout", "'special'", "'subnormal'", "'few'"]
    wanted += ["Parameter(", "self.mean", "inference", "expand(", "movedim(", "'large'", "'small'", "'wide'"]
    wanted += ["rsqrt()", "logsumexp", "einsum", "triu(1), -float('inf')", "cos() +", "addcdiv_", "lerp_", "cumsum"]
    wanted += ["(0, -1)", " // ", " % ", " >> ", " & ", "1e5", "torch.tensor(0.3)", "rounding_mode", "torch.int8"]
    wanted += ["] * 3])"]
    assert not [each for each in wanted if each not in text]


def test_reductions_of_returned_reductions_are_drawn(drawn: dict[int, tuple[Program, ...]]) -> None:
    """Catches chains that end early: a compiler may compute a sum that it stores again where the next one needs it."""
    found = 0
    for each, *_ in drawn.values():
        lines = {line.targets[0]: line for line in code_lines(each.body)}
        returned = {name for result in each.results for name in result.operands}
        for last in filter(_reduces, lines.values()):
            spread = lines.get(last.operands[0])
            sources = spread.operands if spread and len(spread.operands) > 1 and not _reduces(spread) else ()
            found += any(name in returned and name in lines and _reduces(lines[name]) for name in sources)
    assert found >= len(drawn) // 20


def _reduces(line: CodeLine) -> bool:
    return (
        re.search(r"\.(sum|mean|amax|amin|norm|var|std|logsumexp)\([^()]*\(?[^()]*\)?[^()]*\)$", line.template)
        is not None
    )


def test_equal_products_that_cancel_are_drawn(drawn: dict[int, tuple[Program, ...]]) -> None:
    """Catches operands that are never equal, so that no root or comparison tells whether products are rounded."""
    found = 0
    for each, *_ in drawn.values():
        bodies = [str(line) for line in code_lines(each.body)]
        found += any(re.fullmatch(r"(\w+) = (\w+) \* 2 - \2", body) for body in bodies)
    assert found >= len(drawn) // 20
    twice = [call for each, *_ in drawn.values() for call in each.calls if _has_equal_arguments(call)]
    assert len(twice) >= len(drawn) // 10


def _has_equal_arguments(call: Call) -> bool:
    made = [line.template for line in call.inputs if line.template.startswith("numbers(")]
    return len(set(made)) < len(made)


def test_results_are_drawn_in_several_ways(drawn: dict[int, tuple[Program, ...]]) -> None:
    """Catches results that are only ever new tensors: all of them, one twice, a view of one, or an argument."""
    results = [each[0].results for each in drawn.values()]
    assert any(len(set(found)) < len(found) for found in results)
    assert any(result.template != "{0}" for found in results for result in found)
    assert any(result.operands[0].startswith("x") for found in results for result in found)
    assert any(
        len({*found}) == len([*code_lines(each[0].body)]) > 3
        for found, each in zip(results, drawn.values(), strict=True)
    )


def test_forms(drawn: dict[int, tuple[Program, ...]]) -> None:
    """Catches a form that is not drawn, or that computes something else than the plain program."""
    assert {each.form for found in drawn.values() for each in found} == {"", "checkpoint", "cond"}
    assert all(found[1].form == "checkpoint" for found in drawn.values())
    plain, *others = next(found for found in drawn.values() if len(found) == 3 and len(found[0].calls) == 2)
    seen = []
    for each in (plain, *others):
        world = World(render(each))
        seen.append(observe(world, world.fn, 0, [one.name for one in each.parameters], "", "once"))
        assert seen[-1].raised is None
    for form in seen[1:]:
        for key, value in seen[0].values.items():
            torch.testing.assert_close(form.values[key], value, equal_nan=True)


def test_programs_stay_small(drawn: dict[int, tuple[Program, ...]]) -> None:
    """Catches growth that makes the budget of a run meaningless, and large arguments at other seeds than the tenth."""
    lengths = Counter(len(list(code_lines(each[0].body))) for each in drawn.values())
    assert max(lengths) <= 12
    assert all(torch.Size(each.shape).numel() <= 5000 for found in drawn.values() for each in found[0].parameters[:1])
    large = programs("compute", 30)[0]
    assert any(torch.Size(parameter.shape).numel() >= 32_768 for parameter in large.parameters)


def test_opaque_op_tells_strides() -> None:
    """Catches an op that gives the same for every layout, forward and backward, so that lost strides don't show."""
    x = torch.arange(6.0).view(2, 3)
    assert not torch.equal(scale_by_layout(x), scale_by_layout(x.t().contiguous().t()))
    assert torch.equal(scale_by_layout(x), compiled(lambda x: scale_by_layout(x), "eager-check")(x))
    gradients = []
    for layout in (x, x.t().contiguous().t()):
        leaf = x.clone().requires_grad_()
        torch.autograd.grad(scale_by_layout(leaf), leaf, layout)
        gradients.append(torch.autograd.grad(scale_by_layout(leaf), leaf, layout)[0])
    assert not torch.equal(*gradients)
