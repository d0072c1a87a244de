"""Texts of regions with one tensor, for GPUs."""

from torch_mlir import ir

from dovetail.backends.compiling.launch_plans import LaunchPlan
from dovetail.dialects.attributes import ROLE
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.statements.plans import digest, plans
from dovetail.passes.launches.import_plans import import_plans
from dovetail.runtime.cuda.open_plan import OpenRecord
from dovetail.runtime.cuda.plan_record import PlanRecord
from dovetail.runtime.cuda.read_plan import read_record


def region(shape: str, dtype: str, ops: str, result: str = "", made_in: str = "") -> str:
    """A region of one tensor, `%x`, and one result, `%y`, of other sizes or another dtype where these are given."""
    value, made = f"!torch.vtensor<[{shape}],{dtype}>", f"[{result or shape}],{made_in or dtype}>"
    ops = ops.replace("!X", value).replace("!Y", f"!torch.vtensor<{made}")
    return f"""module {{
  func.func @main(%x: {value}, %o: !torch.tensor<{made}) {{
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %rows = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    {ops}
    torch.overwrite.tensor.contents %y overwrites %o : !torch.vtensor<{made}, !torch.tensor<{made}
    return
  }}
}}
"""


TURN = """%two = torch.constant.int 2
    %order = torch.prim.ListConstruct %zero, %two, %one : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %turned = torch.aten.permute %x, %order : !X, !torch.list<int> -> {turned}
    %number = torch.constant.int {number}
    %y = torch.prims.convert_element_type %turned, %number : {turned}, !torch.int -> {made}"""
_NUMBERS = {"si8": 1, "f16": 5, "f32": 6, "f64": 7, "bf16": 15}
"""Of dtypes, in torch."""


def turn(shape: str, dtype: str, result: str = "") -> str:
    """A region that turns a tensor of three sizes, [a, b, c] to [a, c, b], in the dtype `result`."""
    first, second, third = shape.split(",")
    turned = f"{first},{third},{second}"
    types = (f"!torch.vtensor<[{turned}],{each}>" for each in (dtype, result or dtype))
    ops = TURN.format(number=_NUMBERS[result or dtype], turned=next(types), made=next(types))
    if "?" in shape:
        return open_region(shape, ops, turned)
    return region(shape, dtype, ops, turned, result)


def open_region(shape: str, ops: str, result: str = "") -> str:
    """A region of float32 like `region`, which says that each `?` of the shape is a symbol of at least 2."""
    text, value = region(shape, "f32", ops, result), f"!torch.vtensor<[{shape}],f32>"
    count = shape.count("?")
    numbers = iter(range(count))
    sizes = ", ".join(f"s{next(numbers)}" if size == "?" else size for size in shape.split(","))
    symbols, operands = (", ".join(f"{each}{number}" for number in range(count)) for each in ("s", "%n"))
    made = "".join(
        f'\n    %n{number} = torch.symbolic_int "s{number}" {{min_val = 2, max_val = 9223372036854775807}} : !torch.int'
        for number in range(count)
    )
    bound = f"\n    torch.bind_symbolic_shape %x, [{operands}], affine_map<()[{symbols}] -> ({sizes})> : {value}"
    start, brace, end = text.partition(") {")
    return start + brace + made + bound + end


def record_of(text: str, compiled: LaunchPlan) -> PlanRecord | OpenRecord:
    """What the plan of the region `text` says, once it was imported, printed and parsed."""
    module = parse_module(text, make_context())
    with module.context:
        module.body.operations[0].attributes[ROLE] = ir.StringAttr.get("region")
    import_plans(module, {"main": (compiled.steps, digest(compiled.code))})
    printed = parse_module(str(module), make_context())
    [plan] = plans(printed).values()
    return read_record(plan)


_SUM = "torch.aten.sum.dim_IntList"
_SUM_TYPES = "!torch.list<int>, !torch.bool, !torch.none"
SOFTMAX = "%y = torch.aten._softmax %x, %one, %false : !X, !torch.int, !torch.bool -> !X"


