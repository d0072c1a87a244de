// Runs launch plans: the code that IREE compiled, on torch's own threads, without IREE's runtime.
//
// docs/launch-plans.md describes plans, the interface of the code and what is checked when. State belongs to a plan,
// which never changes, or to one call; so there is no lock, and calls may come from any thread.

#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <dlfcn.h>
#include <pthread.h>
#include <structmember.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(__linux__) || !defined(__x86_64__)
#error "plans run on x86-64 Linux; elsewhere regions run through iree.runtime"
#endif
#include <immintrin.h>

// ---- The interface of IREE's executable libraries, version 6, as far as it is used here. ----

enum { LIBRARY_VERSION = 6, MOST_BINDINGS = 64, MOST_CONSTANTS = 64 };

typedef struct {
  const uint32_t *constants;
  void *import_thunk;
  void *import_functions, *import_contexts;
  uint64_t processor[8];  // zeros: not told
} Environment;

typedef struct {
  uint32_t size_x, size_y;
  uint16_t size_z, constant_count;
  uint32_t count_x, count_y;
  uint16_t count_z;
  uint8_t max_concurrency, binding_count;
  const uint32_t *constants;
  void *const *bindings;
  const size_t *binding_lengths;
} Dispatch;

typedef struct {
  uint32_t x, y;
  uint16_t z, reserved;
  uint32_t processor_id;
  void *local_memory;
  uint32_t local_memory_size;
} Workgroup;

typedef int (*Entry)(const Environment *, const Dispatch *, const Workgroup *);

typedef struct {
  uint64_t flags;
  uint16_t local_memory_pages;
  uint8_t constant_count, binding_count;
  uint32_t size_x, size_y;
  uint16_t size_z, parameter_count;
  uint64_t reserved[5];
} EntryFacts;

typedef struct {
  const struct {
    uint32_t version;
    const char *name;
    uint32_t features, sanitizer;
  } *header;
  struct {
    uint32_t count;
    const char *const *symbols;
  } imports;
  struct {
    uint32_t count;
    const Entry *entries;
    const EntryFacts *facts;
    const void *parameters, *occupancy;
    const char *const *names;
    const void *tags, *parameter_names, *source_locations, *stage_locations;
  } exports;
  struct {
    uint32_t count;
  } constants;
} Table;

typedef const Table *(*Query)(uint32_t max_version, const Environment *);

// ---- DLPack, as far as torch's exchange interface is used here. ----

typedef struct {
  void *data;
  int32_t device_type, device_id, ndim;
  uint8_t type_code, type_bits;
  uint16_t type_lanes;
  int64_t *shape, *strides;  // strides in elements
  uint64_t byte_offset;
} Tensor;

typedef struct {
  uint32_t major, minor;
  void *previous;
  void *allocate, *export_owned, *import_owned;
  int (*borrow)(PyObject *, Tensor *);
} Exchange;

enum { ON_CPU = 1, ALIGNMENT = 64 };

// ---- What the process has: torch's tensors, its thread count, its OpenMP. ----

static const Exchange *exchange;
static PyTypeObject *tensor_type;
static PyObject *get_num_threads, *is_neg;
static void (*gomp_parallel)(void (*)(void *), void *, unsigned, unsigned);
static void (*gomp_barrier)(void);
static int (*thread_number)(void), (*team_size)(void);
static atomic_int is_forked;      // a team of the parent's threads would be waited for for ever
static pthread_key_t scratch_key;  // of each thread: memory for transients

enum {
  INLINE_BYTES = 128 << 10,  // below, waking a thread costs more than it saves
  THREAD_BYTES = 64 << 10,   // what each thread of a team moves at least
  GIL_BYTES = 16 << 10,      // above, other Python threads may run meanwhile
  BLOCK_BYTES = 64 << 10,    // of a fill or a copy: one piece of work, a multiple of every pattern
};

static void note_fork(void) { atomic_store(&is_forked, 1); }

// ---- Library: one executable, loaded. ----

typedef struct {
  PyObject_HEAD
  PyObject *code, *weak_references;
  int file;
  void *handle;
  const Table *table;
} Library;

