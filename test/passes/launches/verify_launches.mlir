// RUN: dovetail-opt %s --split-input-file --verify-launches --verify-diagnostics
//
// Catches plans that write what they may not, read what nobody wrote, or belong to another region, sets of one launch that
// bind the same memory, and those that read an operand where a result was written.

// A sound plan: no error is expected.
!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    %t = "dovetail.transient"() {bytes = 128 : i64} : () -> !b
    %d = "dovetail.subspan"(%t) {offset = 0 : i64, length = 128 : i64} : (!b) -> !b
    "dovetail.fill_buffer"(%d) {pattern = 0 : i32} : (!b) -> ()
    "dovetail.barrier"() : () -> ()
    "dovetail.copy_buffer"(%d, %c) : (!b, !b) -> ()
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  // expected-error @+1 {{'@p' takes (!torch.vtensor<[32],f32>, !torch.tensor<[32],f32>, !torch.tensor<[32],f32>) -> (), its region '@r' takes}}
  func.func private @p(%x: !v, %o: !m, %q: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  // expected-error @+1 {{'@p' is for '@q', the regions are: @r}}
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @q, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  // expected-error @+1 {{'@p' expects 'dovetail.code' to be the digest of its code}}
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

// An update that changes nothing, which IREE leaves out, as it does `x |= false`: no error is expected.
!v = !torch.vtensor<[32],i1>
!m = !torch.tensor<[32],i1>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %x : !v
    %1 = torch.aten.logical_or %0, %0 : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %x : !v, !m
    return
  }
  func.func private @p(%x: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  // expected-error @+1 {{'@p' never writes argument 1 of '@r', a result}}
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    // expected-error @+1 {{overwrites argument 0, a value of type '!torch.vtensor<[32],f32>'}}
    "dovetail.fill_buffer"(%a) {pattern = 0 : i32} : (!b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    %t = "dovetail.transient"() {bytes = 128 : i64} : () -> !b
    %d = "dovetail.subspan"(%t) {offset = 0 : i64, length = 128 : i64} : (!b) -> !b
    // expected-error @+1 {{reads a transient that nothing has written}}
    "dovetail.copy_buffer"(%d, %c) : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    %h = "dovetail.subspan"(%o) {offset = 64 : i64, length = 64 : i64} : (!m) -> !b
    // expected-error @+1 {{copies 64 bytes to 128}}
    "dovetail.copy_buffer"(%h, %c) : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %g = "dovetail.subspan"(%o) {offset = 0 : i64, length = 96 : i64} : (!m) -> !b
    %h = "dovetail.subspan"(%o) {offset = 32 : i64, length = 96 : i64} : (!m) -> !b
    // expected-error @+1 {{copies between bytes that overlap}}
    "dovetail.copy_buffer"(%g, %h) : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 32 : i64, length = 64 : i64} : (!m) -> !b
    // expected-error @+1 {{binds memory from byte 32, expected one of 64}}
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 6 : i64} : (!m) -> !b
    // expected-error @+1 {{fills 6 bytes by 4}}
    "dovetail.fill_buffer"(%c) {pattern = 0 : i32} : (!b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    // expected-error @+1 {{has no place in a plan, expected one of 'dovetail.barrier'}}
    %n = torch.constant.none
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
  // expected-error @+1 {{'@p2' is a second plan for '@r'}}
  func.func private @p2(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %t = "dovetail.constant"() {data = "00000000"} : () -> !b
    %d = "dovetail.subspan"(%t) {offset = 0 : i64, length = 4 : i64} : (!b) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 4 : i64} : (!m) -> !b
    "dovetail.copy_buffer"(%d, %c) : (!b, !b) -> ()
    // expected-error @+1 {{overwrites a constant}}
    "dovetail.fill_buffer"(%d) {pattern = 0 : i32} : (!b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    // expected-error @+1 {{has a 'workgroup_size' on a CPU}}
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, shared_memory = 0 : i64, workgroup_size = [32, 1, 1], workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches", dovetail.target = "cuda:sm_90"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    // expected-error @+1 {{expects 'workgroup_size' on a GPU}}
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

// A sound one on a GPU.
!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches", dovetail.target = "cuda:sm_90"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, shared_memory = 0 : i64, workgroup_size = [32, 1, 1], workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

// A sound plan whose numbers follow from sizes: no error is expected.
!v = !torch.vtensor<[?],f32>
!m = !torch.tensor<[?],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %k: !torch.int, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %k: !torch.int, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %n = "dovetail.size"(%x) {dim = 0 : i64} : (!v) -> index
    %l = "dovetail.size"(%k) : (!torch.int) -> index
    "dovetail.check_equal"(%n, %l) : (index, index) -> ()
    "dovetail.check_range"(%n) {least = 1 : i64, most = 512 : i64} : (index) -> ()
    %four = arith.constant 4 : index
    %bytes = arith.muli %n, %four : index
    %groups = arith.ceildivsi %n, %four : index
    %t = "dovetail.transient"(%bytes) {bytes = -9223372036854775808 : i64} : (index) -> !b
    %a = "dovetail.subspan"(%x, %bytes) {length = -9223372036854775808 : i64, offset = 0 : i64} : (!v, index) -> !b
    %c = "dovetail.subspan"(%o, %bytes) {length = -9223372036854775808 : i64, offset = 0 : i64} : (!m, index) -> !b
    %d = "dovetail.subspan"(%t, %bytes) {length = -9223372036854775808 : i64, offset = 0 : i64} : (!b, index) -> !b
    "dovetail.fill_buffer"(%d) {pattern = 0 : i32} : (!b) -> ()
    "dovetail.barrier"() : () -> ()
    "dovetail.copy_buffer"(%d, %c) : (!b, !b) -> ()
    "dovetail.dispatch"(%a, %c, %groups, %n) {constants = [-9223372036854775808], entry = "e", operandSegmentSizes = array<i32: 2, 2>, workgroups = [-9223372036854775808, 1, 1]} : (!b, !b, index, index) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[?],f32>
!m = !torch.tensor<[?],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %n = "dovetail.size"(%x) {dim = 0 : i64} : (!v) -> index
    %a = "dovetail.subspan"(%x, %n) {length = -9223372036854775808 : i64, offset = 32 : i64} : (!v, index) -> !b
    %c = "dovetail.subspan"(%o, %n) {length = -9223372036854775808 : i64, offset = 32 : i64} : (!m, index) -> !b
    // expected-error @+1 {{binds memory from byte 32, expected one of 64}}
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[?],f32>
!m = !torch.tensor<[?],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    // expected-error @+1 {{computes with 'i32', expected numbers of type 'index'}}
    %n = arith.constant 32 : i32
    return
  }
}

