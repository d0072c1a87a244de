// Would catch a function that no pass would look at, since nothing says what it is for, or two where one is meant.
// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=split}' --split-input-file --verify-diagnostics

module attributes {dovetail.level = "split"} {
  // expected-error @below {{'@call' expects 'dovetail.role' to be "call", "forward", "backward", "border", "guard", "region", "subgraph" or "layouts", got "caller"}}
  func.func @call() attributes {dovetail.role = "caller"} {
    return
  }
}

// -----

module attributes {dovetail.level = "split"} {
  // expected-error @below {{'@call' expects 'dovetail.role' to be "call", "forward", "backward", "border", "guard", "region", "subgraph" or "layouts", got 1 : i64}}
  func.func @call() attributes {dovetail.role = 1 : i64} {
    return
  }
}

// -----

module attributes {dovetail.level = "split"} {
  func.func @call() attributes {dovetail.role = "call"} {
    return
  }
  // expected-error @below {{'@forward' of 'dovetail.role' "joint" has no place at level 'split', expected "call", "forward", "backward", "border", "guard", "region", "subgraph" or "layouts"}}
  func.func @forward() attributes {dovetail.role = "joint"} {
    return
  }
}

// -----

module attributes {dovetail.level = "split"} {
  func.func @call() attributes {dovetail.role = "call"} {
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  // expected-error @below {{is a second function of 'dovetail.role' "forward"}}
  func.func @again() attributes {dovetail.role = "forward"} {
    return
  }
}

// -----

module attributes {dovetail.level = "split"} {
  func.func @call() attributes {dovetail.role = "call"} {
    return
  }
  func.func @forward() attributes {dovetail.role = "forward"} {
    return
  }
  // expected-error @below {{refers to '@call', which is no backward}}
  func.func private @apply() attributes {dovetail.role = "border", dovetail.forward = @forward, dovetail.backward = @call}
}

// -----

module attributes {dovetail.level = "split"} {
  func.func @call() attributes {dovetail.role = "call"} {
    return
  }
  // expected-error @below {{expects 'dovetail.mutated' to be 0 to 0 of its arguments, got none}}
  func.func private @guard() attributes {dovetail.role = "guard"}
}
