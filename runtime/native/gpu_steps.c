// What a GPU runs for a region, or for several one after the other: steps on tensors that are all looked at before the first.

#include "plan.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMETERS = 512 };  // of a kernel: 4 KiB of addresses

typedef struct {
  enum Kind kind;
  Range *ranges;  // of a kernel its bindings, of a fill the target, of a copy source and target
  int range_count;
  void *kernel;
  unsigned workgroups[3], threads[3], shared_bytes;
  int word_count, table;  // table: addresses in the first parameter; 0: each is a parameter
  int overlaps;           // whether it waits by itself for what was launched before it
  uint32_t *words;
  uint64_t bits;
  int width;
} GpuStep;

typedef struct {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject *name, *stream, *allocate, *misfit, *check, *refused, *device;
  Driver driver;
  void *context;
  Place place;
  int tensor_count, buffer_count, step_count;  // buffers: the tensors, the transient, the constants
  Argument *arguments;
  Range *buffers;  // of a constant, `offset` is its address
  GpuStep *steps;
} Steps;

static void steps_dealloc(Steps *self) {
  for (int i = 0; self->steps && i < self->step_count; i++) {
    free(self->steps[i].ranges);
    free(self->steps[i].words);
  }
  free(self->steps);
  free(self->buffers);
  free_arguments(self->arguments, self->tensor_count);
  Py_XDECREF(self->name);
  Py_XDECREF(self->stream);
  Py_XDECREF(self->allocate);
  Py_XDECREF(self->misfit);
  Py_XDECREF(self->check);
  Py_XDECREF(self->refused);
  Py_XDECREF(self->device);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static int read_ranges(const Steps *self, GpuStep *step, PyObject *items) {
  step->range_count = (int)PyTuple_GET_SIZE(items);
  step->ranges = calloc(step->range_count + 1, sizeof *step->ranges);
  if (!step->ranges) return PyErr_NoMemory(), -1;
  for (int i = 0; i < step->range_count; i++) {
    long long offset, length;
    Range *range = &step->ranges[i];
    PyObject *item = PyTuple_GET_ITEM(items, i);
    if (!PyTuple_Check(item)) return PyErr_SetString(PyExc_TypeError, "expected a range"), -1;
    if (!PyArg_ParseTuple(item, "iLL", &range->buffer, &offset, &length)) return -1;
    range->offset = offset, range->length = length;
    const int is_there = range->buffer >= 0 && range->buffer < self->buffer_count && offset >= 0 && length >= 0;
    if (!is_there || offset > self->buffers[range->buffer].length ||
        length > self->buffers[range->buffer].length - offset)
      return PyErr_Format(PyExc_ValueError, "takes %lld bytes from %lld of buffer %d", length, offset, range->buffer), -1;
  }
  return 0;
}

static int read_kernel(const Steps *self, GpuStep *step, PyObject *item) {
  unsigned long long handle;
  long long sizes[7];  // which a conversion to 32 bits would cut silently
  int kind;
  PyObject *ranges, *words;
  if (!PyArg_ParseTuple(item, "iK(LLL)(LLL)LO!O!ip", &kind, &handle, &sizes[0], &sizes[1], &sizes[2], &sizes[3], &sizes[4],
                        &sizes[5], &sizes[6], &PyTuple_Type, &words, &PyTuple_Type, &ranges, &step->table, &step->overlaps))
    return -1;
  for (int i = 0; i < 7; i++)
    if (sizes[i] < 0 || sizes[i] > UINT32_MAX)
      return PyErr_Format(PyExc_ValueError, "gives a kernel a size of %lld", sizes[i]), -1;
  step->kernel = (void *)(uintptr_t)handle;
  for (int i = 0; i < 3; i++) step->workgroups[i] = (unsigned)sizes[i], step->threads[i] = (unsigned)sizes[3 + i];
  step->shared_bytes = (unsigned)sizes[6];
  const Py_ssize_t range_count = PyTuple_GET_SIZE(ranges), word_count = PyTuple_GET_SIZE(words);
  if (step->table && (step->table < range_count || step->table > MOST_PARAMETERS))
    return PyErr_Format(PyExc_ValueError, "gives %zd bindings in a table of %d", range_count, step->table), -1;
  if (range_count + word_count > MOST_PARAMETERS)
    return PyErr_SetString(PyExc_ValueError, "gives a kernel too many parameters"), -1;
  step->words = calloc(word_count + 1, sizeof *step->words);
  if (!step->words) return PyErr_NoMemory(), -1;
  step->word_count = (int)word_count;
  for (Py_ssize_t i = 0; i < word_count; i++) {
    const unsigned long word = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(words, i));
    if (PyErr_Occurred()) return -1;
    if (word > UINT32_MAX) return PyErr_Format(PyExc_ValueError, "gives a kernel a word of %lu", word), -1;
    step->words[i] = (uint32_t)word;
  }
  return read_ranges(self, step, ranges);
}

