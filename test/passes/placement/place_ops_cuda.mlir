// RUN: dovetail-opt %s --pass-pipeline='place-ops' | FileCheck %s
//
// Catches reductions on a GPU that one thread would run, or no kernel of ours is good at, in regions; and small ones,
// which cost nothing there, left to ATen. One thread reduces a row by itself that 32 threads do not divide; of a million
// numbers it adds up, five digits are right. Also halves that ATen joins beside a region that computes them and goes on with
// the result, and a sum of the two gradients of a repeated row that is ATen's; and extremes of
// whole numbers, which a kernel has from lanes that hold none.

!x = !torch.vtensor<[8192,1024],f32>
!odd = !torch.vtensor<[5003,1001],f32>
!whole = !torch.vtensor<[65536],si64>
!few = !torch.vtensor<[64],si64>
!alone = !torch.vtensor<[1,999983],f32>
!long = !torch.vtensor<[7,65537],f32>
!even = !torch.vtensor<[1,131072],f32>
!short = !torch.vtensor<[7,8],f32>
!joined = !torch.vtensor<[7,16],f32>
!part = !torch.vtensor<[7,8192],f32>
!nine = !torch.vtensor<[9,16384],f32>
!image = !torch.vtensor<[32,64,28,28],f32>
module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%xr: !dovetail.ref<!x, strided<[1024, 1]>>, %or: !dovetail.ref<!odd, strided<[1001, 1]>>, %wr: !dovetail.ref<!whole, strided<[1]>>, %fr: !dovetail.ref<!few, strided<[1]>>, %ir: !dovetail.ref<!image, strided<[50176, 784, 28, 1]>>, %ar: !dovetail.ref<!alone, strided<[999983, 1]>>, %lr: !dovetail.ref<!long, strided<[65537, 1]>>, %er: !dovetail.ref<!even, strided<[131072, 1]>>, %nr: !dovetail.ref<!nine, strided<[16384, 1]>>) attributes {dovetail.role = "forward"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %int0 = torch.constant.int 0
    %int1 = torch.constant.int 1
    %int2 = torch.constant.int 2
    %int3 = torch.constant.int 3
    %first = torch.prim.ListConstruct %int0 : (!torch.int) -> !torch.list<int>
    %last = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
    %apart = torch.prim.ListConstruct %int0, %int2, %int3 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%xr) : (!dovetail.ref<!x, strided<[1024, 1]>>) -> !x
    %o = "dovetail.read"(%or) : (!dovetail.ref<!odd, strided<[1001, 1]>>) -> !odd
    %w = "dovetail.read"(%wr) : (!dovetail.ref<!whole, strided<[1]>>) -> !whole
    %f = "dovetail.read"(%fr) : (!dovetail.ref<!few, strided<[1]>>) -> !few
    %i = "dovetail.read"(%ir) : (!dovetail.ref<!image, strided<[50176, 784, 28, 1]>>) -> !image
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "on a GPU, lanes that hold no whole number start from a wrong one"} : !torch.vtensor<[64],si64>
    %extreme = torch.aten.amax %f, %first, %false : !few, !torch.list<int>, !torch.bool -> !torch.vtensor<[],si64>
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "region"} : !torch.vtensor<[8192,1024],f32>
    %0 = torch.aten.sum.dim_IntList %x, %first, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1024],f32>
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "region"} : !torch.vtensor<[5003,1001],f32>
    %1 = torch.aten.sum.dim_IntList %o, %last, %false, %none : !odd, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[5003],f32>
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces columns but by 16, of 64 rows"}
    %2 = torch.aten.sum.dim_IntList %o, %first, %false, %none : !odd, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1001],f32>
    // CHECK: torch.aten.sum {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "one thread would reduce each row of whole or wide numbers"}
    %3 = torch.aten.sum %w, %none : !whole, !torch.none -> !torch.vtensor<[],si64>
    // CHECK: torch.aten.sum {{.*}} {dovetail.placement = "region"}
    %4 = torch.aten.sum %f, %none : !few, !torch.none -> !torch.vtensor<[],si64>
    // CHECK: torch.aten.cumsum {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "one workgroup computes all of it"}
    %counted = torch.aten.cumsum %w, %int0, %none : !whole, !torch.int, !torch.none -> !whole
    // CHECK: torch.aten.mean.dim {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces dimensions that lie apart"}
    %5 = torch.aten.mean.dim %i, %apart, %false, %none : !image, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[64],f32>
    // CHECK: torch.aten.logsumexp {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "not measured on GPUs"}
    %6 = torch.aten.logsumexp %x, %last, %false : !x, !torch.list<int>, !torch.bool -> !torch.vtensor<[8192],f32>
    %a = "dovetail.read"(%ar) : (!dovetail.ref<!alone, strided<[999983, 1]>>) -> !alone
    %l = "dovetail.read"(%lr) : (!dovetail.ref<!long, strided<[65537, 1]>>) -> !long
    %e = "dovetail.read"(%er) : (!dovetail.ref<!even, strided<[131072, 1]>>) -> !even
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces one row of 999983 numbers"}
    %7 = torch.aten.sum.dim_IntList %a, %last, %false, %none : !alone, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[1],f32>
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces one row of 999983 numbers"}
    %8 = torch.aten.amax %a, %last, %false : !alone, !torch.list<int>, !torch.bool -> !torch.vtensor<[1],f32>
    // CHECK: torch.aten._softmax {{.*}} {dovetail.placement = "fallback", dovetail.placement_reason = "no kernel reduces rows of 65537 numbers"}
    %9 = torch.aten._softmax %l, %int1, %false : !long, !torch.int, !torch.bool -> !long
    // CHECK: torch.aten._softmax {{.*}} {dovetail.placement = "region"}
    %10 = torch.aten._softmax %e, %int1, %false : !even, !torch.int, !torch.bool -> !even
    // COM: Parts: short ones that a region computes or goes on with; such that nothing computes; long ones.
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "region"} : {{.*}} -> !torch.vtensor<[7,16],f32>
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "region"} : {{.*}} -> !torch.vtensor<[7,16],f32>
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "ATen copies rows of several tensors faster than a loop over the result's elements"} : {{.*}} -> !torch.vtensor<[7,16],f32>
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "library", {{.*}} -> !torch.vtensor<[7,16384],f32>
    %eight = torch.constant.int 8
    %twos = torch.constant.int 16384
    %many = torch.constant.int 8192
    %11 = torch.aten.slice.Tensor %l, %int1, %int0, %eight, %int1 : !long, !torch.int, !torch.int, !torch.int, !torch.int -> !short
    %12 = torch.aten.slice.Tensor %l, %int1, %int0, %many, %int1 : !long, !torch.int, !torch.int, !torch.int, !torch.int -> !part
    %13 = torch.aten.neg %11 : !short -> !short
    %14 = torch.aten.neg %12 : !part -> !part
    %15 = torch.prim.ListConstruct %13, %11 : (!short, !short) -> !torch.list<vtensor>
    %16 = torch.aten.cat %15, %int1 : !torch.list<vtensor>, !torch.int -> !joined
    %17 = torch.prim.ListConstruct %11, %11 : (!short, !short) -> !torch.list<vtensor>
    %18 = torch.aten.cat %17, %int1 : !torch.list<vtensor>, !torch.int -> !joined
    %19 = torch.aten.exp %18 : !joined -> !joined
    %20 = torch.aten.cat %17, %int1 : !torch.list<vtensor>, !torch.int -> !joined
    %21 = torch.prim.ListConstruct %14, %12 : (!part, !part) -> !torch.list<vtensor>
    %22 = torch.aten.cat %21, %int1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[7,16384],f32>
    // COM: Sums of eight columns, and of nine.
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "region"} : !torch.vtensor<[8,16384],f32>
    // CHECK: torch.aten.sum.dim_IntList {{.*}} {dovetail.placement = "fallback", {{.*}} : !torch.vtensor<[9,16384],f32>
    // CHECK: torch.aten.amax {{.*}} {dovetail.placement = "fallback", {{.*}} : !torch.vtensor<[8,16384],f32>
    %twice = torch.prim.ListConstruct %eight, %twos : (!torch.int, !torch.int) -> !torch.list<int>
    %23 = torch.aten.view %e, %twice : !even, !torch.list<int> -> !torch.vtensor<[8,16384],f32>
    %24 = torch.aten.sum.dim_IntList %23, %first, %false, %none : !torch.vtensor<[8,16384],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[16384],f32>
    %25 = "dovetail.read"(%nr) : (!dovetail.ref<!nine, strided<[16384, 1]>>) -> !nine
    %26 = torch.aten.sum.dim_IntList %25, %first, %false, %none : !nine, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[16384],f32>
    %27 = torch.aten.amax %23, %first, %false : !torch.vtensor<[8,16384],f32>, !torch.list<int>, !torch.bool -> !torch.vtensor<[16384],f32>
    return
  }
}
