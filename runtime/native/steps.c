// What a plan says of its steps. What a call relies on is checked here, or by `make_schedule`.

#include "plan.h"

#include <string.h>

int read_number(Plan *plan, PyObject *item, Number *number) {
  number->index = -1;
  if (PyTuple_Check(item)) {
    if (!PyArg_ParseTuple(item, "i", &number->index)) return -1;
    if (number->index < 0 || number->index >= plan->register_count)
      return PyErr_SetString(PyExc_ValueError, "has a number that nothing computes"), -1;
    plan->is_open = 1;
    return 0;
  }
  number->known = PyLong_AsLongLong(item);
  return number->known == -1 && PyErr_Occurred() ? -1 : 0;
}

static int read_ranges(Plan *plan, StepForm *step, PyObject *items) {
  const Py_ssize_t count = PyTuple_GET_SIZE(items);
  if (count > MOST_BINDINGS) return PyErr_SetString(PyExc_ValueError, "binds too many buffers"), -1;
  step->binding_count = (uint8_t)count;
  step->first_range = plan->range_count;
  RangeForm *grown = realloc(plan->ranges, (plan->range_count + count + 1) * sizeof(RangeForm));
  if (!grown) return PyErr_NoMemory(), -1;
  plan->ranges = grown;
  for (Py_ssize_t i = 0; i < count; i++) {
    RangeForm *range = &plan->ranges[plan->range_count++];
    PyObject *offset, *length;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(items, i), "iOO", &range->buffer, &offset, &length) ||
        read_number(plan, offset, &range->offset) || read_number(plan, length, &range->length))
      return -1;
  }
  return 0;
}

static int read_constants(Plan *plan, StepForm *step, PyObject *items) {
  const Py_ssize_t count = PyTuple_GET_SIZE(items);
  if (count > MOST_CONSTANTS) return PyErr_SetString(PyExc_ValueError, "gives too many constants"), -1;
  step->constant_count = (uint16_t)count;
  step->first_constant = plan->constant_count;
  Number *grown = realloc(plan->step_constants, (plan->constant_count + count + 1) * sizeof(Number));
  if (!grown) return PyErr_NoMemory(), -1;
  plan->step_constants = grown;
  for (Py_ssize_t i = 0; i < count; i++) {
    Number *constant = &plan->step_constants[plan->constant_count++];
    if (read_number(plan, PyTuple_GET_ITEM(items, i), constant)) return -1;
    if (constant->index < 0 && (constant->known < 0 || constant->known > UINT32_MAX))
      return PyErr_Format(PyExc_ValueError, "has a number too large: %lld", (long long)constant->known), -1;
  }
  return 0;
}

static int read_dispatch(Plan *plan, StepForm *step, const char *entry, PyObject *counts, PyObject *constants) {
  if (read_constants(plan, step, constants)) return -1;
  if (PyTuple_GET_SIZE(counts) != 3) return PyErr_SetString(PyExc_ValueError, "needs three workgroup counts"), -1;
  for (int i = 0; i < 3; i++)
    if (read_number(plan, PyTuple_GET_ITEM(counts, i), &step->counts[i])) return -1;
  const Table *table = ((Library *)plan->library)->table;
  for (uint32_t i = 0; table && i < table->exports.count; i++) {
    if (strcmp(table->exports.names[i], entry)) continue;
    step->entry = table->exports.entries[i];
    step->facts = &table->exports.facts[i];
    if (step->facts->binding_count != step->binding_count || step->facts->constant_count != step->constant_count ||
        step->facts->local_memory_pages || step->facts->flags) {
      PyErr_Format(PyExc_ValueError,
                   "'%s' takes %d bindings, %d constants, %d pages and flags %llu; the plan gives %d, %d, 0 and 0",
                   entry, step->facts->binding_count, step->facts->constant_count, step->facts->local_memory_pages,
                   (unsigned long long)step->facts->flags, step->binding_count, step->constant_count);
      return -1;
    }
    return 0;
  }
  PyErr_Format(PyExc_ValueError, "has no entry '%s'", entry);
  return -1;
}

static int read_transfer(const Plan *plan, const StepForm *step) {
  const int is_copy = step->kind == COPY;
  if ((step->kind != FILL && !is_copy) || step->binding_count != 1 + is_copy)
    return PyErr_SetString(PyExc_ValueError, "has a transfer of no sound form"), -1;
  if (plan->ranges[step->first_range + is_copy].buffer >= plan->argument_count + plan->transient_count)
    return PyErr_SetString(PyExc_ValueError, "overwrites a constant"), -1;
  if (!is_copy && step->pattern_bytes != 1 && step->pattern_bytes != 2 && step->pattern_bytes != 4 &&
      step->pattern_bytes != 8)
    return PyErr_SetString(PyExc_ValueError, "fills with a pattern that does not fit"), -1;
  return 0;
}

int read_step(Plan *plan, StepForm *step, PyObject *item) {
  PyObject *ranges, *counts, *constants;
  const char *entry;
  unsigned long long pattern;
  if (!PyArg_ParseTuple(item, "iisO!O!O!Kb", &step->kind, &step->waits, &entry, &PyTuple_Type, &counts, &PyTuple_Type,
                        &constants, &PyTuple_Type, &ranges, &pattern, &step->pattern_bytes))
    return -1;
  step->pattern = pattern;
  if (read_ranges(plan, step, ranges)) return -1;
  return step->kind == DISPATCH ? read_dispatch(plan, step, entry, counts, constants) : read_transfer(plan, step);
}