static int writes_constant(const Steps *self, const Range *target) {
  if (target->buffer <= self->tensor_count) return 0;
  PyErr_Format(PyExc_ValueError, "writes to constant %d", target->buffer - self->tensor_count - 1);
  return 1;
}

static int read_fill(const Steps *self, GpuStep *step, PyObject *item) {
  unsigned long long bits;
  int kind;
  PyObject *ranges;
  if (!PyArg_ParseTuple(item, "iO!Ki", &kind, &PyTuple_Type, &ranges, &bits, &step->width)) return -1;
  step->bits = bits;
  if (read_ranges(self, step, ranges)) return -1;
  const int is_known = step->width == 1 || step->width == 2 || step->width == 4 || step->width == 8;
  if (step->range_count == 1 && is_known && step->ranges[0].length % step->width == 0)
    return writes_constant(self, step->ranges) ? -1 : 0;
  return PyErr_Format(PyExc_ValueError, "fills with a pattern of %d bytes", step->width), -1;
}

static int read_copy(const Steps *self, GpuStep *step, PyObject *item) {
  int kind;
  PyObject *ranges;
  if (!PyArg_ParseTuple(item, "iO!", &kind, &PyTuple_Type, &ranges) || read_ranges(self, step, ranges)) return -1;
  if (step->range_count != 2 || step->ranges[0].length != step->ranges[1].length)
    return PyErr_SetString(PyExc_ValueError, "copies between ranges of two lengths"), -1;
  const Range *source = step->ranges, *target = step->ranges + 1;
  const int is_apart = source->buffer != target->buffer || source->offset + source->length <= target->offset ||
                       target->offset + target->length <= source->offset;
  if (!is_apart) return PyErr_SetString(PyExc_ValueError, "copies between ranges that overlap"), -1;
  return writes_constant(self, target) ? -1 : 0;
}

static int read_gpu_step(const Steps *self, GpuStep *step, PyObject *item) {
  if (!PyTuple_Check(item) || !PyTuple_GET_SIZE(item)) return PyErr_SetString(PyExc_TypeError, "expected a step"), -1;
  const long kind = PyLong_AsLong(PyTuple_GET_ITEM(item, 0));
  if (PyErr_Occurred()) return -1;
  step->kind = (enum Kind)kind;
  if (kind == DISPATCH) return read_kernel(self, step, item);
  if (kind == FILL) return read_fill(self, step, item);
  if (kind == COPY) return read_copy(self, step, item);
  return PyErr_Format(PyExc_ValueError, "has a step of kind %ld", kind), -1;
}

