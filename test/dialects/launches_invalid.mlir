// RUN: dovetail-opt %s --split-input-file --verify-diagnostics
//
// Catches launches that reach beyond their memory, and misspelt attributes.

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.transient' op expects 'bytes' to be an integer from 0 up, got -1}}
  %t = "dovetail.transient"() {bytes = -1 : i64} : () -> !dovetail.buffer
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.subspan' op expects bytes inside of its operand's 16, got 8 to 20}}
  %s = "dovetail.subspan"(%x) {offset = 8 : i64, length = 12 : i64} : (!torch.vtensor<[4],f32>) -> !dovetail.buffer
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.subspan' op expects 'offset' to be an integer from 0 up, got -4}}
  %s = "dovetail.subspan"(%x) {offset = -4 : i64, length = 4 : i64} : (!torch.vtensor<[4],f32>) -> !dovetail.buffer
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.subspan' op expects a static tensor, a transient or a constant, got '!dovetail.buffer'}}
  %s = "dovetail.subspan"(%b) {offset = 0 : i64, length = 4 : i64} : (!dovetail.buffer) -> !dovetail.buffer
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroups' to count x, y and z, got [8]}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", workgroups = [8]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'constants' to hold integers from 0 up, got -1 : i64}}
  "dovetail.dispatch"(%b) {constants = [-1], entry = "add", workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op has no attribute 'workgroup', expected 'entry', 'workgroups', 'constants', 'workgroup_size' or 'shared_memory'}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", workgroup = 1, workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroup_size' to count x, y and z, got [128]}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", shared_memory = 0 : i64, workgroup_size = [128], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroup_size' to hold integers from 0 up, got -1 : i64}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", shared_memory = 0 : i64, workgroup_size = [-1, 1, 1], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroup_size' and 'shared_memory' together}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", workgroup_size = [128, 1, 1], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'shared_memory' to be an integer from 0 up, got -1}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", shared_memory = -1 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.fill_buffer' op expects a pattern of 8, 16, 32 or 64 bits, got 1 : i24}}
  "dovetail.fill_buffer"(%b) {pattern = 1 : i24} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.barrier' op has no attribute 'late', expected none}}
  "dovetail.barrier"() {late} : () -> ()
  return
}

// -----

func.func @case() {
  // expected-error @+1 {{'dovetail.constant' op expects 'data' to be bytes in hexadecimal, got '0g'}}
  %c = "dovetail.constant"() {data = "0g"} : () -> !dovetail.buffer
  return
}

// -----

func.func @case() {
  %c = "dovetail.constant"() {data = "00ff"} : () -> !dovetail.buffer
  // expected-error @+1 {{'dovetail.subspan' op expects bytes inside of its operand's 2, got 0 to 4}}
  %s = "dovetail.subspan"(%c) {offset = 0 : i64, length = 4 : i64} : (!dovetail.buffer) -> !dovetail.buffer
  return
}
