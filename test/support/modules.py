"""Small modules for the tests of the commands."""

TRAINED = """\
!v = !torch.vtensor<[2,3],f32>
!r = !dovetail.ref<!v, strided<[3, 1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @guard(!r {dovetail.name = "b"}, !r {dovetail.name = "x"})
      attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @joint(%x: !r {dovetail.name = "x", dovetail.requires_grad}, %b: !r {dovetail.name = "b"}) -> !r
      attributes {dovetail.role = "joint"} {
    call @guard(%b, %x) : (!r, !r) -> ()
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%b) : (!r) -> !v
    %2 = torch.aten.exp %0 : !v -> !v
    %3 = torch.aten.mul.Tensor %2, %1 : !v, !v -> !v
    %4 = torch.aten.neg %1 : !v -> !v
    "dovetail.write"(%4, %b) {mode = "no_grad"} : (!v, !r) -> ()
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %5 = "dovetail.read"(%t) : (!r) -> !v
    %6 = torch.aten.mul.Tensor %5, %3 : !v, !v -> !v
    "dovetail.gradient"(%6, %x) : (!v, !r) -> ()
    return %o : !r
  }
}
"""
"""`o = exp(x) * b; b = -b`, and the gradient for x, which is o times that for o."""

SHARED = """\
!v = !torch.vtensor<[3],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func private @guard(
    !r {dovetail.name = "x", dovetail.group = 0 : i64, dovetail.start = 0 : i64, dovetail.root = 0 : i64,
        dovetail.object = 0 : i64},
    !r {dovetail.name = "y", dovetail.group = 0 : i64, dovetail.start = 4 : i64, dovetail.root = 0 : i64,
        dovetail.object = 1 : i64}) attributes {dovetail.mutated = 0 : i64, dovetail.role = "guard"}
  func.func @joint(%x: !r {dovetail.name = "x"}, %y: !r {dovetail.name = "y"}) -> !r
      attributes {dovetail.role = "joint"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %2 = torch.aten.mul.Tensor %0, %1 : !v, !v -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
"""
"""`x * y`, where y begins at the second element of x."""