static void library_dealloc(Library *self) {
  // The file stays open while its code is loaded: the loader would take another file of the same number for it.
  if (self->handle) dlclose(self->handle);
  if (self->file > 0) close(self->file);
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
static PyTypeObject LibraryType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dovetail.runtime._launch.Library",
    .tp_doc = "Library(code): an executable library, loaded from its bytes; raises OSError or ValueError.",
    .tp_basicsize = sizeof(Library),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_weaklistoffset = offsetof(Library, weak_references),
    .tp_members = library_members,
    .tp_new = library_new,
    .tp_dealloc = (destructor)library_dealloc,
};

// ---- Plan: what one region launches, in order. ----

enum Kind { DISPATCH, FILL, COPY };

typedef struct {
  int buffer;
  int64_t offset, length;
} Range;

typedef struct {
  int kind, waits;  // waits: for all steps before it
  Entry entry;
  uint32_t counts[3];
  uint16_t constant_count;
  uint8_t binding_count, pattern_bytes;
  const EntryFacts *facts;
  uint32_t *constants;
  Range *ranges;  // of a copy: source and target
  size_t *lengths;
  uint64_t pattern, pieces;
} Step;

typedef struct {
  int ndim;
  uint8_t type_code, type_bits;
  int64_t *shape, bytes;
} Argument;

typedef struct {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject *name, *misfit, *library;
  char *constants;
  int argument_count, step_count;
  Argument *arguments;
  Step *steps;
  int64_t transient_bytes, constant_bytes, moved_bytes;
  uint64_t most_pieces;
} Plan;

