// RUN: dovetail-opt %s --cut-into-blocks | FileCheck %s
//
// Catches transpositions of open sizes that are written to memory first, columns that are added up by twos, and
// blocks asked for where a loop may have more elements than what is transposed, or sums of it, or of few columns. And rows of open length that
// are taken four at a time: sums of them, and what computes them by their sums, ask for one; extrema alone do not.
// And a list of tensors that is asked for its sizes, where what is transposed is split.

!m = !torch.vtensor<[?,?],f32>
!v = !torch.vtensor<[?],f32>
!mm = !torch.tensor<[?,?],f32>
!vm = !torch.tensor<[?],f32>
#m = affine_map<()[s0, s1] -> (s0, s1)>
#t = affine_map<()[s0, s1] -> (s1, s0)>
#c = affine_map<()[s0, s1] -> (s1)>
#r = affine_map<()[s0] -> (s0)>
#one = affine_map<()[s0] -> (s0, 1)>
#w = affine_map<()[s0, s1, s2] -> (s2, s1, s0)>
#four = affine_map<()[s0, s1] -> (s0, 4, s1)>
#turned = affine_map<()[s0, s1] -> (4, s1, s0)>
#first = affine_map<()[s0, s1] -> (3, s1, s0)>
#last = affine_map<()[s0, s1] -> (1, s1, s0)>
module attributes {dovetail.level = "regions"} {
  // CHECK: func.func private @turned({{.*}} attributes {dovetail.role = "region", dovetail.variant = "by-blocks"}
  func.func private @turned(%x: !m {dovetail.sizes = #m}, %y: !m {dovetail.sizes = #t}, %to: !mm) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order {dovetail.sizes = [#t]} : !m, !torch.list<int> -> !m
    %1 = torch.aten.add.Tensor %0, %y, %one {dovetail.sizes = [#t]} : !m, !m, !torch.int -> !m
    torch.overwrite.tensor.contents %1 overwrites %to : !m, !mm
    return
  }
  // CHECK: func.func private @repeated({{.*}} attributes {dovetail.role = "region"}
  func.func private @repeated(%x: !m {dovetail.sizes = #m}, %y: !torch.vtensor<[?,?,?],f32> {dovetail.sizes = #w}, %to: !torch.tensor<[?,?,?],f32>) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order {dovetail.sizes = [#t]} : !m, !torch.list<int> -> !m
    %1 = torch.aten.add.Tensor %y, %0, %one {dovetail.sizes = [#w]} : !torch.vtensor<[?,?,?],f32>, !m, !torch.int -> !torch.vtensor<[?,?,?],f32>
    torch.overwrite.tensor.contents %1 overwrites %to : !torch.vtensor<[?,?,?],f32>, !torch.tensor<[?,?,?],f32>
    return
  }
  // CHECK: func.func private @split({{.*}} attributes {dovetail.role = "region"}
  func.func private @split(%x: !torch.vtensor<[?,4,?],f32> {dovetail.sizes = #four}, %to: !torch.tensor<[3,?,?],f32>) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %three = torch.constant.int 3
    %order = torch.prim.ListConstruct %one, %two, %zero : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order {dovetail.sizes = [#turned]} : !torch.vtensor<[?,4,?],f32>, !torch.list<int> -> !torch.vtensor<[4,?,?],f32>
    %counts = torch.prim.ListConstruct %three, %one : (!torch.int, !torch.int) -> !torch.list<int>
    %1 = torch.aten.split_with_sizes %0, %counts, %zero : !torch.vtensor<[4,?,?],f32>, !torch.list<int>, !torch.int -> !torch.list<vtensor>
    %2:2 = torch.prim.ListUnpack %1 {dovetail.sizes = [#first, #last]} : !torch.list<vtensor> -> !torch.vtensor<[3,?,?],f32>, !torch.vtensor<[1,?,?],f32>
    %3 = torch.aten.sin %2#0 {dovetail.sizes = [#first]} : !torch.vtensor<[3,?,?],f32> -> !torch.vtensor<[3,?,?],f32>
    torch.overwrite.tensor.contents %3 overwrites %to : !torch.vtensor<[3,?,?],f32>, !torch.tensor<[3,?,?],f32>
    return
  }
  // CHECK: func.func private @columns({{.*}} attributes {dovetail.role = "region", dovetail.variant = "by-blocks"}
  func.func private @columns(%x: !m {dovetail.sizes = #m}, %to: !vm) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %false, %none {dovetail.sizes = [#c]} : !m, !torch.list<int>, !torch.bool, !torch.none -> !v
    torch.overwrite.tensor.contents %0 overwrites %to : !v, !vm
    return
  }
  // CHECK: func.func private @largest({{.*}} attributes {dovetail.role = "region"}
  func.func private @largest(%x: !m {dovetail.sizes = #m}, %to: !vm) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.amax %x, %dims, %false {dovetail.sizes = [#r]} : !m, !torch.list<int>, !torch.bool -> !v
    torch.overwrite.tensor.contents %0 overwrites %to : !v, !vm
    return
  }
  // CHECK: func.func private @rows({{.*}} attributes {dovetail.role = "region", dovetail.variant = "by-blocks"}
  func.func private @rows(%x: !m {dovetail.sizes = #m}, %to: !vm) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %false, %none {dovetail.sizes = [#r]} : !m, !torch.list<int>, !torch.bool, !torch.none -> !v
    torch.overwrite.tensor.contents %0 overwrites %to : !v, !vm
    return
  }
  // CHECK: func.func private @softened({{.*}} attributes {dovetail.role = "region", dovetail.variant = "by-blocks"}
  func.func private @softened(%x: !m {dovetail.sizes = #m}, %to: !mm) attributes {dovetail.role = "region"} {
    %last = torch.constant.int -1
    %true = torch.constant.bool true
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %true, %none {dovetail.sizes = [#one]} : !m, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[?,1],f32>
    %1 = torch.aten.div.Tensor %x, %0 {dovetail.sizes = [#m]} : !m, !torch.vtensor<[?,1],f32> -> !m
    torch.overwrite.tensor.contents %1 overwrites %to : !m, !mm
    return
  }
  // CHECK: func.func private @turned_and_added_up({{.*}} attributes {dovetail.role = "region"}
  func.func private @turned_and_added_up(%x: !m {dovetail.sizes = #t}, %to: !vm) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.permute %x, %order {dovetail.sizes = [#m]} : !m, !torch.list<int> -> !m
    %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none {dovetail.sizes = [#c]} : !m, !torch.list<int>, !torch.bool, !torch.none -> !v
    torch.overwrite.tensor.contents %1 overwrites %to : !v, !vm
    return
  }
  // CHECK: func.func private @known_columns({{.*}} attributes {dovetail.role = "region", dovetail.variant = "by-blocks"}
  func.func private @known_columns(%x: !torch.vtensor<[4096,128],f32>, %to: !torch.tensor<[128],f32>) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %false, %none : !torch.vtensor<[4096,128],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[128],f32>
    torch.overwrite.tensor.contents %0 overwrites %to : !torch.vtensor<[128],f32>, !torch.tensor<[128],f32>
    return
  }
  // CHECK: func.func private @short_rows({{.*}} attributes {dovetail.role = "region"}
  func.func private @short_rows(%x: !torch.vtensor<[?,10],f32> {dovetail.sizes = affine_map<()[s0] -> (s0, 10)>}, %to: !torch.tensor<[10],f32>) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %0 = torch.aten.sum.dim_IntList %x, %dims, %false, %none : !torch.vtensor<[?,10],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[10],f32>
    torch.overwrite.tensor.contents %0 overwrites %to : !torch.vtensor<[10],f32>, !torch.tensor<[10],f32>
    return
  }
}
