// PyTorch's tensors: where they lie, and whether code can take them there.

#include "plan.h"

static const Exchange *exchange;
static PyTypeObject *tensor_type;
static PyCFunction is_neg;

int attach_tensors(PyTypeObject *type, const Exchange *found) {
  PyObject *method = PyObject_GetAttrString((PyObject *)type, "is_neg");
  if (!method) return -1;
  const PyMethodDef *definition = Py_IS_TYPE(method, &PyMethodDescr_Type) ? ((PyMethodDescrObject *)method)->d_method : NULL;
  const int is_expected = definition && definition->ml_flags == METH_NOARGS;
  if (is_expected) is_neg = definition->ml_meth;
  Py_DECREF(method);
  if (!is_expected) return PyErr_SetString(PyExc_ValueError, "Tensor.is_neg is no function without arguments"), -1;
  exchange = found;
  tensor_type = (PyTypeObject *)Py_NewRef((PyObject *)type);
  return 0;
}

int borrow(PyObject *given, Tensor *tensor) {
  return PyObject_TypeCheck(given, tensor_type) && !exchange->borrow(given, tensor) ? 0 : -1;
}

char *address_of(const Tensor *tensor) { return (char *)tensor->data + tensor->byte_offset; }

int lies_well(const Tensor *tensor, Place place) {
  uint64_t count = 1;
  int is_in_rows = 1;
  for (int i = tensor->ndim - 1; i >= 0; i--) {
    is_in_rows &= tensor->shape[i] == 1 || !tensor->strides || (uint64_t)tensor->strides[i] == count;
    count *= tensor->shape[i];
  }
  const int is_there = tensor->device_type == place.device_type && tensor->device_id == place.device_id;
  // PyTorch has zeros without memory.
  return is_there && (!count || (is_in_rows && tensor->data)) && !((uintptr_t)address_of(tensor) % place.alignment);
}

int shows_memory(PyObject *given) {
  PyObject *negative = is_neg(given, NULL);
  Py_XDECREF(negative);
  return negative == Py_False;
}

PyObject *addresses(PyObject *module, PyObject *given) {
  PyObject *tensors = PySequence_Fast(given, "expected a sequence of tensors");
  if (!tensors) return NULL;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(tensors);
  PyObject *result = PyBytes_FromStringAndSize(NULL, count * sizeof(char *));
  char **found = result ? (char **)PyBytes_AS_STRING(result) : NULL;
  for (Py_ssize_t i = 0; result && i < count; i++) {
    Tensor tensor;
    if (borrow(PySequence_Fast_GET_ITEM(tensors, i), &tensor)) {
      PyErr_Clear();
      Py_SETREF(result, Py_NewRef(Py_None));
      break;
    }
    found[i] = address_of(&tensor);
  }
  Py_DECREF(tensors);
  return result;
}

PyObject *are_ready(PyObject *module, PyObject *given) {
  PyObject *tensors = PySequence_Fast(given, "expected a sequence of tensors");
  if (!tensors) return NULL;
  int are = 1;
  for (Py_ssize_t i = 0; are && i < PySequence_Fast_GET_SIZE(tensors); i++) {
    PyObject *each = PySequence_Fast_GET_ITEM(tensors, i);
    Tensor tensor;
    are = !borrow(each, &tensor) && lies_well(&tensor, HOST) && shows_memory(each);
  }
  PyErr_Clear();
  Py_DECREF(tensors);
  return PyBool_FromLong(are);
}
