// Would catch a root that is merged or dropped by effects it has not, or of what is no number of floating point.
// RUN: dovetail-opt %s --split-input-file --verify-diagnostics | dovetail-opt --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @f
// CHECK-SAME: (%[[S:.*]]: !torch.float)
func.func @f(%s: !torch.float) -> !torch.float {
  // CHECK: "dovetail.sqrt"(%[[S]]) : (!torch.float) -> !torch.float
  %0 = "dovetail.sqrt"(%s) : (!torch.float) -> !torch.float
  return %0 : !torch.float
}

// -----

func.func @f(%n: !torch.int) -> !torch.float {
  // expected-error @below {{'dovetail.sqrt' op expects a '!torch.float', got '!torch.int'}}
  %0 = "dovetail.sqrt"(%n) : (!torch.int) -> !torch.float
  return %0 : !torch.float
}
