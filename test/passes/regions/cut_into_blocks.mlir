// RUN: dovetail-opt %s --pass-pipeline='cut-into-blocks,choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=cut-into-blocks --run-check -o %t
//
// Catches loops that read single elements, since IREE merges a transposition with what goes by no blocks; and long rows in
// blocks of 64 columns, since something in them is repeated; what repeats little needs no
// variant. And rows that are summed and taken eight at once, which drive each other out of the cache; longer ones are not. And parts of rows
// that IREE stores and copies, one number at a time, since nothing asks for them where they belong.

!x = !torch.vtensor<[256,512],f32>
!y = !torch.vtensor<[512,256],f32>
!s = !torch.vtensor<[512],f32>
!w = !torch.vtensor<[2,512,256],f32>
!xm = !torch.tensor<[256,512],f32>
!ym = !torch.tensor<[512,256],f32>
!sm = !torch.tensor<[512],f32>
!wm = !torch.tensor<[2,512,256],f32>
!l = !torch.vtensor<[512,1024],f32>
!lm = !torch.tensor<[512,1024],f32>
!xr = !dovetail.ref<!x, strided<[512, 1]>>
!yr = !dovetail.ref<!y, strided<[256, 1]>>
!sr = !dovetail.ref<!s, strided<[1]>>
!wr = !dovetail.ref<!w, strided<[131072, 256, 1]>>

