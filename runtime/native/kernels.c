// A GPU's kernels, launched one after the other on the tensors of one list, which are all checked, once, before the first.

#include "plan.h"

#include <stdlib.h>

enum { MOST_PARAMETERS = 512 };  // of a kernel: 4 KiB of addresses

typedef struct {
  void *kernel;
  unsigned workgroups[3], threads[3], shared_bytes;
  int binding_count, word_count, table;  // table: addresses in the first parameter; 0: each is a parameter
  struct {
    int position;  // of a tensor, in the list
    int64_t offset;
  } *bindings;
  uint32_t *words;
} Kernel;

typedef struct {
  PyObject_HEAD
  PyObject *check, *refused;
  LaunchKernel launch;
  Place place;
  int tensor_count, kernel_count;
  Argument *arguments;
  const Argument **expected;  // the same, one by one
  Kernel *kernels;
} Kernels;

static void kernels_dealloc(Kernels *self) {
  for (int i = 0; self->kernels && i < self->kernel_count; i++) {
    free(self->kernels[i].bindings);
    free(self->kernels[i].words);
  }
  free(self->kernels);
  free(self->expected);
  free_arguments(self->arguments, self->tensor_count);
  Py_XDECREF(self->check);
  Py_XDECREF(self->refused);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static int read_bindings(const Kernels *self, Kernel *kernel, PyObject *bindings, PyObject *words) {
  const Py_ssize_t binding_count = PyTuple_GET_SIZE(bindings), word_count = PyTuple_GET_SIZE(words);
  if (kernel->table && (kernel->table < binding_count || kernel->table > MOST_PARAMETERS))
    return PyErr_Format(PyExc_ValueError, "gives %zd bindings in a table of %d", binding_count, kernel->table), -1;
  if (binding_count + word_count > MOST_PARAMETERS)
    return PyErr_SetString(PyExc_ValueError, "gives a kernel too many parameters"), -1;
  kernel->bindings = calloc(binding_count + 1, sizeof *kernel->bindings);
  kernel->words = calloc(word_count + 1, sizeof *kernel->words);
  if (!kernel->bindings || !kernel->words) return PyErr_NoMemory(), -1;
  kernel->binding_count = (int)binding_count, kernel->word_count = (int)word_count;
  for (Py_ssize_t i = 0; i < binding_count; i++) {
    long long offset;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(bindings, i), "iL", &kernel->bindings[i].position, &offset)) return -1;
    kernel->bindings[i].offset = offset;
    if (kernel->bindings[i].position < 0 || kernel->bindings[i].position >= self->tensor_count)
      return PyErr_Format(PyExc_ValueError, "gives no tensor %d", kernel->bindings[i].position), -1;
  }
  for (Py_ssize_t i = 0; i < word_count; i++) {
    kernel->words[i] = (uint32_t)PyLong_AsUnsignedLong(PyTuple_GET_ITEM(words, i));
    if (PyErr_Occurred()) return -1;
  }
  return 0;
}

static int read_kernel(const Kernels *self, Kernel *kernel, PyObject *item) {
  unsigned long long handle;
  long long sizes[7];  // which a conversion to 32 bits would cut silently
  PyObject *bindings, *words;
  if (!PyTuple_Check(item)) return PyErr_SetString(PyExc_TypeError, "expected a kernel's launch"), -1;
  if (!PyArg_ParseTuple(item, "K(LLL)(LLL)LO!O!i", &handle, &sizes[0], &sizes[1], &sizes[2], &sizes[3], &sizes[4],
                        &sizes[5], &sizes[6], &PyTuple_Type, &words, &PyTuple_Type, &bindings, &kernel->table))
    return -1;
  for (int i = 0; i < 7; i++)
    if (sizes[i] < 0 || sizes[i] > UINT32_MAX)
      return PyErr_Format(PyExc_ValueError, "gives a kernel a size of %lld", sizes[i]), -1;
  kernel->kernel = (void *)(uintptr_t)handle;
  for (int i = 0; i < 3; i++) kernel->workgroups[i] = (unsigned)sizes[i], kernel->threads[i] = (unsigned)sizes[3 + i];
  kernel->shared_bytes = (unsigned)sizes[6];
  return read_bindings(self, kernel, bindings, words);
}

