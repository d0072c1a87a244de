// Plans that run one after the other on the tensors of one list, which are all checked, once, before the first runs.

#include "plan.h"

#include <stdlib.h>

typedef struct {
  const Plan *plan;
  int *positions;  // of its arguments, in the list
} Launch;

typedef struct {
  PyObject_HEAD
  PyObject *launched, *check;  // what was given: it holds the plans
  int tensor_count, launch_count, most_buffers;
  const Argument **expected;  // of each tensor
  Launch *launches;
} Launches;

static void launches_dealloc(Launches *self) {
  for (int i = 0; self->launches && i < self->launch_count; i++) free(self->launches[i].positions);
  free(self->launches);
  free(self->expected);
  Py_XDECREF(self->launched);
  Py_XDECREF(self->check);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

// Whether what fits one of two arguments fits the other.
static int are_alike(const Argument *one, const Argument *other) {
  int are = one->type_code == other->type_code && one->type_bits == other->type_bits && one->ndim == other->ndim;
  for (int i = 0; are && i < one->ndim; i++) are = one->shape[i] == other->shape[i];
  return are;
}

// Reads a plan and where its arguments stand in the list; -1 with an exception.
static int read_launch(Launches *self, Launch *launch, PyObject *item) {
  Plan *plan;
  PyObject *positions;
  if (!PyTuple_Check(item)) return PyErr_SetString(PyExc_TypeError, "expected a plan and positions"), -1;
  if (!PyArg_ParseTuple(item, "O!O!", &PlanType, &plan, &PyTuple_Type, &positions)) return -1;
  if (PyTuple_GET_SIZE(positions) != plan->argument_count || plan->is_open || plan->register_count)
    return PyErr_Format(PyExc_ValueError, "region '%U' takes other arguments, or numbers", plan->name), -1;
  launch->plan = plan;
  launch->positions = malloc((plan->argument_count + 1) * sizeof(int));
  if (!launch->positions) return PyErr_NoMemory(), -1;
  for (int i = 0; i < plan->argument_count; i++) {
    const long position = PyLong_AsLong(PyTuple_GET_ITEM(positions, i));
    if (PyErr_Occurred()) return -1;
    const Argument *argument = &plan->arguments[i];
    const int is_there = position >= 0 && position < self->tensor_count;
    if (!is_there || argument->is_number || (self->expected[position] && !are_alike(self->expected[position], argument)))
      return PyErr_Format(PyExc_ValueError, "region '%U': argument %d can't be tensor %ld", plan->name, i, position), -1;
    self->expected[position] = argument;
    launch->positions[i] = (int)position;
  }
  const int buffers = plan->argument_count + plan->transient_count + 1;
  if (buffers > self->most_buffers) self->most_buffers = buffers;
  return 0;
}

static int read_launches(Launches *self) {
  self->expected = calloc(self->tensor_count + 1, sizeof(Argument *));
  self->launches = calloc(self->launch_count + 1, sizeof(Launch));
  if (!self->expected || !self->launches) return PyErr_NoMemory(), -1;
  for (int i = 0; i < self->launch_count; i++)
    if (read_launch(self, &self->launches[i], PyTuple_GET_ITEM(self->launched, i))) return -1;
  for (int i = 0; i < self->tensor_count; i++)
    if (!self->expected[i]) return PyErr_Format(PyExc_ValueError, "no region takes tensor %d", i), -1;
  return 0;
}

static PyObject *launches_new(PyTypeObject *type, PyObject *given, PyObject *keywords) {
  PyObject *launched, *check;
  int count;
  if (!PyArg_ParseTuple(given, "O!iO:Launches", &PyTuple_Type, &launched, &count, &check)) return NULL;
  if (count < 0) return PyErr_Format(PyExc_ValueError, "%d tensors can't be", count);
  Launches *self = (Launches *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->launched = Py_NewRef(launched), self->check = Py_NewRef(check);
  self->tensor_count = count, self->launch_count = (int)PyTuple_GET_SIZE(launched);
  if (!read_launches(self)) return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

static PyObject *launches_call(Launches *self, PyObject *given, PyObject *keywords) {
  PyObject *tensors;
  if (keywords || !PyArg_ParseTuple(given, "O!:Launches", &PyList_Type, &tensors)) return NULL;
  if (PyList_GET_SIZE(tensors) != self->tensor_count)
    return PyErr_Format(PyExc_TypeError, "expected %d tensors, got %zd", self->tensor_count, PyList_GET_SIZE(tensors));
  PyObject *starts = located(self->expected, self->tensor_count, HOST, tensors);
  if (!starts) Py_RETURN_FALSE;
  char *const *addresses = (char **)PyBytes_AS_STRING(starts);
  PyObject *result = PyObject_CallOneArg(self->check, starts);
  for (int i = 0; result && i < self->launch_count; i++) {
    const Launch *each = &self->launches[i];
    char *buffers[self->most_buffers];
    for (int j = 0; j < each->plan->argument_count; j++) buffers[j] = addresses[each->positions[j]];
    Py_SETREF(result, launch(each->plan, &each->plan->schedule, buffers));
  }
  Py_DECREF(starts);
  if (!result) return NULL;
  Py_DECREF(result);
  Py_RETURN_TRUE;
}

PyTypeObject LaunchesType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dovetail.runtime._launch.Launches",
    .tp_doc = "Launches(launched, count, check): runs plans, each with the positions of its arguments in a list of so "
              "many tensors, after check(addresses); tells whether they did: nothing runs where a tensor lies otherwise.",
    .tp_basicsize = sizeof(Launches),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_call = (ternaryfunc)launches_call,
    .tp_new = launches_new,
    .tp_dealloc = (destructor)launches_dealloc,
};
