// `_launch`: runs launch plans, the code that IREE compiled, on torch's own threads and without IREE's runtime.

#include "plan.h"

static PyObject *attach(PyObject *module, PyObject *given) {
  PyObject *type, *capsule, *threads;
  if (!PyArg_ParseTuple(given, "O!OO:attach", &PyType_Type, &type, &capsule, &threads)) return NULL;
  const Exchange *found = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  if (!found) return NULL;
  if (found->major != 1) return PyErr_Format(PyExc_ValueError, "DLPack %u, expected 1", found->major);
  if (attach_tensors((PyTypeObject *)type, found)) return NULL;
  return PyBool_FromLong(find_threads(threads));
}

static PyMethodDef methods[] = {
    {"attach", attach, METH_VARARGS, "attach(tensor_type, exchange, get_num_threads): whether there are threads."},
    {"addresses", addresses, METH_O, "addresses(tensors): where each lies, as the bytes of 64-bit numbers, or None."},
    {"are_ready", are_ready, METH_O, "are_ready(tensors): whether code can surely take all of them where they lie."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_launch", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__launch(void) {
  if (prepare_team()) return PyErr_NoMemory();
  PyObject *module = PyModule_Create(&definition);
  if (!module || PyModule_AddType(module, &LibraryType) || PyModule_AddType(module, &PlanType) ||
      PyModule_AddType(module, &LaunchesType) || PyModule_AddType(module, &StepsType)) {
    Py_XDECREF(module);
    return NULL;
  }
  return module;
}
