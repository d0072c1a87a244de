"""What is known of ops stands in their rows: passes ask them, and keep no sets of ops' names."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.rows import OPS

ROOT = Path(__file__).parents[2]
FOLDERS = ("dialects", "passes", "backends", "frontend", "runtime", "dovetail")
NAMES = {row.name.partition(".")[0] for row in OPS}

DECOMPOSITIONS = [
    f"frontend/decompose/{name}.py"
    for name in (
        *("activations", "arithmetic", "convolutions", "extrema", "foreach", "gradients", "loss_gradients"),
        *("mixed_types", "replacements", "sums", "variance"),
    )
]

# Where several ops are named: what a pass does with each, by its own rules.
OWN_RULES = {
    "backends/elementary/half_softmax.py": "the ops of a softmax, by the places of their operands",
    "backends/worker/numbers.py": "how MLIR compares integers, no ops",
    "backends/python/on_values.py": "PyTorch's function for each op",
    "dialects/torch_facts/arithmetic.py": "Python's operator for each op",
    "dialects/torch_facts/ranges.py": "a rule for each op",
    "dialects/dovetail/ops/view.py": "views of ours that may change the element type",
    "dialects/dovetail/numbers.py": "how MLIR compares integers, no ops",
    **dict.fromkeys(DECOMPOSITIONS, "decompositions"),
    "frontend/to_ir/number_nodes.py": "two names of one op",
    "frontend/observe/undecided_copies.py": "the ops by which PyTorch copies what it can't view",
    "frontend/decompose/extremum_gradients.py": "PyTorch's ops that get a kernel of ours",
    "frontend/decompose/python_kernels.py": "PyTorch's ops that get a kernel of ours",
    "frontend/decompose/recurrent_layers.py": "PyTorch's ops that get a kernel of ours",
    "dialects/torch_facts/reshapes.py": "the views that keep elements in their order",
    "passes/cleanup/compose_views.py": "a rule for each view",
    "passes/cleanup/constant_arrays.py": "numpy's function for each op",
    "passes/cleanup/fold_indices.py": "a rule for each op",
    "passes/cleanup/fold_scatters.py": "each view with its scatter",
    "passes/cleanup/pad_products.py": "products, and what is neutral in each reduction",
    "passes/cleanup/simplify_algebra.py": "a rule for each op",
    "passes/in_place/update_regions.py": "the views that keep elements in their order",
    "passes/placement/pass_numbers.py": "a rule for each op",
    "passes/regions/keep_scalars.py": "a rule for each op",
    "runtime/cuda/open_plan.py": "how MLIR compares integers, no ops",
}

# Of the other passes, those that ask for single ops by name.
OWN_NAMES = {
    "passes/cleanup/concatenations.py": "concatenations, which it builds anew",
    "passes/cleanup/drop_redundant_copies.py": "conversions, by the places of their operands",
    "passes/cleanup/fold_concatenations.py": "concatenations, by the places of their operands",
    "passes/cleanup/fold_constants.py": "expansions of one number, which take no memory",
    "passes/cleanup/fold_row_sums.py": "what rows that are added once are made of",
    "passes/cleanup/join_products.py": "products, and views of heads, by the places of their operands",
    "passes/cleanup/fold_one_hot_sums.py": "what one-hot vectors are made of",
    "passes/cleanup/sink_expansions.py": "the op that the pass moves",
    "passes/cleanup/unify_sums.py": "sums and means, of which it makes one form",
    "passes/launches/import_plans.py": "steps of plans, no ops",
    "passes/launches/plan_numbers.py": "MLIR's arithmetic of integers, no ops",
    "passes/launches/verify_launches.py": "how MLIR compares integers, no ops",
    "passes/layouts/channels_last.py": "convolutions, by the places of their operands",
    "passes/layouts/moments.py": "variances, which it computes of sums",
    "passes/layouts/windows.py": "pooling, by the places of its operands",
    "passes/layouts/lay_out_convolutions.py": "convolutions, and expansions that it builds anew",
    "passes/levels/check_layouts.py": "arithmetic of numbers",
    "passes/levels/check_ops.py": "arithmetic of numbers",
    "passes/placement/joins.py": "the call that writes a slice where it belongs",
    "passes/placement/open_sizes.py": "splits, by the places of their operands",
    "passes/placement/placement_rules.py": "permutations alone, of the views that reorder dimensions",
    "passes/placement/sink_gathers.py": "the op that the pass moves",
    "passes/placement/slow_reductions.py": "sums, of which a pass makes others; the row's `is_sum` is of means, too",
    "passes/regions/cut_into_blocks.py": "sums and means, in the form that others are brought to",
    "passes/regions/gpu_sums.py": "sums and means, of which it makes others",
    "passes/regions/raise_slices.py": "slices, and views that it builds anew of them",
    "passes/regions/split_softmax.py": "what the sum of a softmax is made of",
    "passes/regions/split_reductions.py": "sums and means, of which it makes others",
    "passes/regions/summation_order.py": "permutations, by the places of their operands",
    "passes/regions/write_scattered.py": "fills, by the places of their operands",
    "passes/rewriting/pointwise.py": "conversions, by the places of their operands",
    "passes/rewriting/slices.py": "slices, by the places of their operands",
}


def ops_named_in(source: Path) -> Iterator[tuple[int, list[str]]]:
    """The collections and split texts of a file that name more than one op, by line: as texts, or as PyTorch's ops."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        listed: list[ast.expr | None] = []
        if isinstance(node, ast.Tuple | ast.Set | ast.List):
            listed = [*node.elts]
        elif isinstance(node, ast.Dict):
            listed = node.keys
        words = [each.value for each in listed if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "split":
            text = node.func.value
            words = text.value.split() if isinstance(text, ast.Constant) and isinstance(text.value, str) else []
        found = [name for word in words if (name := _op(word)) in NAMES]
        found += [called[1] for each in listed if each is not None and (called := OVERLOAD.match(ast.unparse(each)))]
        if len(set(found)) > 1:
            yield node.lineno, found


def ops_asked_for_in(source: Path, module: ModuleType) -> Iterator[tuple[int, list[str]]]:
    """The comparisons in a file, and the calls that compare, with names of ops, by line.

    A constant stands for its value in `module`, which is that file.
    """
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Compare):
            asked = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in COMPARING:
            asked = node.args
        elif isinstance(node, ast.MatchValue):
            asked = [node.value]
        words = [word for each in asked for part in ast.walk(each) for word in _words(part, module)]
        found = [name for word in words if word not in NO_OPS and (name := _op(word)) in NAMES]
        if found:
            yield node.lineno, found


