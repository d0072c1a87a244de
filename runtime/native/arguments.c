// What is expected of tensors, and whether those that are given are so.

#include "plan.h"

#include <stdlib.h>

const Place HOST = {ON_CPU, 0, ALIGNMENT};

int read_argument(Argument *argument, PyObject *item) {
  PyObject *shape;
  if (!PyArg_ParseTuple(item, "O!bbpp", &PyTuple_Type, &shape, &argument->type_code, &argument->type_bits,
                        &argument->is_number, &argument->is_destination))
    return -1;
  argument->ndim = (int)PyTuple_GET_SIZE(shape);
  argument->shape = calloc(argument->ndim + 1, sizeof(int64_t));
  argument->registers = malloc((argument->ndim + 1) * sizeof(int));
  if (!argument->shape || !argument->registers) return PyErr_NoMemory(), -1;
  argument->bytes = argument->is_number ? 0 : argument->type_bits / 8;
  for (int i = 0; i <= argument->ndim; i++) argument->registers[i] = -1;
  int is_open = 0;
  for (int i = 0; i < argument->ndim; i++) {
    const int64_t size = argument->shape[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i));
    if (PyErr_Occurred()) return -1;
    is_open |= size == -1;
    if (size < -1 || (size >= 0 && __builtin_mul_overflow(argument->bytes, size, &argument->bytes)))
      return PyErr_SetString(PyExc_ValueError, "has an argument of no sound shape"), -1;
  }
  if (is_open) argument->bytes = -1;
  return 0;
}

void free_arguments(Argument *arguments, int count) {
  for (int i = 0; arguments && i < count; i++) {
    free(arguments[i].shape);
    free(arguments[i].registers);
  }
  free(arguments);
}

int fits(const Argument *expected, const Tensor *given, int64_t *bytes, int64_t *registers) {
  if (given->type_code != expected->type_code || given->type_lanes != 1 || given->type_bits != expected->type_bits ||
      given->ndim != expected->ndim)
    return 0;
  *bytes = expected->bytes < 0 ? expected->type_bits / 8 : expected->bytes;
  int is_empty = 0, overflows = 0;
  for (int i = 0; i < expected->ndim; i++) {
    const int64_t size = given->shape[i];
    if (size != expected->shape[i] && (expected->shape[i] >= 0 || size < 0)) return 0;
    if (expected->bytes < 0) is_empty |= !size, overflows |= __builtin_mul_overflow(*bytes, size, bytes);
    if (expected->registers[i] >= 0) registers[expected->registers[i]] = size;
  }
  if (is_empty) *bytes = 0;  // of what has no elements, the other sizes may be any
  return is_empty || !overflows;
}

int starts_at(const Argument *expected, Place place, PyObject *given, int is_asked, char **start) {
  Tensor tensor;
  int64_t bytes;
  if (borrow(given, &tensor) || !fits(expected, &tensor, &bytes, NULL) || !lies_well(&tensor, place)) return 0;
  *start = address_of(&tensor);
  return !is_asked || shows_memory(given);
}

PyObject *located(const Argument *const *expected, int count, Place place, PyObject *tensors) {
  PyObject *starts = PyBytes_FromStringAndSize(NULL, count * sizeof(char *));
  for (int i = 0; starts && i < count; i++)
    if (!starts_at(expected[i], place, PyList_GET_ITEM(tensors, i), 1, &((char **)PyBytes_AS_STRING(starts))[i]))
      Py_CLEAR(starts);
  PyErr_Clear();
  return starts;
}
