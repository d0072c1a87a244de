// RUN: dovetail-opt %s --pass-pipeline='verify-level{level=joint}' --split-input-file --verify-diagnostics
//
// Catches control flow that ends in a Python error, or in wrong values, when it runs: functions that are missing, of
// another type, or that run themselves.

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op expects 'dovetail.else' to name a function}}
    %0 = torch.operator "torch.dovetail.cond"(%p, %v) {dovetail.then = @f, dovetail.reason = "control flow"} : (!b, !v) -> !v
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op refers to '@g', which is no subgraph}}
    %0 = torch.operator "torch.dovetail.cond"(%p, %v) {dovetail.then = @f, dovetail.else = @g, dovetail.reason = "control flow"} : (!b, !v) -> !v
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op refers to '@joint', which is no subgraph}}
    %0 = torch.operator "torch.dovetail.cond"(%p, %v) {dovetail.then = @joint, dovetail.else = @f, dovetail.reason = "control flow"} : (!b, !v) -> !v
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op expects one truth value as its first operand, got '!torch.vtensor<[4],f32>'}}
    %0 = torch.operator "torch.dovetail.cond"(%v, %v) {dovetail.then = @f, dovetail.else = @f, dovetail.reason = "control flow"} : (!v, !v) -> !v
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op expects one truth value as its first operand, got nothing}}
    %0 = torch.operator "torch.dovetail.cond"() {dovetail.then = @f, dovetail.else = @f, dovetail.reason = "control flow"} : () -> !v
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op expects '@f' to be of type '(!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>', got '(!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>'}}
    %0 = torch.operator "torch.dovetail.cond"(%p, %v, %v) {dovetail.then = @f, dovetail.else = @f, dovetail.reason = "control flow"} : (!b, !v, !v) -> !v
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op expects its first operands to be of its results' types: the values that it carries}}
    %0 = torch.operator "torch.dovetail.while_loop"(%v) {dovetail.condition = @c, dovetail.body = @f, dovetail.reason = "control flow"} : (!v) -> !b
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
  func.func private @c(%x: !v) -> !b attributes {dovetail.role = "subgraph"} {
    %none = torch.constant.none
    %0 = torch.operator "torch.aten.any"(%x) : (!v) -> !b
    return %0 : !b
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op expects one truth value from '@f', got '!torch.vtensor<[4],f32>'}}
    %0 = torch.operator "torch.dovetail.while_loop"(%v) {dovetail.condition = @f, dovetail.body = @f, dovetail.reason = "control flow"} : (!v) -> !v
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    // expected-error @below {{'torch.operator' op expects '@c' to be of type '(!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>', got '(!torch.vtensor<[4],f32>) -> !torch.vtensor<[],i1>'}}
    %0 = torch.operator "torch.dovetail.while_loop"(%v) {dovetail.condition = @c, dovetail.body = @c, dovetail.reason = "control flow"} : (!v) -> !v
    return
  }
  func.func private @c(%x: !v) -> !b attributes {dovetail.role = "subgraph"} {
    %none = torch.constant.none
    %0 = torch.operator "torch.aten.any"(%x) : (!v) -> !b
    return %0 : !b
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b
    %0 = torch.operator "torch.dovetail.cond"(%p, %v) {dovetail.then = @g, dovetail.else = @f, dovetail.reason = "control flow"} : (!b, !v) -> !v
    return
  }
  func.func private @f(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    return %x : !v
  }
  // expected-error @below {{'func.func' op '@g' runs itself, directly or through others}}
  func.func private @g(%x: !v) -> !v attributes {dovetail.role = "subgraph"} {
    %p = torch.operator "torch.aten.any"(%x) : (!v) -> !b
    %0 = torch.operator "torch.dovetail.cond"(%p, %x) {dovetail.then = @g, dovetail.else = @f, dovetail.reason = "control flow"} : (!b, !v) -> !v
    return %0 : !v
  }
}

// -----

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r, %q: !dovetail.ref<!b, strided<[]>>) attributes {dovetail.role = "joint"} {
    %v = "dovetail.read"(%x) : (!r) -> !v
    %p = "dovetail.read"(%q) : (!dovetail.ref<!b, strided<[]>>) -> !b

    return
  }
  func.func private @g(%x: !r) -> !v attributes {dovetail.role = "subgraph"} {
    // expected-error @below {{'dovetail.read' op has no place in '@g' at level 'joint'}}
    %0 = "dovetail.read"(%x) : (!r) -> !v
    return %0 : !v
  }
}