def rounded_softmax(shape: str, dtype: str, *, is_log: bool = False) -> str:
    """A region of a softmax of rows, or of its logarithm, in float32, as they are traced: rounded in the end."""
    *rows, _ = shape.split(",")
    wide, kept = (f"!torch.vtensor<[{each}],f32>" for each in (shape, ",".join([*rows, "1"])))
    end = (
        f"""%log = torch.aten.log %sum : {kept} -> {kept}
    %w = torch.aten.sub.Tensor %less, %log, %one : {wide}, {kept}, !torch.int -> {wide}"""
        if is_log
        else f"%w = torch.aten.div.Tensor %e, %sum : {wide}, {kept} -> {wide}"
    )
    return region(
        shape,
        dtype,
        f"""%six = torch.constant.int 6
    %number = torch.constant.int {_NUMBERS[dtype]}
    %end = torch.constant.int -1
    %true = torch.constant.bool true
    %last = torch.prim.ListConstruct %end : (!torch.int) -> !torch.list<int>
    %wide = torch.prims.convert_element_type %x, %six : !X, !torch.int -> {wide}
    %largest = torch.aten.amax %wide, %last, %true : {wide}, !torch.list<int>, !torch.bool -> {kept}
    %less = torch.aten.sub.Tensor %wide, %largest, %one : {wide}, {kept}, !torch.int -> {wide}
    %e = torch.aten.exp %less : {wide} -> {wide}
    %sum = {_SUM} %e, %last, %true, %none : {wide}, {_SUM_TYPES} -> {kept}
    {end}
    %y = torch.prims.convert_element_type %w, %number : {wide}, !torch.int -> !X""",
    )


TANH = "%y = torch.aten.tanh %x : !X -> !X"
COLUMNS = (
    "%y = torch.aten.sum.dim_IntList %x, %rows, %false, %none : !X, !torch.list<int>, !torch.bool, !torch.none -> !Y"
)
ROUNDED_COLUMNS = """%six = torch.constant.int 6
    %fifteen = torch.constant.int 15
    %wide = torch.prims.convert_element_type %x, %six : !X, !torch.int -> !torch.vtensor<[2048,1024],f32>
    %sum = torch.aten.sum.dim_IntList %wide, %rows, %false, %none : !torch.vtensor<[2048,1024],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1024],f32>
    %y = torch.prims.convert_element_type %sum, %fifteen : !torch.vtensor<[1024],f32>, !torch.int -> !Y"""  # noqa: E501 - MLIR
"""Of 2048 by 1024 numbers of bfloat16."""


def rounded_columns(rows: int, columns: int) -> str:
    """`%y`: the sums of columns of bfloat16, each added up in float32 and rounded."""
    return ROUNDED_COLUMNS.replace("2048,1024", f"{rows},{columns}").replace("[1024]", f"[{columns}]")


def moments_of_parts(parts: int, count: int, channels: int) -> str:
    """`%y`: the variance of the rows of each part of `%x`, about the mean of 64 of them."""
    few, kept = f"!torch.vtensor<[{parts},64,{channels}],f32>", f"!torch.vtensor<[{parts},1,{channels}],f32>"
    all_, first = (f"!torch.vtensor<[{parts},64,{each},{channels}],f32>" for each in (count // 64, 1))
    ints, three = ", ".join(["!torch.int"] * 4), ", ".join(["!torch.int"] * 3)
    total = "%middle, %true, %none"
    return f"""%true = torch.constant.bool true
    %two = torch.constant.int 2
    %p = torch.constant.int {parts}
    %f = torch.constant.int 64
    %s = torch.constant.int {count // 64}
    %c = torch.constant.int {channels}
    %few = torch.constant.float 64.0
    %all = torch.constant.float {float(count)}
    %middle = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %a = torch.prim.ListConstruct %p, %f, %s, %c : ({ints}) -> !torch.list<int>
    %b = torch.prim.ListConstruct %p, %f, %c : ({three}) -> !torch.list<int>
    %0 = torch.aten.reshape %x, %a : !X, !torch.list<int> -> {all_}
    %1 = torch.aten.slice.Tensor %0, %two, %zero, %one, %one : {all_}, {ints} -> {first}
    %2 = torch.aten.reshape %1, %b : {first}, !torch.list<int> -> {few}
    %3 = {_SUM} %2, {total} : {few}, {_SUM_TYPES} -> {kept}
    %4 = torch.aten.div.Scalar %3, %few : {kept}, !torch.float -> {kept}
    %5 = torch.aten.sub.Tensor %x, %4, %one : !X, {kept}, !torch.int -> !X
    %6 = {_SUM} %5, {total} : !X, {_SUM_TYPES} -> {kept}
    %7 = torch.aten.div.Scalar %6, %all : {kept}, !torch.float -> {kept}
    %8 = torch.aten.mul.Tensor %5, %5 : !X, !X -> !X
    %9 = {_SUM} %8, {total} : !X, {_SUM_TYPES} -> {kept}
    %10 = torch.aten.div.Scalar %9, %all : {kept}, !torch.float -> {kept}
    %11 = torch.aten.mul.Tensor %7, %7 : {kept}, {kept} -> {kept}
    %y = torch.aten.sub.Tensor %10, %11, %one : {kept}, {kept}, !torch.int -> !Y"""