static int read_buffers(Steps *self, PyObject *tensors, PyObject *constants, long long transient_bytes) {
  self->arguments = calloc(self->tensor_count + 1, sizeof(Argument));
  self->buffers = calloc(self->buffer_count, sizeof(Range));
  if (!self->arguments || !self->buffers) return PyErr_NoMemory(), -1;
  for (int i = 0; i < self->tensor_count; i++) {
    if (read_argument(&self->arguments[i], PyTuple_GET_ITEM(tensors, i))) return -1;
    if (self->arguments[i].is_number || self->arguments[i].bytes < 0)
      return PyErr_SetString(PyExc_ValueError, "expects a number, or open sizes"), -1;
    self->buffers[i].length = self->arguments[i].bytes;
  }
  self->buffers[self->tensor_count].length = transient_bytes;
  for (int i = self->tensor_count + 1; i < self->buffer_count; i++) {
    unsigned long long address;
    long long length;
    PyObject *item = PyTuple_GET_ITEM(constants, i - self->tensor_count - 1);
    if (!PyTuple_Check(item)) return PyErr_SetString(PyExc_TypeError, "expected a constant"), -1;
    if (!PyArg_ParseTuple(item, "KL", &address, &length)) return -1;
    self->buffers[i].offset = (int64_t)address, self->buffers[i].length = length;
  }
  return 0;
}

static int read_steps(Steps *self, PyObject *steps) {
  self->steps = calloc(self->step_count + 1, sizeof(GpuStep));
  if (!self->steps) return PyErr_NoMemory(), -1;
  for (int i = 0; i < self->step_count; i++)
    if (read_gpu_step(self, &self->steps[i], PyTuple_GET_ITEM(steps, i))) return -1;
  return 0;
}

static PyObject *steps_call(PyObject *callable, PyObject *const *given, size_t flags, PyObject *keywords);

static PyObject *steps_new(PyTypeObject *type, PyObject *given, PyObject *keywords) {
  unsigned long long functions[DRIVER_FUNCTIONS], context;
  Place place;
  unsigned alignment;
  long long transient_bytes;
  PyObject *name, *addresses, *tensors, *constants, *steps, *stream, *allocate, *misfit, *check, *refused;
  if (!PyArg_ParseTuple(given, "UO!K(iiI)O!LO!O!(OOOOO):Steps", &name, &PyTuple_Type, &addresses, &context,
                        &place.device_type, &place.device_id, &alignment, &PyTuple_Type, &tensors, &transient_bytes,
                        &PyTuple_Type, &constants, &PyTuple_Type, &steps, &stream, &allocate, &misfit, &check, &refused))
    return NULL;
  if (!PyArg_ParseTuple(addresses, "KKKKKKKKK", &functions[0], &functions[1], &functions[2], &functions[3], &functions[4],
                        &functions[5], &functions[6], &functions[7], &functions[8]))
    return NULL;
  int are_there = alignment && transient_bytes >= 0;
  for (int i = 0; i < DRIVER_FUNCTIONS; i++) are_there &= functions[i] != 0;
  if (!are_there) return PyErr_SetString(PyExc_ValueError, "gives no function, no alignment, or no bytes"), NULL;
  Steps *self = (Steps *)type->tp_alloc(type, 0);
  if (!self) return NULL;
  self->call = steps_call;
  self->name = Py_NewRef(name), self->stream = Py_NewRef(stream), self->allocate = Py_NewRef(allocate);
  self->misfit = Py_NewRef(misfit), self->check = Py_NewRef(check), self->refused = Py_NewRef(refused);
  self->driver = (Driver){
      (LaunchKernel)(uintptr_t)functions[0], (FillBytes)(uintptr_t)functions[1], (FillPairs)(uintptr_t)functions[2],
      (FillWords)(uintptr_t)functions[3], (FillColumns)(uintptr_t)functions[4], (CopyMemory)(uintptr_t)functions[5],
      (CurrentDevice)(uintptr_t)functions[6], (CurrentContext)(uintptr_t)functions[7], (EnterContext)(uintptr_t)functions[8],
  };
  self->context = (void *)(uintptr_t)context;
  place.alignment = alignment, self->place = place;
  self->tensor_count = (int)PyTuple_GET_SIZE(tensors), self->step_count = (int)PyTuple_GET_SIZE(steps);
  self->buffer_count = self->tensor_count + 1 + (int)PyTuple_GET_SIZE(constants);
  self->device = PyLong_FromLong(place.device_id);
  if (self->device && !read_buffers(self, tensors, constants, transient_bytes) && !read_steps(self, steps))
    return (PyObject *)self;
  Py_DECREF(self);
  return NULL;
}

