// One executable, loaded from its bytes.

#include "plan.h"

#include <dlfcn.h>
#include <structmember.h>
#include <sys/mman.h>
#include <unistd.h>

static void library_dealloc(Library *self) {
  // The file stays open while its code is loaded: the loader would take another file of the same number for it.
  if (self->handle) dlclose(self->handle);
  if (self->file >= 0) close(self->file);
  if (self->weak_references) PyObject_ClearWeakRefs((PyObject *)self);
  Py_XDECREF(self->code);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static int write_all(int file, const char *data, Py_ssize_t size) {
  while (size > 0) {
    ssize_t written = write(file, data, size);
    if (written < 0) return -1;
    data += written, size -= written;
  }
  return 0;
}

static PyObject *library_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  PyObject *code;
  if (!PyArg_ParseTuple(arguments, "S:Library", &code)) return NULL;
  Library *self = (Library *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->code = Py_NewRef(code);
  self->file = -1;  // 0 is a file where the process has closed its input
  if (!PyBytes_GET_SIZE(code)) return (PyObject *)self;  // of plans that only fill and copy
  self->file = memfd_create("dovetail", MFD_CLOEXEC);
  if (self->file < 0 || write_all(self->file, PyBytes_AS_STRING(code), PyBytes_GET_SIZE(code))) {
    PyErr_SetFromErrno(PyExc_OSError);
    goto failed;
  }
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", self->file);
  self->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!self->handle) {
    PyErr_Format(PyExc_OSError, "can't be loaded: %s", dlerror());
    goto failed;
  }
  static const Environment environment;
  Query query = (Query)dlsym(self->handle, "iree_hal_executable_library_query");
  self->table = query ? query(LIBRARY_VERSION, &environment) : NULL;
  if (!self->table || self->table->header->version != LIBRARY_VERSION) {
    PyErr_Format(PyExc_ValueError, "is no executable library of version %d", LIBRARY_VERSION);
    goto failed;
  }
  if (self->table->header->features || self->table->header->sanitizer || self->table->imports.count ||
      self->table->constants.count) {
    PyErr_SetString(PyExc_ValueError, "wants features, imports or constants, which no plan gives");
    goto failed;
  }
  return (PyObject *)self;
failed:
  Py_DECREF(self);
  return NULL;
}

static PyMemberDef library_members[] = {
    {"code", T_OBJECT_EX, offsetof(Library, code), READONLY, "The bytes."},
    {NULL, 0, 0, 0, NULL},
};
PyTypeObject LibraryType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dovetail.runtime._launch.Library",
    .tp_doc = "Library(code): an executable library, loaded from its bytes, or none; raises OSError or ValueError.",
    .tp_basicsize = sizeof(Library),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_weaklistoffset = offsetof(Library, weak_references),
    .tp_members = library_members,
    .tp_new = library_new,
    .tp_dealloc = (destructor)library_dealloc,
};