static void plan_dealloc(Plan *self) {
  for (int i = 0; self->arguments && i < self->argument_count; i++) free(self->arguments[i].shape);
  for (int i = 0; self->steps && i < self->step_count; i++) {
    free(self->steps[i].constants);
    free(self->steps[i].ranges);
    free(self->steps[i].lengths);
  }
  free(self->arguments);
  free(self->steps);
  free(self->constants);
  Py_XDECREF(self->name);
  Py_XDECREF(self->misfit);
  Py_XDECREF(self->library);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

static void run_pieces(const Plan *plan, const Step *step, char *const *buffers, uint64_t from, uint64_t to, int thread,
                       int threads, atomic_int *failed) {
  if (step->kind != DISPATCH) {
    const Range *target = &step->ranges[step->kind == COPY];
    int64_t start = from * BLOCK_BYTES, end = to * BLOCK_BYTES;
    if (end > target->length) end = target->length;
    char *into = buffers[target->buffer] + target->offset + start;
    if (step->kind == COPY)
      memcpy(into, buffers[step->ranges[0].buffer] + step->ranges[0].offset + start, end - start);
    else
      for (int64_t i = 0; i < end - start; i += step->pattern_bytes) memcpy(into + i, &step->pattern, step->pattern_bytes);
    return;
  }
  static const Environment environment;
  void *bindings[MOST_BINDINGS];
  for (int i = 0; i < step->binding_count; i++) bindings[i] = buffers[step->ranges[i].buffer] + step->ranges[i].offset;
  _Alignas(64) Dispatch dispatch = {
      .size_x = step->facts->size_x, .size_y = step->facts->size_y, .size_z = step->facts->size_z,
      .count_x = step->counts[0], .count_y = step->counts[1], .count_z = step->counts[2],
      .max_concurrency = threads < 255 ? threads : 255,
      .constant_count = step->constant_count, .constants = step->constants,
      .binding_count = step->binding_count, .bindings = bindings, .binding_lengths = step->lengths};
  _Alignas(64) Workgroup group = {.processor_id = thread};
  for (uint64_t piece = from; piece < to; piece++) {
    uint64_t row = piece / step->counts[0];
    group.x = piece % step->counts[0], group.y = row % step->counts[1], group.z = row / step->counts[1];
    if (step->entry(&environment, &dispatch, &group)) {
      atomic_store(failed, 1);
      return;
    }
  }
}

typedef struct {
  const Plan *plan;
  char *const *buffers;
  unsigned float_control;
  atomic_int failed;
} Team;

static void run_share(void *pointer) {
  Team *team = pointer;
  const int thread = thread_number(), threads = team_size();  // nested, or limited, a team is smaller than asked for
  const unsigned own_control = _mm_getcsr();
  _mm_setcsr(team->float_control);
  for (int i = 0; i < team->plan->step_count; i++) {
    const Step *step = &team->plan->steps[i];
    if (step->waits && threads > 1) gomp_barrier();
    const uint64_t place = (thread + i) % threads;  // so that steps of one piece don't all fall to one thread
    const uint64_t from = step->pieces * place / threads, to = step->pieces * (place + 1) / threads;
    if (from < to) run_pieces(team->plan, step, team->buffers, from, to, thread, threads, &team->failed);
  }
  _mm_setcsr(own_control);
}

static int run(const Plan *plan, char *const *buffers, int threads) {
  Team team = {.plan = plan, .buffers = buffers, .float_control = _mm_getcsr() & ~_MM_EXCEPT_MASK};
  if (threads > 1)
    gomp_parallel(run_share, &team, threads, 0);
  else
    for (int i = 0; i < plan->step_count; i++)
      run_pieces(plan, &plan->steps[i], buffers, 0, plan->steps[i].pieces, 0, 1, &team.failed);
  return atomic_load(&team.failed);
}

typedef struct {
  int64_t bytes;
} Scratch;

// Memory of the calling thread, which keeps the largest that it needed; NULL with MemoryError.
static char *scratch(int64_t bytes) {
  Scratch *held = pthread_getspecific(scratch_key);
  if (!held || held->bytes < bytes) {
    free(held);
    pthread_setspecific(scratch_key, NULL);
    if (posix_memalign((void **)&held, ALIGNMENT, ALIGNMENT + bytes)) {
      PyErr_NoMemory();
      return NULL;
    }
    held->bytes = bytes;
    pthread_setspecific(scratch_key, held);
  }
  return (char *)held + ALIGNMENT;
}

// How many threads a call uses: torch's own count, but none that would be woken for little; -1 with an exception.
static int choose_threads(const Plan *plan) {
  if (plan->moved_bytes < INLINE_BYTES || plan->most_pieces < 2 || !gomp_parallel || atomic_load(&is_forked)) return 1;
  PyObject *number = PyObject_CallNoArgs(get_num_threads);
  if (!number) return -1;
  int64_t threads = PyLong_AsLong(number);
  Py_DECREF(number);
  if (threads == -1 && PyErr_Occurred()) return -1;
  if (threads > plan->moved_bytes / THREAD_BYTES) threads = plan->moved_bytes / THREAD_BYTES;
  return (uint64_t)threads > plan->most_pieces ? (int)plan->most_pieces : (int)threads;
}

static int fits(const Argument *expected, const Tensor *given) {
  if (given->device_type != ON_CPU || given->type_code != expected->type_code || given->type_lanes != 1 ||
      given->type_bits != expected->type_bits || given->ndim != expected->ndim)
    return 0;
  int64_t stride = 1;
  for (int i = expected->ndim - 1; i >= 0; i--) {
    if (given->shape[i] != expected->shape[i]) return 0;
    if (given->shape[i] != 1 && expected->bytes && given->strides && given->strides[i] != stride) return 0;
    stride *= given->shape[i];
  }
  return !(((uintptr_t)given->data + given->byte_offset) % ALIGNMENT);
}

// Whether `given` can be argument `index` as it lies, in `memory`; if not, there may be an exception.
static int locate(const Plan *plan, Py_ssize_t index, PyObject *given, char **memory) {
  Tensor tensor;
  if (!PyObject_TypeCheck(given, tensor_type) || exchange->borrow(given, &tensor) ||
      !fits(&plan->arguments[index], &tensor))
    return 0;
  *memory = (char *)tensor.data + tensor.byte_offset;
  PyObject *negative = PyObject_CallMethodNoArgs(given, is_neg);  // it shows other numbers than its memory holds
  Py_XDECREF(negative);
  return negative == Py_False;
}

// What the plan's `misfit` gives in place of argument `index`; NULL with what it raises.
static PyObject *replaced(const Plan *plan, Py_ssize_t index, PyObject *given) {
  PyErr_Clear();
  PyObject *number = PyLong_FromSsize_t(index);
  PyObject *result = number ? PyObject_CallFunctionObjArgs(plan->misfit, number, given, NULL) : NULL;
  Py_XDECREF(number);
  return result;
}

// Runs the plan on the memory of its arguments.
static PyObject *launch(const Plan *plan, char **buffers) {
  buffers[plan->argument_count] = plan->transient_bytes ? scratch(plan->transient_bytes) : NULL;
  buffers[plan->argument_count + 1] = plan->constants;
  const int threads = choose_threads(plan);
  if (threads < 0 || (plan->transient_bytes && !buffers[plan->argument_count])) return NULL;
  int failed;
  if (plan->moved_bytes < GIL_BYTES) {
    failed = run(plan, buffers, threads);
  } else {
    Py_BEGIN_ALLOW_THREADS
    failed = run(plan, buffers, threads);
    Py_END_ALLOW_THREADS
  }
  if (failed) return PyErr_Format(PyExc_RuntimeError, "region '%U': its code reports a failure", plan->name);
  Py_RETURN_NONE;
}

static PyObject *plan_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *keywords) {
  Plan *plan = (Plan *)self;
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count != plan->argument_count || keywords)
    return PyErr_Format(PyExc_TypeError, "region '%U': expected %d tensors and nothing else, got %zd", plan->name,
                        plan->argument_count, count);
  char *buffers[plan->argument_count + 2];  // the last two: transients, constants
  PyObject *copies = NULL;                   // what is passed in place of arguments, alive until the call ends
  for (Py_ssize_t i = 0; i < count; i++) {
    if (locate(plan, i, given[i], &buffers[i])) continue;
    PyObject *copy = replaced(plan, i, given[i]);
    if (!copy || !(copies || (copies = PyList_New(0))) || PyList_Append(copies, copy)) {
      Py_XDECREF(copy);
      Py_XDECREF(copies);
      return NULL;
    }
    Py_DECREF(copy);
    if (!locate(plan, i, copy, &buffers[i])) {
      Py_DECREF(copies);
      PyErr_Clear();
      return PyErr_Format(PyExc_ValueError, "region '%U': argument %zd does not fit", plan->name, i);
    }
  }
  PyObject *result = launch(plan, buffers);
  Py_XDECREF(copies);
  return result;
}

