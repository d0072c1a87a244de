// A call: whether its arguments fit, and what runs in place of those that don't.

#include "plan.h"

enum { MOST_ON_STACK = 8 << 10 };  // bytes, of the numbers of one call

// The memory and the numbers of a call.
typedef struct {
  char **buffers;  // of arguments, transients and the constants
  int64_t *bytes, *registers;
} Call;

// Whether `given` can be argument `index` as it is; if not, there may be an exception.
static int locate(const Plan *plan, Py_ssize_t index, PyObject *given, const Call *call) {
  const Argument *expected = &plan->arguments[index];
  if (expected->is_number) {
    if (!PyLong_CheckExact(given)) return 0;
    const int64_t number = PyLong_AsLongLong(given);
    if (expected->registers[0] >= 0) call->registers[expected->registers[0]] = number;
    call->buffers[index] = NULL, call->bytes[index] = 0;
    return !(number == -1 && PyErr_Occurred());
  }
  Tensor tensor;
  if (borrow(given, &tensor) || !fits(expected, &tensor, &call->bytes[index], call->registers)) return 0;
  call->buffers[index] = address_of(&tensor);
  // A destination is memory that programs made, or asked about.
  return lies_well(&tensor, HOST) && (expected->is_destination || shows_memory(given));
}

// What the plan's `misfit` gives in place of argument `index`; NULL with what it raises.
static PyObject *replaced(const Plan *plan, Py_ssize_t index, PyObject *given) {
  PyErr_Clear();
  PyObject *number = PyLong_FromSsize_t(index);
  PyObject *result = number ? PyObject_CallFunctionObjArgs(plan->misfit, number, given, NULL) : NULL;
  Py_XDECREF(number);
  return result;
}

// Names the region in what the making of a schedule raised.
static PyObject *refused(const Plan *plan) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_Format(type, "region '%U': its plan %S", plan->name, value);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return NULL;
}

// Whether no argument has elements, so that nothing is read or written.
static int is_idle(const Plan *plan, const Call *call) {
  int64_t bytes = 0;
  for (int i = 0; i < plan->argument_count; i++) bytes |= call->bytes[i];
  return !bytes;
}

// Runs an open plan: its numbers are computed and checked first.
static PyObject *launch_open(const Plan *plan, const Call *call) {
  if (is_idle(plan, call)) Py_RETURN_NONE;
  int64_t near[MOST_ON_STACK / sizeof(int64_t)];
  const size_t size = schedule_size(plan);
  void *memory = size <= sizeof near ? near : PyMem_Malloc(size);
  if (!memory) return PyErr_NoMemory();
  Schedule schedule;
  place_schedule(plan, &schedule, memory);
  PyObject *result = compute(plan, call->registers) || make_schedule(plan, &schedule, call->bytes, call->registers)
                         ? refused(plan)
                         : launch(plan, &schedule, call->buffers);
  if (memory != near) PyMem_Free(memory);
  return result;
}

PyObject *plan_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *keywords) {
  Plan *plan = (Plan *)self;
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count != plan->argument_count || keywords)
    return PyErr_Format(PyExc_TypeError, "region '%U': expected %d arguments and nothing else, got %zd", plan->name,
                        plan->argument_count, count);
  char *buffers[plan->argument_count + plan->transient_count + 1];
  int64_t bytes[plan->argument_count + 1], registers[plan->register_count + 1];
  const Call call = {buffers, bytes, registers};
  if (plan->register_count) memcpy(registers, plan->registers, plan->register_count * sizeof(int64_t));
  PyObject *copies = NULL;  // what is passed in place of arguments, alive until the call ends
  for (Py_ssize_t i = 0; i < count; i++) {
    if (locate(plan, i, given[i], &call)) continue;
    PyObject *copy = replaced(plan, i, given[i]);
    if (!copy || !(copies || (copies = PyList_New(0))) || PyList_Append(copies, copy)) {
      Py_XDECREF(copy);
      Py_XDECREF(copies);
      return NULL;
    }
    Py_DECREF(copy);
    if (!locate(plan, i, copy, &call)) {
      Py_DECREF(copies);
      PyErr_Clear();
      return PyErr_Format(PyExc_ValueError, "region '%U': argument %zd does not fit", plan->name, i);
    }
  }
  PyObject *result = plan->is_open ? launch_open(plan, &call) : launch(plan, &plan->schedule, buffers);
  Py_XDECREF(copies);
  return result;
}
