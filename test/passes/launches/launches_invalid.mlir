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
  // expected-error @+1 {{'dovetail.subspan' op expects a tensor of known rank, a transient or a constant, got '!dovetail.buffer'}}
  %s = "dovetail.subspan"(%b) {offset = 0 : i64, length = 4 : i64} : (!dovetail.buffer) -> !dovetail.buffer
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroups' to count x, y and z, got [8]}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", operandSegmentSizes = array<i32: 1, 0>, workgroups = [8]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'constants' to hold integers from 0 up, got -1 : i64}}
  "dovetail.dispatch"(%b) {constants = [-1], entry = "add", operandSegmentSizes = array<i32: 1, 0>, workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%x: !torch.vtensor<[4],f32>, %b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op has no attribute 'workgroup', expected 'entry', 'workgroups', 'constants', 'workgroup_size', 'shared_memory', 'sets' or 'waits'}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", operandSegmentSizes = array<i32: 1, 0>, workgroup = 1, workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroup_size' to count x, y and z, got [128]}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", operandSegmentSizes = array<i32: 1, 0>, shared_memory = 0 : i64, workgroup_size = [128], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroup_size' to hold integers from 0 up, got -1 : i64}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", operandSegmentSizes = array<i32: 1, 0>, shared_memory = 0 : i64, workgroup_size = [-1, 1, 1], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroup_size' and 'shared_memory' together}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", operandSegmentSizes = array<i32: 1, 0>, workgroup_size = [128, 1, 1], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%b: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'shared_memory' to be an integer from 0 up, got -1}}
  "dovetail.dispatch"(%b) {constants = [], entry = "add", operandSegmentSizes = array<i32: 1, 0>, shared_memory = -1 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%a: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'waits' to be a unit attribute, got 1 : i64}}
  "dovetail.dispatch"(%a) {constants = [], entry = "e", operandSegmentSizes = array<i32: 1, 0>, shared_memory = 0 : i64, waits = 1, workgroup_size = [128, 1, 1], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%a: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroup_size' beside 'waits'}}
  "dovetail.dispatch"(%a) {constants = [], entry = "e", operandSegmentSizes = array<i32: 1, 0>, waits, workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%a: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'sets' to be an integer from 1 up, got 0 : i64}}
  "dovetail.dispatch"(%a) {constants = [], entry = "e", operandSegmentSizes = array<i32: 1, 0>, sets = 0 : i64, shared_memory = 0 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%a: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 'workgroup_size' beside 'sets'}}
  "dovetail.dispatch"(%a) {constants = [], entry = "e", operandSegmentSizes = array<i32: 1, 0>, sets = 2 : i64, workgroups = [8, 1, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%a: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 1 to 2 workgroups in y, as 'sets' says, got 3}}
  "dovetail.dispatch"(%a) {constants = [], entry = "e", operandSegmentSizes = array<i32: 1, 0>, sets = 2 : i64, shared_memory = 0 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 3, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case(%a: !dovetail.buffer) {
  // expected-error @+1 {{'dovetail.dispatch' op expects 2 sets of equally many bindings, got 1}}
  "dovetail.dispatch"(%a) {constants = [], entry = "e", operandSegmentSizes = array<i32: 1, 0>, sets = 2 : i64, shared_memory = 0 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 2, 1]} : (!dovetail.buffer) -> ()
  return
}

// -----

func.func @case() {
  // expected-error @+1 {{'dovetail.dispatch' op expects 2 sets of equally many bindings, got 0}}
  "dovetail.dispatch"() {constants = [], entry = "e", operandSegmentSizes = array<i32: 0, 0>, sets = 2 : i64, shared_memory = 0 : i64, workgroup_size = [128, 1, 1], workgroups = [8, 2, 1]} : () -> ()
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

// -----

func.func @case(%x: !torch.vtensor<[?],f32>, %n: index) {
  // expected-error @+1 {{'dovetail.subspan' op expects a number for each of the 2 open offsets and lengths, got 1}}
  %s = "dovetail.subspan"(%x, %n) {length = -9223372036854775808 : i64, offset = -9223372036854775808 : i64} : (!torch.vtensor<[?],f32>, index) -> !dovetail.buffer
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @+1 {{'dovetail.transient' op expects a number for each of the 0 open bytes, got 1}}
  %t = "dovetail.transient"(%n) {bytes = 4 : i64} : (index) -> !dovetail.buffer
  return
}

// -----

func.func @case(%b: !dovetail.buffer, %n: index) {
  // expected-error @+1 {{'dovetail.dispatch' op expects a number for each of the 0 open workgroups and constants, got 1}}
  "dovetail.dispatch"(%b, %n) {constants = [], entry = "add", operandSegmentSizes = array<i32: 1, 1>, workgroups = [8, 1, 1]} : (!dovetail.buffer, index) -> ()
  return
}

// -----

func.func @case(%x: !torch.vtensor<[?],f32>) {
  // expected-error @+1 {{'dovetail.size' op expects 'dim' to be one of 1, got 1 : i64}}
  %n = "dovetail.size"(%x) {dim = 1 : i64} : (!torch.vtensor<[?],f32>) -> index
  return
}

// -----

func.func @case(%x: !torch.vtensor<[?],f32>) {
  // expected-error @+1 {{'dovetail.size' op expects a tensor and its 'dim', or a number, got '!torch.vtensor<[?],f32>'}}
  %n = "dovetail.size"(%x) : (!torch.vtensor<[?],f32>) -> index
  return
}

// -----

func.func @case(%k: !torch.int) {
  // expected-error @+1 {{'dovetail.size' op has no 'dim' of a number}}
  %n = "dovetail.size"(%k) {dim = 0 : i64} : (!torch.int) -> index
  return
}

// -----

func.func @case(%n: index) {
  // expected-error @+1 {{'dovetail.check_range' op expects a range, got 4 to 3}}
  "dovetail.check_range"(%n) {least = 4 : i64, most = 3 : i64} : (index) -> ()
  return
}