// ---- Making a plan: everything that a call relies on is checked here. ----

static int64_t buffer_bytes(const Plan *plan, int buffer) {
  if (buffer < 0 || buffer > plan->argument_count + 1) return -1;
  if (buffer < plan->argument_count) return plan->arguments[buffer].bytes;
  return buffer == plan->argument_count ? plan->transient_bytes : plan->constant_bytes;
}

static int read_argument(Argument *argument, PyObject *item) {
  PyObject *shape;
  if (!PyArg_ParseTuple(item, "O!bb", &PyTuple_Type, &shape, &argument->type_code, &argument->type_bits)) return -1;
  argument->ndim = (int)PyTuple_GET_SIZE(shape);
  argument->shape = calloc(argument->ndim + 1, sizeof(int64_t));
  if (!argument->shape) return PyErr_NoMemory(), -1;
  argument->bytes = argument->type_bits / 8;
  for (int i = 0; i < argument->ndim; i++) {
    argument->shape[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, i));
    if (argument->shape[i] < 0 || __builtin_mul_overflow(argument->bytes, argument->shape[i], &argument->bytes)) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "has an argument of no sound shape");
      return -1;
    }
  }
  return 0;
}

static int read_ranges(const Plan *plan, Step *step, PyObject *items) {
  const Py_ssize_t count = PyTuple_GET_SIZE(items);
  if (count > MOST_BINDINGS) return PyErr_SetString(PyExc_ValueError, "binds too many buffers"), -1;
  step->binding_count = (uint8_t)count;
  step->ranges = calloc(count + 1, sizeof(Range));
  step->lengths = calloc(count + 1, sizeof(size_t));
  if (!step->ranges || !step->lengths) return PyErr_NoMemory(), -1;
  for (Py_ssize_t i = 0; i < count; i++) {
    Range *range = &step->ranges[i];
    long long offset, length;
    if (!PyArg_ParseTuple(PyTuple_GET_ITEM(items, i), "iLL", &range->buffer, &offset, &length)) return -1;
    const int64_t bytes = buffer_bytes(plan, range->buffer);
    if (offset < 0 || length < 0 || bytes < 0 || offset > bytes || length > bytes - offset) {
      PyErr_Format(PyExc_ValueError, "reaches for %lld bytes from byte %lld of argument %d, which has %lld", length,
                   offset, range->buffer, (long long)bytes);
      return -1;
    }
    range->offset = offset, range->length = length, step->lengths[i] = (size_t)length;
  }
  return 0;
}