static int launch_kernel(const Steps *self, const GpuStep *step, char *const *buffers, void *stream) {
  const char *bindings[(step->table ? step->table : step->range_count) + 1];
  void *parameters[step->range_count + step->word_count + 1];
  int count = 0;
  for (int i = 0; i < step->range_count; i++) {
    bindings[i] = buffers[step->ranges[i].buffer] + step->ranges[i].offset;
    if (!i || !step->table) parameters[count++] = &bindings[i];
  }
  for (int i = step->range_count; i < step->table; i++) bindings[i] = NULL;  // copied, and read by no workgroup
  for (int i = 0; i < step->word_count; i++) parameters[count++] = &step->words[i];
  LaunchAttribute attribute = {.number = OVERLAPS, .value = {1}};
  LaunchConfiguration configuration = {.shared_bytes = step->shared_bytes,
                                       .stream = stream,
                                       .attributes = &attribute,
                                       .attribute_count = step->overlaps ? 1 : 0};
  memcpy(configuration.workgroups, step->workgroups, sizeof step->workgroups);
  memcpy(configuration.threads, step->threads, sizeof step->threads);
  return self->driver.launch(&configuration, step->kernel, parameters, NULL);
}

static int fill(const Driver *driver, uint64_t start, int64_t length, uint64_t bits, int width, void *stream) {
  if (width == 1) return driver->fill_bytes(start, (unsigned char)bits, length, stream);
  if (width == 2) return driver->fill_pairs(start, (unsigned short)bits, length / 2, stream);
  if (width == 4) return driver->fill_words(start, (unsigned)bits, length / 4, stream);
  // Two columns of four bytes: the driver knows no wider pattern.
  const int status = driver->fill_columns(start, 8, (unsigned)bits, 1, length / 8, stream);
  return status ? status : driver->fill_columns(start + 4, 8, (unsigned)(bits >> 32), 1, length / 8, stream);
}

static int run_step(const Steps *self, const GpuStep *step, char *const *buffers, void *stream) {
  if (step->kind == DISPATCH) return launch_kernel(self, step, buffers, stream);
  const Range *first = step->ranges, *second = step->ranges + 1;
  const uint64_t start = (uintptr_t)(buffers[first->buffer] + first->offset);
  if (step->kind == FILL) return fill(&self->driver, start, first->length, step->bits, step->width, stream);
  return self->driver.copy((uintptr_t)(buffers[second->buffer] + second->offset), start, first->length, stream);
}

// Runs all steps, in the device's context; True, or NULL with what `refused` raises.
static PyObject *run_steps(const Steps *self, char *const *buffers) {
  PyObject *number = PyObject_CallOneArg(self->stream, self->device);
  void *stream = number ? PyLong_AsVoidPtr(number) : NULL;
  Py_XDECREF(number);
  if (PyErr_Occurred()) return NULL;
  int status = 0, done = 0;
  Py_BEGIN_ALLOW_THREADS  // the driver waits where too much is under way, perhaps for what another thread does
  while (!status && done < self->step_count) {
    status = run_step(self, &self->steps[done], buffers, stream);
    done += !status;
  }
  Py_END_ALLOW_THREADS
  return status ? PyObject_CallFunction(self->refused, "ii", done, status) : Py_NewRef(Py_True);
}

