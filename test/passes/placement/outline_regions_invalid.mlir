// RUN: dovetail-opt %s --pass-pipeline='outline-regions' --split-input-file --verify-diagnostics
//
// Catches an op that is outlined, or called, without anybody having said where it runs.

module attributes {dovetail.level = "split"} {
  func.func @forward(%x: !torch.vtensor<[4],f32>) attributes {dovetail.role = "forward"} {
    // expected-error @below {{'torch.aten.exp' op has no 'dovetail.placement', run 'place-ops' first}}
    %0 = torch.aten.exp %x : !torch.vtensor<[4],f32> -> !torch.vtensor<[4],f32>
    return
  }
}

// -----

module attributes {dovetail.level = "split"} {
  func.func @forward(%x: !torch.vtensor<[4],f32>) attributes {dovetail.role = "forward"} {
    // expected-error @below {{'torch.tensor_static_info_cast' op can't be called on the host: it is no ATen op}}
    %0 = torch.tensor_static_info_cast %x {dovetail.placement = "fallback", dovetail.placement_reason = "none"}
        : !torch.vtensor<[4],f32> to !torch.vtensor<[4],f32>
    return
  }
}