// Python's own converters take the low bits of what is too large.
static int read_numbers(PyObject *numbers, uint32_t *into) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(numbers, i));
    if (PyErr_Occurred()) return -1;
    if (number > UINT32_MAX) return PyErr_Format(PyExc_ValueError, "has a number too large: %llu", number), -1;
    into[i] = (uint32_t)number;
  }
  return 0;
}

static int read_dispatch(Step *step, const Table *table, const char *entry, PyObject *counts, PyObject *constants) {
  const Py_ssize_t constant_count = PyTuple_GET_SIZE(constants);
  if (constant_count > MOST_CONSTANTS) return PyErr_SetString(PyExc_ValueError, "gives too many constants"), -1;
  step->constant_count = (uint16_t)constant_count;
  step->constants = calloc(constant_count + 1, sizeof(uint32_t));
  if (!step->constants) return PyErr_NoMemory(), -1;
  if (PyTuple_GET_SIZE(counts) != 3) return PyErr_SetString(PyExc_ValueError, "needs three workgroup counts"), -1;
  if (read_numbers(constants, step->constants) || read_numbers(counts, step->counts)) return -1;
  if (step->counts[2] > UINT16_MAX) return PyErr_SetString(PyExc_ValueError, "has too many workgroups"), -1;
  step->pieces = (uint64_t)step->counts[0] * step->counts[1] * step->counts[2];
  for (uint32_t i = 0; i < table->exports.count; i++) {
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

static int read_transfer(const Plan *plan, Step *step) {
  const int is_copy = step->kind == COPY;
  if (step->binding_count != 1 + is_copy) return PyErr_SetString(PyExc_ValueError, "has a transfer of no sound form"), -1;
  const Range *source = &step->ranges[0], *target = &step->ranges[is_copy];
  if (target->buffer > plan->argument_count) return PyErr_SetString(PyExc_ValueError, "overwrites a constant"), -1;
  if (!is_copy && ((step->pattern_bytes != 1 && step->pattern_bytes != 2 && step->pattern_bytes != 4 &&
                    step->pattern_bytes != 8) || target->length % step->pattern_bytes))
    return PyErr_SetString(PyExc_ValueError, "fills with a pattern that does not fit"), -1;
  if (is_copy && (source->length != target->length ||
                  (source->buffer == target->buffer && source->offset < target->offset + target->length &&
                   target->offset < source->offset + source->length)))
    return PyErr_SetString(PyExc_ValueError, "copies between ranges of different or common bytes"), -1;
  step->pieces = ((uint64_t)target->length + BLOCK_BYTES - 1) / BLOCK_BYTES;
  return 0;
}

static int read_step(Plan *plan, Step *step, PyObject *item) {
  PyObject *ranges, *counts, *constants;
  const char *entry;
  unsigned long long pattern;
  if (!PyArg_ParseTuple(item, "iisO!O!O!Kb", &step->kind, &step->waits, &entry, &PyTuple_Type, &counts, &PyTuple_Type,
                        &constants, &PyTuple_Type, &ranges, &pattern, &step->pattern_bytes))
    return -1;
  step->pattern = pattern;
  if (read_ranges(plan, step, ranges)) return -1;
  if (step->kind == DISPATCH ? read_dispatch(step, ((Library *)plan->library)->table, entry, counts, constants)
                             : read_transfer(plan, step))
    return -1;
  if (step->pieces > plan->most_pieces) plan->most_pieces = step->pieces;
  return 0;
}

static PyObject *plan_new(PyTypeObject *type, PyObject *given, PyObject *keywords) {
  PyObject *name, *library, *arguments, *constants, *steps, *misfit;
  long long transient_bytes;
  if (!PyArg_ParseTuple(given, "UO!O!LSO!O:Plan", &name, &LibraryType, &library, &PyTuple_Type, &arguments,
                        &transient_bytes, &constants, &PyTuple_Type, &steps, &misfit))
    return NULL;
  Plan *plan = (Plan *)type->tp_alloc(type, 0);
  if (!plan) return NULL;
  plan->call = plan_call;
  plan->name = Py_NewRef(name), plan->library = Py_NewRef(library), plan->misfit = Py_NewRef(misfit);
  plan->argument_count = (int)PyTuple_GET_SIZE(arguments), plan->step_count = (int)PyTuple_GET_SIZE(steps);
  plan->arguments = calloc(plan->argument_count + 1, sizeof(Argument));
  plan->steps = calloc(plan->step_count + 1, sizeof(Step));
  plan->transient_bytes = plan->moved_bytes = transient_bytes;
  plan->constant_bytes = PyBytes_GET_SIZE(constants);
  int failed = transient_bytes < 0 || !plan->arguments || !plan->steps ||
               posix_memalign((void **)&plan->constants, ALIGNMENT, plan->constant_bytes + 1) ||
               __builtin_add_overflow(plan->moved_bytes, plan->constant_bytes, &plan->moved_bytes);
  if (plan->constants) memcpy(plan->constants, PyBytes_AS_STRING(constants), plan->constant_bytes);
  for (int i = 0; !failed && i < plan->argument_count; i++) {
    failed = read_argument(&plan->arguments[i], PyTuple_GET_ITEM(arguments, i));
    failed |= !failed && __builtin_add_overflow(plan->moved_bytes, plan->arguments[i].bytes, &plan->moved_bytes);
  }
  for (int i = 0; !failed && i < plan->step_count; i++) failed = read_step(plan, &plan->steps[i], PyTuple_GET_ITEM(steps, i));
  if (!failed) return (PyObject *)plan;
  if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "is given memory of no sound size");
  Py_DECREF(plan);
  return NULL;
}

static PyMemberDef plan_members[] = {
    {"name", T_OBJECT_EX, offsetof(Plan, name), READONLY, "The region."},
    {"library", T_OBJECT_EX, offsetof(Plan, library), READONLY, "Its code."},
    {NULL, 0, 0, 0, NULL},
};
static PyTypeObject PlanType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "dovetail.runtime._launch.Plan",
    .tp_doc = "Plan(name, library, arguments, transient_bytes, constants, steps, misfit): callable on a region's tensors.",
    .tp_basicsize = sizeof(Plan),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Plan, call),
    .tp_call = PyVectorcall_Call,
    .tp_members = plan_members,
    .tp_new = plan_new,
    .tp_dealloc = (destructor)plan_dealloc,
};

