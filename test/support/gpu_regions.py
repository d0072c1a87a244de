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
