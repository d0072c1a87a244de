"""Texts of regions with one tensor, for GPUs."""


def region(shape: str, dtype: str, ops: str, result: str = "") -> str:
    """A region of one tensor, `%x`, and one result, `%y`."""
    value, made = f"!torch.vtensor<[{shape}],{dtype}>", f"[{result or shape}],{dtype}>"
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


SOFTMAX = "%y = torch.aten._softmax %x, %one, %false : !X, !torch.int, !torch.bool -> !X"
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