static int read_kernels(Kernels *self, PyObject *tensors, PyObject *kernels) {
  self->arguments = calloc(self->tensor_count + 1, sizeof(Argument));
  self->expected = calloc(self->tensor_count + 1, sizeof(Argument *));
  self->kernels = calloc(self->kernel_count + 1, sizeof(Kernel));
  if (!self->arguments || !self->expected || !self->kernels) return PyErr_NoMemory(), -1;
  for (int i = 0; i < self->tensor_count; i++) {
    self->expected[i] = &self->arguments[i];
    if (read_argument(&self->arguments[i], PyTuple_GET_ITEM(tensors, i))) return -1;
    if (self->arguments[i].is_number || self->arguments[i].bytes < 0)
      return PyErr_SetString(PyExc_ValueError, "expects a number, or open sizes"), -1;
  }
  for (int i = 0; i < self->kernel_count; i++)
    if (read_kernel(self, &self->kernels[i], PyTuple_GET_ITEM(kernels, i))) return -1;
  return 0;
}

static PyObject *kernels_new(PyTypeObject *type, PyObject *given, PyObject *keywords) {
  unsigned long long launch;
  int device_type, device_id;
  unsigned alignment;
  PyObject *tensors, *kernels, *check, *refused;
  if (!PyArg_ParseTuple(given, "K(iiI)O!O!OO:Kernels", &launch, &device_type, &device_id, &alignment, &PyTuple_Type,
                        &tensors, &PyTuple_Type, &kernels, &check, &refused))
    return NULL;
  if (!launch || !alignment) return PyErr_SetString(PyExc_ValueError, "gives no function, or no alignment"), NULL;
  Kernels *self = (Kernels *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->check = Py_NewRef(check), self->refused = Py_NewRef(refused);
  self->launch = (LaunchKernel)(uintptr_t)launch;
  self->place = (Place){device_type, device_id, alignment};
  self->tensor_count = (int)PyTuple_GET_SIZE(tensors), self->kernel_count = (int)PyTuple_GET_SIZE(kernels);
  if (!read_kernels(self, tensors, kernels)) return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

static int launch_one(const Kernels *self, const Kernel *kernel, char *const *addresses, void *stream) {
  const char *bindings[(kernel->table ? kernel->table : kernel->binding_count) + 1];
  void *parameters[kernel->binding_count + kernel->word_count + 1];
  int count = 0;
  for (int i = 0; i < kernel->binding_count; i++) {
    bindings[i] = addresses[kernel->bindings[i].position] + kernel->bindings[i].offset;
    if (!i || !kernel->table) parameters[count++] = &bindings[i];
  }
  for (int i = kernel->binding_count; i < kernel->table; i++) bindings[i] = NULL;  // copied, and read by no workgroup
  for (int i = 0; i < kernel->word_count; i++) parameters[count++] = &kernel->words[i];
  const unsigned *workgroups = kernel->workgroups, *threads = kernel->threads;
  return self->launch(kernel->kernel, workgroups[0], workgroups[1], workgroups[2], threads[0], threads[1], threads[2],
                      kernel->shared_bytes, stream, parameters, NULL);
}

static PyObject *kernels_call(Kernels *self, PyObject *given, PyObject *keywords) {
  PyObject *tensors;
  unsigned long long stream;
  if (keywords || !PyArg_ParseTuple(given, "O!K:Kernels", &PyList_Type, &tensors, &stream)) return NULL;
  if (PyList_GET_SIZE(tensors) != self->tensor_count)
    return PyErr_Format(PyExc_TypeError, "expected %d tensors, got %zd", self->tensor_count, PyList_GET_SIZE(tensors));
  PyObject *starts = located(self->expected, self->tensor_count, self->place, tensors);
  if (!starts) Py_RETURN_FALSE;
  PyObject *result = PyObject_CallOneArg(self->check, starts);
  for (int done = 0; result && done < self->kernel_count;) {
    int status = 0;
    Py_BEGIN_ALLOW_THREADS  // the driver waits where too much is under way, perhaps for what another thread does
    while (!status && done < self->kernel_count) {
      status = launch_one(self, &self->kernels[done], (char **)PyBytes_AS_STRING(starts), (void *)(uintptr_t)stream);
      done += !status;
    }
    Py_END_ALLOW_THREADS
    if (status) Py_SETREF(result, PyObject_CallFunction(self->refused, "ii", done, status));
  }
  Py_DECREF(starts);
  if (!result) return NULL;
  Py_DECREF(result);
  Py_RETURN_TRUE;
}

PyTypeObject KernelsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dovetail.runtime._launch.Kernels",
    .tp_doc = "Kernels(launch, place, tensors, kernels, check, refused): launches kernels on a list of tensors "
              "and a stream, by the driver's function at `launch`, after check(addresses); tells whether it did: nothing "
              "runs where a tensor lies otherwise. Kernel i is launched again if refused(i, status) returns.",
    .tp_basicsize = sizeof(Kernels),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_call = (ternaryfunc)kernels_call,
    .tp_new = kernels_new,
    .tp_dealloc = (destructor)kernels_dealloc,
};