// ---- The module. ----

static PyObject *attach(PyObject *module, PyObject *given) {
  PyObject *type, *capsule, *threads;
  if (!PyArg_ParseTuple(given, "O!OO:attach", &PyType_Type, &type, &capsule, &threads)) return NULL;
  const Exchange *found = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  if (!found) return NULL;
  if (found->major != 1) return PyErr_Format(PyExc_ValueError, "DLPack %u, expected 1", found->major);
  exchange = found;
  tensor_type = (PyTypeObject *)Py_NewRef(type), get_num_threads = Py_NewRef(threads);
  if (!(is_neg = PyUnicode_InternFromString("is_neg"))) return NULL;
  void *gomp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (gomp) {
    gomp_barrier = dlsym(gomp, "GOMP_barrier");
    thread_number = dlsym(gomp, "omp_get_thread_num"), team_size = dlsym(gomp, "omp_get_num_threads");
    if (gomp_barrier && thread_number && team_size) gomp_parallel = dlsym(gomp, "GOMP_parallel");
  }
  return PyBool_FromLong(gomp_parallel != NULL);
}

static PyMethodDef methods[] = {
    {"attach", attach, METH_VARARGS, "attach(tensor_type, exchange, get_num_threads): whether there are threads."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_launch", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__launch(void) {
  if (pthread_key_create(&scratch_key, free) || pthread_atfork(NULL, NULL, note_fork)) return PyErr_NoMemory();
  PyObject *module = PyModule_Create(&definition);
  if (!module || PyModule_AddType(module, &LibraryType) || PyModule_AddType(module, &PlanType)) {
    Py_XDECREF(module);
    return NULL;
  }
  return module;
}