// -----

!v = !torch.vtensor<[?],f32>
!m = !torch.tensor<[?],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %n = "dovetail.size"(%x) {dim = 0 : i64} : (!v) -> index
    // expected-error @+1 {{compares without signs, expected one of eq, ne, slt, sle, sgt, sge}}
    %c = arith.cmpi ult, %n, %n : index
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%d: !m, %p: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.neg %0 : !v -> !v
    %2 = torch.aten.exp %1 : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %p : !v, !m
    return
  }
  func.func private @p(%d: !m, %p: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%d) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    %c = "dovetail.subspan"(%p) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%d: !m, %p: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.neg %0 : !v -> !v
    %2 = torch.aten.exp %1 : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %p : !v, !m
    return
  }
  // expected-error @+1 {{'@p' touches argument 0 of '@r' 2 times, whose new value others take}}
  func.func private @p(%d: !m, %p: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%d) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    %c = "dovetail.subspan"(%p) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a) {constants = [], entry = "e", operandSegmentSizes = array<i32: 1, 0>, workgroups = [1, 1, 1]} : (!b) -> ()
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "f", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
module attributes {dovetail.level = "launches"} {
  // expected-error @+1 {{'@r' has no plan, but takes new values of arguments that it updates in one loop alone}}
  func.func private @r(%d: !m, %p: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.neg %0 : !v -> !v
    %2 = torch.aten.exp %1 : !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    torch.overwrite.tensor.contents %2 overwrites %p : !v, !m
    return
  }
}

// -----

