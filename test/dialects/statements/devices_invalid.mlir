// Would catch memory on a device that torch has no word for, and a view or a tangent on another device than its memory.
// RUN: dovetail-opt %s --split-input-file --verify-diagnostics

func.func @no_number() {
  // expected-error @below {{'dovetail.alloc' op expects 'device' to be "cpu" or a device with its number, such as "cuda:0", got "cuda"}}
  %0 = "dovetail.alloc"() {device = "cuda"} : () -> !torch.tensor<[4],f32>
  return
}

// -----

func.func @no_text() {
  // expected-error @below {{'dovetail.alloc' op expects 'device' to be "cpu" or a device with its number, such as "cuda:0", got 0 : i64}}
  %0 = "dovetail.alloc"() {device = 0 : i64} : () -> !torch.tensor<[4],f32>
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[4],f32>, #dovetail.layout<strided<[1]>, "gpu">>
func.func @no_device(%x: !r) {
  // expected-error @below {{'dovetail.detach' op expects the device of '!dovetail.ref<!torch.vtensor<[4],f32>, #dovetail.layout<strided<[1]>, "gpu">>' to be "cpu" or a device with its number, such as "cuda:0"}}
  %0 = "dovetail.detach"(%x) : (!r) -> !r
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[4],f32>, #dovetail.layout<strided<[1]>, "cuda:0">>
!s = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
func.func @view(%x: !r) {
  // expected-error @below {{'dovetail.view' op expects refs to memory on one device, got '!dovetail.ref<!torch.vtensor<[4],f32>, #dovetail.layout<strided<[1]>, "cuda:0">>' and '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>'}}
  %0 = "dovetail.view"(%x) {args = [], callee = "aten.alias.default", index = -1 : i64} : (!r) -> !s
  return
}

// -----

!r = !dovetail.ref<!torch.vtensor<[4],f32>, #dovetail.layout<strided<[1]>, "cuda:0">>
!s = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
func.func @tangent(%x: !torch.vtensor<[4],f32>) {
  %o = "dovetail.own"(%x) {requires_grad = true} : (!torch.vtensor<[4],f32>) -> !s
  // expected-error @below {{'dovetail.tangent' op expects refs to memory on one device, got '!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>' and '!dovetail.ref<!torch.vtensor<[4],f32>, #dovetail.layout<strided<[1]>, "cuda:0">>'}}
  %t = "dovetail.tangent"(%o) : (!s) -> !r
  return
}
