// RUN: dovetail-opt %s --pass-pipeline='plan-memory,verify-memory,inline-regions{regions=forward_region_1},verify-memory' -o %t
// RUN: FileCheck %s --check-prefix=INLINED < %t
// RUN: dovetail-opt %t --pass-pipeline='plan-memory,verify-memory' | FileCheck %s --check-prefix=PLANNED
// RUN: dovetail-opt %s --pass-pipeline='plan-memory,inline-regions{regions=forward_region_1},plan-memory,verify-memory,inline-regions{regions=forward_region_0},plan-memory,verify-memory' --run-check -o %t
//
// Catches what is left of a memory plan when a region in the middle is replaced, whose result was in another's memory
// and whose own memory is used again.

!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !r
    return %0 : !r
  }
  // INLINED-LABEL: func.func @forward(
  // INLINED-NOT: dovetail.reuse
  // INLINED-NOT: dovetail.free
  // PLANNED-LABEL: func.func @forward(
  // PLANNED: %[[A:.*]] = "dovetail.alloc"
  // PLANNED: call @forward_region_0({{.*}}%[[A]])
  // PLANNED: %[[EXP:.*]] = torch.operator "torch.aten.exp"
  // PLANNED: %[[C:.*]] = "dovetail.reuse"(%[[A]])
  // PLANNED: call @forward_region_2(%[[EXP]], %[[C]])
  // PLANNED: "dovetail.free"(%[[EXP]])
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a) : (!v, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_1(%1, %b) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %b : !v
    %c = "dovetail.alloc"() : () -> !m
    call @forward_region_2(%2, %c) : (!v, !m) -> ()
    %3 = torch.copy.to_vtensor %c : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @forward_region_0(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %t = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %0 = torch.aten.sin %t : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_1(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %t = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %0 = torch.aten.exp %t : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
  func.func private @forward_region_2(%x: !v, %a: !m) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %t = torch.aten.transpose.int %x, %zero, %one : !v, !torch.int, !torch.int -> !v
    %0 = torch.aten.cos %t : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v, !m
    return
  }
}