// Sets of bindings that have nothing in common, though one of them binds its memory twice: no error is expected. And sets
// that run at the same time on one memory.
!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches", dovetail.target = "cuda:sm_90"} {
  func.func private @r(%x: !v, %o: !m, %q: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    torch.overwrite.tensor.contents %x overwrites %q : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m, %q: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 128 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    %d = "dovetail.subspan"(%o) {offset = 64 : i64, length = 64 : i64} : (!m) -> !b
    %e = "dovetail.subspan"(%q) {offset = 0 : i64, length = 128 : i64} : (!m) -> !b
    "dovetail.dispatch"(%c, %d, %a, %e) {constants = [], entry = "e", operandSegmentSizes = array<i32: 4, 0>, sets = 3 : i64, shared_memory = 0 : i64, workgroup_size = [32, 1, 1], workgroups = [1, 2, 1]} : (!b, !b, !b, !b) -> ()
    // expected-error @+1 {{binds the same memory in several sets}}
    "dovetail.dispatch"(%a, %c, %d, %e) {constants = [], entry = "e", operandSegmentSizes = array<i32: 4, 0>, sets = 3 : i64, shared_memory = 0 : i64, workgroup_size = [32, 1, 1], workgroups = [1, 2, 1]} : (!b, !b, !b, !b) -> ()
    return
  }
}

// -----

// A result lies where an operand dies: one launch reads it before others write there. No error is expected.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @r(%1, %a) : (!v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 4096 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 4096 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    "dovetail.dispatch"(%c) {constants = [], entry = "f", operandSegmentSizes = array<i32: 1, 0>, workgroups = [1, 1, 1]} : (!b) -> ()
    return
  }
}

// -----

// Two launches read it, of which the second sees what the first has written.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @r(%1, %a) : (!v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %o : !v, !m
    return
  }
  // expected-error @+1 {{'@p' does not read argument 0 of '@r', where argument 1 lies, too, in one launch before others write there}}
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 4096 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 4096 : i64} : (!m) -> !b
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

// A launch writes there before another one reads.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @r(%1, %a) : (!v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %o : !v, !m
    return
  }
  // expected-error @+1 {{'@p' does not read argument 0 of '@r', where argument 1 lies, too, in one launch before others write there}}
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %a = "dovetail.subspan"(%x) {offset = 0 : i64, length = 4096 : i64} : (!v) -> !b
    %c = "dovetail.subspan"(%o) {offset = 0 : i64, length = 4096 : i64} : (!m) -> !b
    "dovetail.dispatch"(%c) {constants = [], entry = "f", operandSegmentSizes = array<i32: 1, 0>, workgroups = [1, 1, 1]} : (!b) -> ()
    "dovetail.dispatch"(%a, %c) {constants = [], entry = "e", operandSegmentSizes = array<i32: 2, 0>, workgroups = [1, 1, 1]} : (!b, !b) -> ()
    return
  }
}

// -----

// IREE's runtime may do anything.
!v = !torch.vtensor<[32,32],f32>
!m = !torch.tensor<[32,32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func @forward(%x: !r) -> !r attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.operator "torch.aten.mm"(%0, %0) {dovetail.reason = "test"} : (!v, !v) -> !v
    %a = "dovetail.reuse"(%1) {shared} : (!v) -> !m
    call @r(%1, %a) : (!v, !m) -> ()
    "dovetail.free"(%1) : (!v) -> ()
    %2 = torch.copy.to_vtensor %a : !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
  // expected-error @+1 {{'@r' has no plan, but argument 1, a result, lies where it reads argument 0}}
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    torch.overwrite.tensor.contents %0 overwrites %o : !v, !m
    return
  }
}

// -----

// What fills memory of which it says no range, so that nobody can compare it with what others touch.
!v = !torch.vtensor<[32],f32>
!m = !torch.tensor<[32],f32>
!b = !dovetail.buffer
module attributes {dovetail.level = "launches"} {
  func.func private @r(%x: !v, %o: !m) attributes {dovetail.role = "region"} {
    torch.overwrite.tensor.contents %x overwrites %o : !v, !m
    return
  }
  func.func private @p(%x: !v, %o: !m) attributes {dovetail.plan = @r, dovetail.code = "00", dovetail.role = "plan"} {
    %t = "dovetail.transient"() {bytes = 128 : i64} : () -> !b
    // expected-error @+1 {{takes other memory than the results of 'dovetail.subspan'}}
    "dovetail.fill_buffer"(%t) {pattern = 0 : i32} : (!b) -> ()
    return
  }
}