// The same with a transient, which only needs to live until everything is launched.
static PyObject *run_with_transient(const Steps *self, char **buffers) {
  const int position = self->tensor_count;
  buffers[position] = NULL;
  if (!self->buffers[position].length) return run_steps(self, buffers);
  PyObject *memory = PyObject_CallNoArgs(self->allocate), *result = NULL;
  Tensor tensor;
  if (memory && !borrow(memory, &tensor)) {
    buffers[position] = address_of(&tensor);
    result = run_steps(self, buffers);
  } else if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_TypeError, "a transient is no tensor");
  }
  Py_XDECREF(memory);
  return result;
}

// The same in a thread that is on another device, or on none; in the latter case it keeps this one.
static PyObject *run_on_device(const Steps *self, char **buffers) {
  int device;
  void *previous = NULL;
  if (!self->driver.current_device(&device) && device == self->place.device_id) return run_with_transient(self, buffers);
  int status = self->driver.current_context(&previous);
  if (!status) status = self->driver.enter_context(self->context);
  if (status) return PyObject_CallFunction(self->refused, "ii", -1, status);
  PyObject *result = run_with_transient(self, buffers);
  if (previous) status = self->driver.enter_context(previous);
  if (status && result) Py_SETREF(result, PyObject_CallFunction(self->refused, "ii", -1, status));
  return result;
}

// What is passed in place of argument `index`, put into the list `kept`; NULL where there is nothing, or an exception.
static PyObject *replacement(const Steps *self, int index, PyObject *given, PyObject **kept) {
  PyErr_Clear();
  PyObject *made = PyObject_CallFunction(self->misfit, "iO", index, given);
  if (made && made != Py_None && !*kept) *kept = PyList_New(0);
  if (made && (made == Py_None || !*kept || PyList_Append(*kept, made))) Py_CLEAR(made);
  Py_XDECREF(made);
  return made;
}

static int check_addresses(const Steps *self, char *const *buffers) {
  if (self->check == Py_None) return 0;
  PyObject *starts = PyBytes_FromStringAndSize((const char *)buffers, self->tensor_count * sizeof(char *));
  PyObject *result = starts ? PyObject_CallOneArg(self->check, starts) : NULL;
  Py_XDECREF(starts);
  Py_XDECREF(result);
  return result ? 0 : -1;
}

static PyObject *steps_call(PyObject *callable, PyObject *const *given, size_t flags, PyObject *keywords) {
  const Steps *self = (Steps *)callable;
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count != self->tensor_count || keywords)
    return PyErr_Format(PyExc_TypeError, "%U: got %zd arguments, expected %d", self->name, count, self->tensor_count);
  char *buffers[self->buffer_count];
  PyObject *kept = NULL, *result = NULL;
  for (int i = 0; i < self->tensor_count; i++) {
    const Argument *expected = &self->arguments[i];
    if (starts_at(expected, self->place, given[i], !expected->is_destination, &buffers[i])) continue;
    PyObject *other = replacement(self, i, given[i], &kept);
    if (!other && !PyErr_Occurred()) result = Py_NewRef(Py_False);
    if (!other) goto ended;
    if (!starts_at(expected, self->place, other, 1, &buffers[i])) {
      PyErr_Format(PyExc_ValueError, "%U: argument %d does not fit", self->name, i);
      goto ended;
    }
  }
  for (int i = self->tensor_count + 1; i < self->buffer_count; i++) buffers[i] = (char *)(uintptr_t)self->buffers[i].offset;
  if (!check_addresses(self, buffers)) result = run_on_device(self, buffers);
ended:
  Py_XDECREF(kept);
  return result;
}

PyTypeObject StepsType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dovetail.runtime._launch.Steps",
    .tp_doc = "Steps(name, driver, context, place, tensors, transient_bytes, constants, steps, (stream, allocate, misfit, "
              "check, refused)): kernels, fills and copies on tensors, by the driver's functions at these addresses; "
              "tells whether they ran: nothing does where misfit(index, given) is None. Otherwise it is taken in "
              "place of `given`, and check(addresses), if it is not None, may raise before anything runs.",
    .tp_basicsize = sizeof(Steps),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Steps, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = steps_new,
    .tp_dealloc = (destructor)steps_dealloc,
};
