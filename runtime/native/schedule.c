// The numbers of all steps. All that memory safety rests on is checked here, for what is known when the plan is made.

#include "plan.h"

size_t schedule_size(const Plan *plan) {
  return plan->step_count * sizeof(Step) + plan->range_count * (sizeof(Range) + sizeof(size_t)) +
         plan->transient_count * sizeof(int64_t) + plan->constant_count * sizeof(uint32_t) + 1;
}

void place_schedule(const Plan *plan, Schedule *schedule, void *memory) {
  schedule->steps = memory;
  schedule->ranges = (Range *)(schedule->steps + plan->step_count);
  schedule->lengths = (size_t *)(schedule->ranges + plan->range_count);
  schedule->transients = (int64_t *)(schedule->lengths + plan->range_count);
  schedule->constants = (uint32_t *)(schedule->transients + plan->transient_count);
}

// Where the transients lie, in memory of the calling thread.
static int place_transients(const Plan *plan, Schedule *schedule, const int64_t *registers) {
  int64_t end = 0;
  for (int i = 0; i < plan->transient_count; i++) {
    const int64_t bytes = number(plan->transients[i], registers);
    schedule->transients[i] = end;
    if (bytes < 0 || __builtin_add_overflow(end, bytes, &end) || __builtin_add_overflow(end, ALIGNMENT - 1, &end))
      return PyErr_SetString(PyExc_ValueError, "is given memory of no sound size"), -1;
    end -= end % ALIGNMENT;
  }
  schedule->transient_bytes = end;
  return 0;
}

// What is there of a buffer: of arguments, `bytes`.
static int64_t buffer_bytes(const Plan *plan, const int64_t *bytes, const int64_t *registers, int buffer) {
  if (buffer < 0 || buffer > plan->argument_count + plan->transient_count) return -1;
  if (buffer < plan->argument_count) return bytes[buffer];
  buffer -= plan->argument_count;
  return buffer < plan->transient_count ? number(plan->transients[buffer], registers) : plan->constant_bytes;
}

static int schedule_range(const Plan *plan, const RangeForm *form, const int64_t *bytes, const int64_t *registers,
                          Range *range) {
  const int64_t offset = number(form->offset, registers), length = number(form->length, registers);
  const int64_t available = buffer_bytes(plan, bytes, registers, form->buffer);
  if (offset < 0 || length < 0 || available < 0 || offset > available || length > available - offset) {
    PyErr_Format(PyExc_ValueError, "reaches for %lld bytes from byte %lld of argument %d, which has %lld",
                 (long long)length, (long long)offset, form->buffer, (long long)available);
    return -1;
  }
  range->buffer = form->buffer, range->offset = offset, range->length = length;
  return 0;
}

static int schedule_dispatch(const StepForm *form, Step *step, const Range *ranges, const int64_t *registers) {
  step->pieces = 1;
  for (int i = 0; i < 3; i++) {
    const int64_t count = number(form->counts[i], registers);
    if (count < 0 || count > (i == 2 ? UINT16_MAX : UINT32_MAX) ||
        __builtin_mul_overflow(step->pieces, (uint64_t)count, &step->pieces))
      return PyErr_SetString(PyExc_ValueError, "has too many workgroups"), -1;
    step->counts[i] = (uint32_t)count;
  }
  for (int i = 0; i < form->binding_count; i++)
    if (ranges[i].offset % ALIGNMENT)
      return PyErr_Format(PyExc_ValueError, "binds memory from byte %lld", (long long)ranges[i].offset), -1;
  return 0;
}

static int schedule_transfer(const StepForm *form, Step *step, const Range *ranges) {
  const Range *source = &ranges[0], *target = &ranges[form->kind == COPY];
  if (form->kind == FILL && target->length % form->pattern_bytes)
    return PyErr_SetString(PyExc_ValueError, "fills with a pattern that does not fit"), -1;
  if (form->kind == COPY && (source->length != target->length ||
                             (source->buffer == target->buffer && source->offset < target->offset + target->length &&
                              target->offset < source->offset + source->length)))
    return PyErr_SetString(PyExc_ValueError, "copies between ranges of different or common bytes"), -1;
  step->pieces = ((uint64_t)target->length + BLOCK_BYTES - 1) / BLOCK_BYTES;
  return 0;
}

int make_schedule(const Plan *plan, Schedule *schedule, const int64_t *bytes, const int64_t *registers) {
  if (place_transients(plan, schedule, registers)) return -1;
  uint64_t together = 0;
  schedule->most_pieces = 0;
  int overflows = __builtin_add_overflow(schedule->transient_bytes, plan->constant_bytes, &schedule->moved_bytes);
  for (int i = 0; i < plan->argument_count; i++)
    overflows |= __builtin_add_overflow(schedule->moved_bytes, bytes[i], &schedule->moved_bytes);
  if (overflows) return PyErr_SetString(PyExc_ValueError, "is given memory of no sound size"), -1;
  for (int i = 0; i < plan->range_count; i++) {
    if (schedule_range(plan, &plan->ranges[i], bytes, registers, &schedule->ranges[i])) return -1;
    schedule->lengths[i] = (size_t)schedule->ranges[i].length;
  }
  for (int i = 0; i < plan->constant_count; i++)
    schedule->constants[i] = (uint32_t)number(plan->step_constants[i], registers);
  for (int i = 0; i < plan->step_count; i++) {
    const StepForm *form = &plan->steps[i];
    Step *step = &schedule->steps[i];
    const Range *ranges = &schedule->ranges[form->first_range];
    if (form->kind == DISPATCH ? schedule_dispatch(form, step, ranges, registers) : schedule_transfer(form, step, ranges))
      return -1;
    together = form->waits ? step->pieces : together + step->pieces;
    if (together > schedule->most_pieces) schedule->most_pieces = together;
  }
  return 0;
}
