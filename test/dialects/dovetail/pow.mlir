// Would catch a power of what is no number of floating point, or one that is none.
// RUN: dovetail-opt %s --split-input-file --verify-diagnostics | dovetail-opt --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[B:.*]]: !torch.float, %[[E:.*]]: !torch.float)
func.func @f(%b: !torch.float, %e: !torch.float) -> !torch.float {
  // CHECK: "dovetail.pow"(%[[B]], %[[E]]) : (!torch.float, !torch.float) -> !torch.float
  %0 = "dovetail.pow"(%b, %e) : (!torch.float, !torch.float) -> !torch.float
  return %0 : !torch.float
}

// -----

func.func @f(%b: !torch.float, %n: !torch.int) -> !torch.float {
  // expected-error @below {{'dovetail.pow' op expects a '!torch.float', got '!torch.int'}}
  %0 = "dovetail.pow"(%b, %n) : (!torch.float, !torch.int) -> !torch.float
  return %0 : !torch.float
}
