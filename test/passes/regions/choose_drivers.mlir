// RUN: dovetail-opt %s --pass-pipeline='choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=choose-drivers --run-check -o %t
// RUN: not dovetail-opt %s --pass-pipeline='verify-level{level=regions}' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/local-task/local-thread/' %s | not dovetail-opt --pass-pipeline='choose-drivers,verify-level{level=regions}' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
//
// Catches a region of which the text does not say what runs it, and one for which tuning's choice is overwritten.

!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!w = !torch.vtensor<[1048576],f32>
!n = !torch.tensor<[1048576],f32>
!s = !dovetail.ref<!w, strided<[1]>>

// NONE: 'func.func' op expects 'dovetail.driver' to be one of local-sync, local-task, got none
// UNKNOWN: 'func.func' op expects 'dovetail.driver' to be one of local-sync, local-task, got "local-thread"
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r, %y: !s) -> (!r, !r, !s) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%x, %y) : (!r, !s) -> (!r, !r, !s)
    return %0#0, %0#1, %0#2 : !r, !r, !s
  }
  func.func @forward(%x: !r, %y: !s) -> (!r, !r, !s) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!s) -> !w
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_1(%0, %b) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %b : !v
    %c = "dovetail.alloc"() : () -> !n
    call @forward_region_2(%1, %c) : (!w, !n) -> ()
    %4 = torch.copy.to_vtensor %c : !w
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%4) {requires_grad = false} : (!w) -> !s
    return %o, %p, %q : !r, !r, !s
  }
  // CHECK: func.func private @forward_region_0({{.*}} attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
  // COM: Chosen already.
  // CHECK: func.func private @forward_region_1({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region"}
  func.func private @forward_region_1(%x: !v, %a: !m) attributes {dovetail.driver = "local-task", dovetail.role = "region"} {
    %0 = torch.aten.sin %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
  // COM: 4 MiB in, 4 MiB out.
  // CHECK: func.func private @forward_region_2({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region"}
  func.func private @forward_region_2(%x: !w, %a: !n) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !w -> !w
    torch.overwrite.tensor.contents %0 overwrites %a : !w, !n
    return
  }
}