module attributes {dovetail.level = "regions"} {
  func.func @call(%x: !xr, %y: !yr, %w: !wr) -> (!yr, !sr, !yr, !sr, !wr, !yr) attributes {dovetail.role = "call"} {
    %0:6 = call @forward(%x, %y, %w) : (!xr, !yr, !wr) -> (!yr, !sr, !yr, !sr, !wr, !yr)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5 : !yr, !sr, !yr, !sr, !wr, !yr
  }
  func.func @forward(%x: !xr, %y: !yr, %w: !wr) -> (!yr, !sr, !yr, !sr, !wr, !yr) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!xr) -> !x
    %1 = "dovetail.read"(%y) : (!yr) -> !y
    %2 = "dovetail.read"(%w) : (!wr) -> !w
    %a = "dovetail.alloc"() : () -> !ym
    %b = "dovetail.alloc"() : () -> !sm
    call @elements_beside_a_sum(%0, %1, %a, %b) : (!x, !y, !ym, !sm) -> ()
    %3 = torch.copy.to_vtensor %a : !y
    %4 = torch.copy.to_vtensor %b : !s
    %c = "dovetail.alloc"() : () -> !ym
    %d = "dovetail.alloc"() : () -> !sm
    call @elements_that_are_summed(%0, %1, %c, %d) : (!x, !y, !ym, !sm) -> ()
    %5 = torch.copy.to_vtensor %c : !y
    %6 = torch.copy.to_vtensor %d : !s
    %e = "dovetail.alloc"() : () -> !wm
    call @repeated(%0, %2, %e) : (!x, !w, !wm) -> ()
    %7 = torch.copy.to_vtensor %e : !w
    %f = "dovetail.alloc"() : () -> !ym
    call @copied(%0, %f) : (!x, !ym) -> ()
    %8 = torch.copy.to_vtensor %f : !y
    %o = "dovetail.own"(%3) {requires_grad = false} : (!y) -> !yr
    %p = "dovetail.own"(%4) {requires_grad = false} : (!s) -> !sr
    %q = "dovetail.own"(%5) {requires_grad = false} : (!y) -> !yr
    %r = "dovetail.own"(%6) {requires_grad = false} : (!s) -> !sr
    %t = "dovetail.own"(%7) {requires_grad = false} : (!w) -> !wr
    %u = "dovetail.own"(%8) {requires_grad = false} : (!y) -> !yr
    return %o, %p, %q, %r, %t, %u : !yr, !sr, !yr, !sr, !wr, !yr
  }
  // CHECK: func.func private @elements_beside_a_sum({{.*}} attributes {dovetail.driver = "local-sync", dovetail.role = "region", dovetail.variant = "by-blocks"}
  func.func private @elements_beside_a_sum(%x: !x, %y: !y, %a: !ym, %b: !sm) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order : !x, !torch.list<int> -> !y
    %1 = torch.aten.add.Tensor %0, %y, %one : !y, !y, !torch.int -> !y
    %2 = torch.aten.sum.dim_IntList %y, %dims, %false, %none : !y, !torch.list<int>, !torch.bool, !torch.none -> !s
    torch.overwrite.tensor.contents %1 overwrites %a : !y, !ym
    torch.overwrite.tensor.contents %2 overwrites %b : !s, !sm
    return
  }
  // CHECK: func.func private @elements_that_are_summed({{.*}} attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  func.func private @elements_that_are_summed(%x: !x, %y: !y, %a: !ym, %b: !sm) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order : !x, !torch.list<int> -> !y
    %1 = torch.aten.add.Tensor %0, %y, %one : !y, !y, !torch.int -> !y
    %2 = torch.aten.sum.dim_IntList %1, %dims, %false, %none : !y, !torch.list<int>, !torch.bool, !torch.none -> !s
    torch.overwrite.tensor.contents %1 overwrites %a : !y, !ym
    torch.overwrite.tensor.contents %2 overwrites %b : !s, !sm
    return
  }
  // CHECK: func.func private @repeated({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region"}
  func.func private @repeated(%x: !x, %w: !w, %a: !wm) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order : !x, !torch.list<int> -> !y
    %1 = torch.aten.add.Tensor %w, %0, %one : !w, !y, !torch.int -> !w
    torch.overwrite.tensor.contents %1 overwrites %a : !w, !wm
    return
  }
  // CHECK: func.func private @copied({{.*}} attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  func.func private @copied(%x: !x, %a: !ym) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order : !x, !torch.list<int> -> !y
    torch.overwrite.tensor.contents %0 overwrites %a : !y, !ym
    return
  }
  // CHECK: func.func private @with_a_row({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region", dovetail.variant = "by-blocks"}
  func.func private @with_a_row(%x: !l, %y: !torch.vtensor<[1024],f32>, %a: !lm) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !l, !torch.vtensor<[1024],f32> -> !l
    torch.overwrite.tensor.contents %0 overwrites %a : !l, !lm
    return
  }
  // CHECK: func.func private @with_a_number({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region"}
  func.func private @with_a_number(%x: !l, %y: !torch.vtensor<[1,1],f32>, %a: !lm) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !l, !torch.vtensor<[1,1],f32> -> !l
    torch.overwrite.tensor.contents %0 overwrites %a : !l, !lm
    return
  }
  // CHECK: func.func private @small_with_a_row({{.*}} attributes {dovetail.driver = "local-sync", dovetail.role = "region"}
  func.func private @small_with_a_row(%x: !x, %y: !s, %a: !xm) attributes {dovetail.role = "region"} {
    %0 = torch.aten.mul.Tensor %x, %y : !x, !s -> !x
    torch.overwrite.tensor.contents %0 overwrites %a : !x, !xm
    return
  }
  // CHECK: func.func private @with_its_sums({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region", dovetail.variant = "by-blocks"}
  func.func private @with_its_sums(%x: !torch.vtensor<[512,1024],f32>, %a: !torch.tensor<[512,1024],f32>) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %true, %none : !torch.vtensor<[512,1024],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[512,1],f32>
    %1 = torch.aten.sub.Tensor %x, %0, %one : !torch.vtensor<[512,1024],f32>, !torch.vtensor<[512,1],f32>, !torch.int -> !torch.vtensor<[512,1024],f32>
    torch.overwrite.tensor.contents %1 overwrites %a : !torch.vtensor<[512,1024],f32>, !torch.tensor<[512,1024],f32>
    return
  }
  // CHECK: func.func private @with_sums_of_short_rows({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region"}
  func.func private @with_sums_of_short_rows(%x: !torch.vtensor<[8192,64],f32>, %a: !torch.tensor<[8192,64],f32>) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %true, %none : !torch.vtensor<[8192,64],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[8192,1],f32>
    %1 = torch.aten.sub.Tensor %x, %0, %one : !torch.vtensor<[8192,64],f32>, !torch.vtensor<[8192,1],f32>, !torch.int -> !torch.vtensor<[8192,64],f32>
    torch.overwrite.tensor.contents %1 overwrites %a : !torch.vtensor<[8192,64],f32>, !torch.tensor<[8192,64],f32>
    return
  }
  // CHECK: func.func private @with_sums_of_long_rows({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region"}
  func.func private @with_sums_of_long_rows(%x: !torch.vtensor<[128,4096],f32>, %a: !torch.tensor<[128,4096],f32>) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %true = torch.constant.bool true
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %true, %none : !torch.vtensor<[128,4096],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[128,1],f32>
    %1 = torch.aten.sub.Tensor %x, %0, %one : !torch.vtensor<[128,4096],f32>, !torch.vtensor<[128,1],f32>, !torch.int -> !torch.vtensor<[128,4096],f32>
    torch.overwrite.tensor.contents %1 overwrites %a : !torch.vtensor<[128,4096],f32>, !torch.tensor<[128,4096],f32>
    return
  }
  // CHECK: func.func private @joined({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region", dovetail.variant = "by-parts"}
  func.func private @joined(%x: !l, %a: !torch.tensor<[512,2048],f32>) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %0 = torch.aten.neg %x : !l -> !l
    %1 = torch.aten.exp %x : !l -> !l
    %2 = torch.prim.ListConstruct %0, %1 : (!l, !l) -> !torch.list<vtensor>
    %3 = torch.aten.cat %2, %one : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[512,2048],f32>
    torch.overwrite.tensor.contents %3 overwrites %a : !torch.vtensor<[512,2048],f32>, !torch.tensor<[512,2048],f32>
    return
  }
  // CHECK: func.func private @joined_end_to_end({{.*}} attributes {dovetail.driver = "local-task", dovetail.role = "region"}
  func.func private @joined_end_to_end(%x: !l, %a: !torch.tensor<[1024,1024],f32>) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %0 = torch.aten.neg %x : !l -> !l
    %1 = torch.aten.exp %x : !l -> !l
    %2 = torch.prim.ListConstruct %0, %1 : (!l, !l) -> !torch.list<vtensor>
    %3 = torch.aten.cat %2, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[1024,1024],f32>
    torch.overwrite.tensor.contents %3 overwrites %a : !torch.vtensor<[1024,1024],f32>, !torch.tensor<[1024,1024],f32>
    return
  }
}
