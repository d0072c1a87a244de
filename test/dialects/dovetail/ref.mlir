// RUN: dovetail-opt %s -o %t
// RUN: dovetail-opt %t | diff %t -
// RUN: FileCheck %s < %t
//
// Catches a `!dovetail.ref` that loses sizes, element type or strides in a round trip: of a scalar, an empty tensor, an
// expanded one (stride 0), a transposed one, and of every kind of element type; and one that forgets its device.

// CHECK: func.func private @scalar(!dovetail.ref<!torch.vtensor<[],f64>, strided<[]>>)
func.func private @scalar(!dovetail.ref<!torch.vtensor<[],f64>, strided<[]>>)
// CHECK: func.func private @empty(!dovetail.ref<!torch.vtensor<[0,3],si64>, strided<[3, 1]>>)
func.func private @empty(!dovetail.ref<!torch.vtensor<[0,3],si64>, strided<[3, 1]>>)
// CHECK: func.func private @expanded(!dovetail.ref<!torch.vtensor<[2,3],i1>, strided<[0, 1]>>)
func.func private @expanded(!dovetail.ref<!torch.vtensor<[2,3],i1>, strided<[0, 1]>>)
// CHECK: func.func private @transposed(!dovetail.ref<!torch.vtensor<[2,3],bf16>, strided<[1, 2]>>)
func.func private @transposed(!dovetail.ref<!torch.vtensor<[2,3],bf16>, strided<[1, 2]>>)
// CHECK: func.func private @complex(!dovetail.ref<!torch.vtensor<[1],complex<f32>>, strided<[1]>>)
func.func private @complex(!dovetail.ref<!torch.vtensor<[1],complex<f32>>, strided<[1]>>)
// CHECK: func.func private @bytes(!dovetail.ref<!torch.vtensor<[1],ui8>, strided<[1]>>)
func.func private @bytes(!dovetail.ref<!torch.vtensor<[1],ui8>, strided<[1]>>)
// CHECK: func.func private @elsewhere(!dovetail.ref<!torch.vtensor<[2],f32>, #dovetail.layout<strided<[1]>, "cuda:0">>)
func.func private @elsewhere(!dovetail.ref<!torch.vtensor<[2],f32>, #dovetail.layout<strided<[1]>, "cuda:0">>)