COMPARING = ("made_by", "startswith", "endswith")
NO_OPS = ("view", "split", LOAD)
"""A placement, a level and an op on memory, which happen to have names of ATen's ops."""


def _words(node: ast.AST, module: ModuleType) -> list[str]:
    """The texts that an expression is, or a constant that it names."""
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(node, ast.Name):
        value = getattr(module, node.id, None)
    listed = value if isinstance(value, tuple | list | set | frozenset | dict) else [value]
    return [each for each in listed if isinstance(each, str)]


OVERLOAD = re.compile(r"(?:torch\.ops\.)?_?(?:aten|prims)\.(\w+)[\w.]*$")
"""An op of PyTorch's, or one of its overloads: `torch.ops.aten.add.Tensor`, `aten.add`; the group is the op's name."""


def _op(word: str) -> str:
    """The op's name in "torch.aten.add.Tensor", "aten.add.Tensor" or "add"; "" if it can't be one."""
    parts = word.removeprefix("torch.").removeprefix("aten.").removeprefix("prims.").split(".")
    return parts[0] if len(parts) < 3 else ""


def test_no_sets_of_ops():
    """Would catch a table beside the rows, which an op that is added later is not in."""
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    named = {
        str(path.relative_to(ROOT)): found
        for path in sources
        if "torch_facts/rows" not in str(path) and (found := list(ops_named_in(path)))
    }
    assert {path: found for path, found in named.items() if path not in OWN_RULES} == {}
    assert set(OWN_RULES) == set(named), "an exception without a user"


def test_passes_ask_rows():
    """Would catch an op that is told by its name: another one that is alike is taken otherwise, with no reason."""
    asking = set()
    for path in (ROOT / "passes").rglob("[!_]*.py"):
        name = str(path.relative_to(ROOT))
        module = import_module(f"dovetail.{name.removesuffix('.py').replace('/', '.')}")
        if name not in OWN_RULES and list(ops_asked_for_in(path, module)):
            asking.add(name)
    assert asking == set(OWN_NAMES)


def test_comparisons_are_found(tmp_path):
    """A search that finds nothing would prove nothing."""
    (tmp_path / "a.py").write_text(
        'op.name == "torch.aten.clone"\nop.name in _JOINS\nmade_by(x, NAME)\nx == "view"\nx == "no op"\n'
        'match x:\n    case "expand":\n        pass\n'
    )
    module = ModuleType("a")
    vars(module).update(_JOINS=("torch.aten.cat", "torch.aten.stack"), NAME="torch.aten.mul.Tensor")
    found = [(1, ["clone"]), (2, ["cat", "stack"]), (3, ["mul"]), (7, ["expand"])]
    assert sorted(ops_asked_for_in(tmp_path / "a.py", module)) == found


def test_sets_are_found(tmp_path):
    """A search that finds nothing would prove nothing."""
    (tmp_path / "a.py").write_text('A = {"aten.add.Tensor", "mul"}\nB = "cat stack".split()\nC = {"add": 1, "x": 2}\n')
    assert list(ops_named_in(tmp_path / "a.py")) == [(1, ["add", "mul"]), (2, ["cat", "stack"])]
    (tmp_path / "b.py").write_text("A = (torch.ops.aten.lstm, aten.gru.input)\nB = {_aten.add.Tensor: 1, aten: 2}\n")
    assert list(ops_named_in(tmp_path / "b.py")) == [(1, ["lstm", "gru"])]
