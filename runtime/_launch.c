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
  MOST_ON_STACK = 8 << 10,   // of the numbers of one call
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

// ---- Plan: what one region launches, in order. Numbers may follow from the sizes of a call's arguments. ----

enum Kind { DISPATCH, FILL, COPY };

// A number: `known`, or what a call computes in register `place`.
typedef struct {
  int64_t known;
  int place;  // -1: known
} Number;

enum Operation {
  ADD, SUBTRACT, MULTIPLY, DIVIDE, DIVIDE_UP, LARGER, SMALLER, SHIFT, SELECT, EQUAL, UNEQUAL, LESS, AT_MOST, GREATER,
  AT_LEAST, CHECK_EQUAL, CHECK_RANGE, OPERATIONS
};

typedef struct {
  enum Operation operation;
  int target, operands[3];  // registers
} Instruction;

typedef struct {
  int buffer;
  Number offset, length;
} RangeForm;

// A step as the plan says it; places in the arrays that a schedule has of its numbers.
typedef struct {
  int kind, waits;  // waits: for all steps before it
  Entry entry;
  const EntryFacts *facts;
  Number counts[3];
  int first_range, first_constant;
  uint16_t constant_count;
  uint8_t binding_count, pattern_bytes;
  uint64_t pattern;
} StepForm;

typedef struct {
  int ndim, is_number;
  uint8_t type_code, type_bits;
  int64_t *shape, bytes;  // a size of -1 is open, and so are then the bytes
  int *registers;         // of each dimension, or of the number; -1: none wants it
} Argument;

typedef struct {
  int buffer;
  int64_t offset, length;
} Range;

typedef struct {
  uint32_t counts[3];
  uint64_t pieces;
} Step;

// The numbers of a plan for one call, or for all where none is open.
typedef struct {
  Step *steps;
  Range *ranges;  // of a copy: source and target
  size_t *lengths;
  uint32_t *constants;
  int64_t *transients;  // where each starts
  int64_t transient_bytes, moved_bytes;
  uint64_t most_pieces;
} Schedule;

typedef struct {
  PyObject_HEAD
  vectorcallfunc call;
  PyObject *name, *misfit, *library;
  char *constants;
  int argument_count, step_count, register_count, instruction_count, range_count, constant_count, transient_count;
  int is_open;
  Argument *arguments;
  StepForm *steps;
  RangeForm *ranges;
  Number *step_constants, *transients;
  int64_t *registers;  // what each call starts with: the constants among them
  int (*origins)[2];   // of registers: the argument and the dimension that they are, -1 where they are none
  Instruction *instructions;
  int64_t constant_bytes;
  Schedule schedule;  // unless it is open
} Plan;

static void plan_dealloc(Plan *self) {
  for (int i = 0; self->arguments && i < self->argument_count; i++) {
    free(self->arguments[i].shape);
    free(self->arguments[i].registers);
  }
  free(self->arguments);
  free(self->steps);
  free(self->ranges);
  free(self->step_constants);
  free(self->transients);
  free(self->registers);
  free(self->origins);
  free(self->instructions);
  free(self->constants);
  free(self->schedule.steps);
  Py_XDECREF(self->name);
  Py_XDECREF(self->misfit);
  Py_XDECREF(self->library);
  Py_TYPE(self)->tp_free((PyObject *)self);
}

// ---- Numbers of a call. All that memory safety rests on is checked here, for what is known when the plan is made. ----

static size_t schedule_size(const Plan *plan) {
  return plan->step_count * sizeof(Step) + plan->range_count * (sizeof(Range) + sizeof(size_t)) +
         plan->transient_count * sizeof(int64_t) + plan->constant_count * sizeof(uint32_t) + 1;
}

static void place_schedule(const Plan *plan, Schedule *schedule, void *memory) {
  schedule->steps = memory;
  schedule->ranges = (Range *)(schedule->steps + plan->step_count);
  schedule->lengths = (size_t *)(schedule->ranges + plan->range_count);
  schedule->transients = (int64_t *)(schedule->lengths + plan->range_count);
  schedule->constants = (uint32_t *)(schedule->transients + plan->transient_count);
}

static inline int64_t number(Number form, const int64_t *registers) {
  return form.place < 0 ? form.known : registers[form.place];
}

static int refuse_check(const Plan *plan, const Instruction *step, const int64_t *registers) {
  const int *origin = plan->origins[step->operands[0]];
  const long long given = registers[step->operands[0]], one = registers[step->operands[1]];
  const long long other = step->operation == CHECK_RANGE ? registers[step->operands[2]] : one;
  const char *between = one == other ? "%s %lld" : "%s from %lld to %lld";
  char expected[64], place[64] = "a number";
  snprintf(expected, sizeof expected, between, "expected", one, other);
  if (origin[0] >= 0 && origin[1] >= 0)
    snprintf(place, sizeof place, "the size of argument %d in dimension %d", origin[0], origin[1]);
  else if (origin[0] >= 0)
    snprintf(place, sizeof place, "argument %d", origin[0]);
  PyErr_Format(PyExc_ValueError, "does not take this call: %s is %lld, %s", place, given, expected);
  return -1;
}

// Computes the registers that follow from those of the arguments; -1 with ValueError.
static int compute(const Plan *plan, int64_t *registers) {
  for (int i = 0; i < plan->instruction_count; i++) {
    const Instruction *step = &plan->instructions[i];
    const int64_t a = registers[step->operands[0]], b = registers[step->operands[1]], c = registers[step->operands[2]];
    int64_t *result = &registers[step->target];
    int overflows = 0;
    switch (step->operation) {
      case ADD: overflows = __builtin_add_overflow(a, b, result); break;
      case SUBTRACT: overflows = __builtin_sub_overflow(a, b, result); break;
      case MULTIPLY: overflows = __builtin_mul_overflow(a, b, result); break;
      case DIVIDE:
      case DIVIDE_UP:
        overflows = b == 0 || (a == INT64_MIN && b == -1);
        if (!overflows) *result = a / b + (step->operation == DIVIDE_UP && a % b && (a < 0) == (b < 0));
        break;
      case LARGER: *result = a > b ? a : b; break;
      case SMALLER: *result = a < b ? a : b; break;
      case SHIFT:
        overflows = a < 0 || b < 0 || b > 63;
        if (!overflows) *result = a >> b;
        break;
      case SELECT: *result = a ? b : c; break;
      case EQUAL: *result = a == b; break;
      case UNEQUAL: *result = a != b; break;
      case LESS: *result = a < b; break;
      case AT_MOST: *result = a <= b; break;
      case GREATER: *result = a > b; break;
      case AT_LEAST: *result = a >= b; break;
      case CHECK_EQUAL:
        if (a != b) return refuse_check(plan, step, registers);
        break;
      case CHECK_RANGE:
        if (a < b || a > c) return refuse_check(plan, step, registers);
        break;
      default: overflows = 1;
    }
    if (overflows) return PyErr_SetString(PyExc_ValueError, "computes a number that is too large"), -1;
  }
  return 0;
}

// Where the transients lie, in memory of the calling thread.
static int place_transients(const Plan *plan, Schedule *schedule, const int64_t *registers) {
  int64_t end = 0;
  for (int i = 0; i < plan->transient_count; i++) {
    const int64_t bytes = number(plan->transients[i], registers);
    schedule->transients[i] = end;
    if (bytes < 0 || __builtin_add_overflow(end, bytes, &end) || __builtin_add_overflow(end, ALIGNMENT - 1, &end))
      return PyErr_SetString(PyExc_ValueError, "is given memory of no sound size"), -1;
    end -= end % ALIGNMENT;
  }
  schedule->transient_bytes = end;
  return 0;
}

// What is there of a buffer: of arguments, `bytes`.
static int64_t buffer_bytes(const Plan *plan, const int64_t *bytes, const int64_t *registers, int buffer) {
  if (buffer < 0 || buffer > plan->argument_count + plan->transient_count) return -1;
  if (buffer < plan->argument_count) return bytes[buffer];
  buffer -= plan->argument_count;
  return buffer < plan->transient_count ? number(plan->transients[buffer], registers) : plan->constant_bytes;
}

static int schedule_range(const Plan *plan, const RangeForm *form, const int64_t *bytes, const int64_t *registers,
                          Range *range) {
  const int64_t offset = number(form->offset, registers), length = number(form->length, registers);
  const int64_t available = buffer_bytes(plan, bytes, registers, form->buffer);
  if (offset < 0 || length < 0 || available < 0 || offset > available || length > available - offset) {
    PyErr_Format(PyExc_ValueError, "reaches for %lld bytes from byte %lld of argument %d, which has %lld",
                 (long long)length, (long long)offset, form->buffer, (long long)available);
    return -1;
  }
  range->buffer = form->buffer, range->offset = offset, range->length = length;
  return 0;
}

static int schedule_dispatch(const StepForm *form, Step *step, const Range *ranges, const int64_t *registers) {
  step->pieces = 1;
  for (int i = 0; i < 3; i++) {
    const int64_t count = number(form->counts[i], registers);
    if (count < 0 || count > (i == 2 ? UINT16_MAX : UINT32_MAX) ||
        __builtin_mul_overflow(step->pieces, (uint64_t)count, &step->pieces))
      return PyErr_SetString(PyExc_ValueError, "has too many workgroups"), -1;
    step->counts[i] = (uint32_t)count;
  }
  for (int i = 0; i < form->binding_count; i++)
    if (ranges[i].offset % ALIGNMENT)
      return PyErr_Format(PyExc_ValueError, "binds memory from byte %lld", (long long)ranges[i].offset), -1;
  return 0;
}

static int schedule_transfer(const StepForm *form, Step *step, const Range *ranges) {
  const Range *source = &ranges[0], *target = &ranges[form->kind == COPY];
  if (form->kind == FILL && target->length % form->pattern_bytes)
    return PyErr_SetString(PyExc_ValueError, "fills with a pattern that does not fit"), -1;
  if (form->kind == COPY && (source->length != target->length ||
                             (source->buffer == target->buffer && source->offset < target->offset + target->length &&
                              target->offset < source->offset + source->length)))
    return PyErr_SetString(PyExc_ValueError, "copies between ranges of different or common bytes"), -1;
  step->pieces = ((uint64_t)target->length + BLOCK_BYTES - 1) / BLOCK_BYTES;
  return 0;
}

// Makes the schedule for arguments of so many bytes each; -1 with ValueError before anything ran.
static int make_schedule(const Plan *plan, Schedule *schedule, const int64_t *bytes, const int64_t *registers) {
  if (place_transients(plan, schedule, registers)) return -1;
  schedule->most_pieces = 0;
  int overflows = __builtin_add_overflow(schedule->transient_bytes, plan->constant_bytes, &schedule->moved_bytes);
  for (int i = 0; i < plan->argument_count; i++)
    overflows |= __builtin_add_overflow(schedule->moved_bytes, bytes[i], &schedule->moved_bytes);
  if (overflows) return PyErr_SetString(PyExc_ValueError, "is given memory of no sound size"), -1;
  for (int i = 0; i < plan->range_count; i++) {
    if (schedule_range(plan, &plan->ranges[i], bytes, registers, &schedule->ranges[i])) return -1;
    schedule->lengths[i] = (size_t)schedule->ranges[i].length;
  }
  for (int i = 0; i < plan->constant_count; i++)
    schedule->constants[i] = (uint32_t)number(plan->step_constants[i], registers);
  for (int i = 0; i < plan->step_count; i++) {
    const StepForm *form = &plan->steps[i];
    Step *step = &schedule->steps[i];
    const Range *ranges = &schedule->ranges[form->first_range];
    if (form->kind == DISPATCH ? schedule_dispatch(form, step, ranges, registers) : schedule_transfer(form, step, ranges))
      return -1;
    if (step->pieces > schedule->most_pieces) schedule->most_pieces = step->pieces;
  }
  return 0;
}

// ---- Running a schedule. ----

typedef struct {
  const Plan *plan;
  const Schedule *schedule;
  char *const *buffers;
  unsigned float_control;
  atomic_int failed;
} Team;

static void run_pieces(Team *team, int index, uint64_t from, uint64_t to, int thread, int threads) {
  const StepForm *form = &team->plan->steps[index];
  const Step *step = &team->schedule->steps[index];
  const Range *ranges = &team->schedule->ranges[form->first_range];
  char *const *buffers = team->buffers;
  if (form->kind != DISPATCH) {
    const Range *target = &ranges[form->kind == COPY];
    int64_t start = from * BLOCK_BYTES, end = to * BLOCK_BYTES;
    if (end > target->length) end = target->length;
    char *into = buffers[target->buffer] + target->offset + start;
    if (form->kind == COPY)
      memcpy(into, buffers[ranges[0].buffer] + ranges[0].offset + start, end - start);
    else
      for (int64_t i = 0; i < end - start; i += form->pattern_bytes) memcpy(into + i, &form->pattern, form->pattern_bytes);
    return;
  }
  static const Environment environment;
  void *bindings[MOST_BINDINGS];
  for (int i = 0; i < form->binding_count; i++) bindings[i] = buffers[ranges[i].buffer] + ranges[i].offset;
  _Alignas(64) Dispatch dispatch = {
      .size_x = form->facts->size_x, .size_y = form->facts->size_y, .size_z = form->facts->size_z,
      .count_x = step->counts[0], .count_y = step->counts[1], .count_z = step->counts[2],
      .max_concurrency = threads < 255 ? threads : 255,
      .constant_count = form->constant_count, .constants = &team->schedule->constants[form->first_constant],
      .binding_count = form->binding_count, .bindings = bindings,
      .binding_lengths = &team->schedule->lengths[form->first_range]};
  _Alignas(64) Workgroup group = {.processor_id = thread};
  for (uint64_t piece = from; piece < to; piece++) {
    uint64_t row = piece / step->counts[0];
    group.x = piece % step->counts[0], group.y = row % step->counts[1], group.z = row / step->counts[1];
    if (form->entry(&environment, &dispatch, &group)) {
      atomic_store(&team->failed, 1);
      return;
    }
  }
}

static void run_share(void *pointer) {
  Team *team = pointer;
  const int thread = thread_number(), threads = team_size();  // nested, or limited, a team is smaller than asked for
  const unsigned own_control = _mm_getcsr();
  _mm_setcsr(team->float_control);
  for (int i = 0; i < team->plan->step_count; i++) {
    if (team->plan->steps[i].waits && threads > 1) gomp_barrier();
    const uint64_t pieces = team->schedule->steps[i].pieces;
    const uint64_t place = (thread + i) % threads;  // so that steps of one piece don't all fall to one thread
    const uint64_t from = pieces * place / threads, to = pieces * (place + 1) / threads;
    if (from < to) run_pieces(team, i, from, to, thread, threads);
  }
  _mm_setcsr(own_control);
}

static int run(const Plan *plan, const Schedule *schedule, char *const *buffers, int threads) {
  Team team = {
      .plan = plan, .schedule = schedule, .buffers = buffers, .float_control = _mm_getcsr() & ~_MM_EXCEPT_MASK};
  if (threads > 1)
    gomp_parallel(run_share, &team, threads, 0);
  else
    for (int i = 0; i < plan->step_count; i++)
      if (schedule->steps[i].pieces) run_pieces(&team, i, 0, schedule->steps[i].pieces, 0, 1);
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
    if (bytes > PTRDIFF_MAX - ALIGNMENT || posix_memalign((void **)&held, ALIGNMENT, ALIGNMENT + bytes)) {
      PyErr_NoMemory();
      return NULL;
    }
    held->bytes = bytes;
    pthread_setspecific(scratch_key, held);
  }
  return (char *)held + ALIGNMENT;
}

// How many threads a call uses: torch's own count, but none that would be woken for little; -1 with an exception.
static int choose_threads(const Schedule *schedule) {
  if (schedule->moved_bytes < INLINE_BYTES || schedule->most_pieces < 2 || !gomp_parallel || atomic_load(&is_forked))
    return 1;
  PyObject *number = PyObject_CallNoArgs(get_num_threads);
  if (!number) return -1;
  int64_t threads = PyLong_AsLong(number);
  Py_DECREF(number);
  if (threads == -1 && PyErr_Occurred()) return -1;
  if (threads > schedule->moved_bytes / THREAD_BYTES) threads = schedule->moved_bytes / THREAD_BYTES;
  return (uint64_t)threads > schedule->most_pieces ? (int)schedule->most_pieces : (int)threads;
}

// ---- A call. ----

// Whether `given` is as expected; its bytes, and into the registers the sizes that the plan wants.
static int fits(const Argument *expected, const Tensor *given, int64_t *bytes, int64_t *registers) {
  if (given->device_type != ON_CPU || given->type_code != expected->type_code || given->type_lanes != 1 ||
      given->type_bits != expected->type_bits || given->ndim != expected->ndim)
    return 0;
  *bytes = expected->bytes;
  if (expected->bytes < 0) {
    *bytes = expected->type_bits / 8;
    for (int i = 0; i < expected->ndim; i++)
      if (given->shape[i] < 0 || __builtin_mul_overflow(*bytes, given->shape[i], bytes)) return 0;
  }
  int64_t stride = 1;
  for (int i = expected->ndim - 1; i >= 0; i--) {
    if (expected->shape[i] >= 0 && given->shape[i] != expected->shape[i]) return 0;
    if (given->shape[i] != 1 && *bytes && given->strides && given->strides[i] != stride) return 0;
    stride *= given->shape[i];
    if (expected->registers[i] >= 0) registers[expected->registers[i]] = given->shape[i];
  }
  return !(((uintptr_t)given->data + given->byte_offset) % ALIGNMENT);
}

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
  if (!PyObject_TypeCheck(given, tensor_type) || exchange->borrow(given, &tensor) ||
      !fits(expected, &tensor, &call->bytes[index], call->registers))
    return 0;
  call->buffers[index] = (char *)tensor.data + tensor.byte_offset;
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

// Runs a schedule on the memory of the arguments.
static PyObject *launch(const Plan *plan, const Schedule *schedule, char **buffers) {
  char *transients = schedule->transient_bytes ? scratch(schedule->transient_bytes) : NULL;
  for (int i = 0; i < plan->transient_count; i++)
    buffers[plan->argument_count + i] = transients ? transients + schedule->transients[i] : NULL;
  buffers[plan->argument_count + plan->transient_count] = plan->constants;
  const int threads = choose_threads(schedule);
  if (threads < 0 || (schedule->transient_bytes && !transients)) return NULL;
  int failed;
  if (schedule->moved_bytes < GIL_BYTES) {
    failed = run(plan, schedule, buffers, threads);
  } else {
    Py_BEGIN_ALLOW_THREADS
    failed = run(plan, schedule, buffers, threads);
    Py_END_ALLOW_THREADS
  }
  if (failed) return PyErr_Format(PyExc_RuntimeError, "region '%U': its code reports a failure", plan->name);
  Py_RETURN_NONE;
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

// Runs an open plan: its numbers are computed and checked first.
static PyObject *launch_open(const Plan *plan, const Call *call) {
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

static PyObject *plan_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *keywords) {
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

// ---- Making a plan: everything that a call relies on is checked here, or by `make_schedule`. ----

// An integer, or a tuple of one, the register that the number is in.
static int read_number(Plan *plan, PyObject *item, Number *number) {
  number->place = -1;
  if (PyTuple_CheckExact(item)) {
    if (!PyArg_ParseTuple(item, "i", &number->place)) return -1;
    if (number->place < 0 || number->place >= plan->register_count)
      return PyErr_SetString(PyExc_ValueError, "has a number that nothing computes"), -1;
    plan->is_open = 1;
    return 0;
  }
  number->known = PyLong_AsLongLong(item);
  return number->known == -1 && PyErr_Occurred() ? -1 : 0;
}

static int read_argument(Plan *plan, Argument *argument, PyObject *item) {
  PyObject *shape;
  if (!PyArg_ParseTuple(item, "O!bbp", &PyTuple_Type, &shape, &argument->type_code, &argument->type_bits,
                        &argument->is_number))
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
  plan->is_open |= is_open;
  return 0;
}

// What a register starts with: a constant, or a number that an argument brings, its size in a dimension.
static int read_register(Plan *plan, int index, PyObject *item) {
  long long known;
  int argument, dimension;
  if (!PyArg_ParseTuple(item, "Lii", &known, &argument, &dimension)) return -1;
  plan->registers[index] = known;
  plan->origins[index][0] = argument, plan->origins[index][1] = dimension;
  if (argument < 0) return 0;
  const Argument *given = argument < plan->argument_count ? &plan->arguments[argument] : NULL;
  const int place = given && given->is_number ? 0 : dimension;
  if (!given || place < 0 || place > given->ndim - !given->is_number || (given->is_number && dimension != -1) ||
      given->registers[place] >= 0)
    return PyErr_SetString(PyExc_ValueError, "wants a size that no argument has, or has twice"), -1;
  given->registers[place] = index;
  return 0;
}

static int read_instruction(const Plan *plan, Instruction *step, PyObject *item) {
  int operation;
  if (!PyArg_ParseTuple(item, "iiiii", &operation, &step->target, &step->operands[0], &step->operands[1],
                        &step->operands[2]))
    return -1;
  int is_sound = operation >= 0 && operation < OPERATIONS && step->target >= 0 && step->target < plan->register_count;
  for (int i = 0; i < 3; i++) is_sound &= step->operands[i] >= 0 && step->operands[i] < plan->register_count;
  step->operation = operation;
  return is_sound ? 0 : (PyErr_SetString(PyExc_ValueError, "computes in no sound way"), -1);
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
    if (constant->place < 0 && (constant->known < 0 || constant->known > UINT32_MAX))
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

static int read_step(Plan *plan, StepForm *step, PyObject *item) {
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

// Makes room for the parts of a plan; -1 with MemoryError.
static int allocate(Plan *plan) {
  plan->arguments = calloc(plan->argument_count + 1, sizeof(Argument));
  plan->transients = calloc(plan->transient_count + 1, sizeof(Number));
  plan->registers = calloc(plan->register_count + 1, sizeof(int64_t));
  plan->origins = calloc(plan->register_count + 1, sizeof *plan->origins);
  plan->instructions = calloc(plan->instruction_count + 1, sizeof(Instruction));
  plan->steps = calloc(plan->step_count + 1, sizeof(StepForm));
  if (posix_memalign((void **)&plan->constants, ALIGNMENT, plan->constant_bytes + 1)) plan->constants = NULL;
  const int has_all = plan->arguments && plan->transients && plan->registers && plan->origins && plan->instructions &&
                      plan->steps && plan->constants;
  return has_all ? 0 : (PyErr_NoMemory(), -1);
}

// Reads the parts of a plan; -1 with an exception.
static int read_parts(Plan *plan, PyObject *arguments, PyObject *registers, PyObject *instructions,
                      PyObject *transients, PyObject *steps) {
  for (int i = 0; i < plan->argument_count; i++)
    if (read_argument(plan, &plan->arguments[i], PyTuple_GET_ITEM(arguments, i))) return -1;
  for (int i = 0; i < plan->register_count; i++)
    if (read_register(plan, i, PyTuple_GET_ITEM(registers, i))) return -1;
  for (int i = 0; i < plan->instruction_count; i++)
    if (read_instruction(plan, &plan->instructions[i], PyTuple_GET_ITEM(instructions, i))) return -1;
  for (int i = 0; i < plan->transient_count; i++)
    if (read_number(plan, PyTuple_GET_ITEM(transients, i), &plan->transients[i])) return -1;
  for (int i = 0; i < plan->step_count; i++)
    if (read_step(plan, &plan->steps[i], PyTuple_GET_ITEM(steps, i))) return -1;
  plan->is_open |= plan->instruction_count > 0;
  return 0;
}

// The one schedule of a plan whose numbers are all known; -1 with an exception.
static int make_only_schedule(Plan *plan) {
  void *memory = malloc(schedule_size(plan));
  if (!memory) return PyErr_NoMemory(), -1;
  place_schedule(plan, &plan->schedule, memory);
  int64_t bytes[plan->argument_count + 1];
  for (int i = 0; i < plan->argument_count; i++) bytes[i] = plan->arguments[i].bytes;
  return make_schedule(plan, &plan->schedule, bytes, NULL);
}

static PyObject *plan_new(PyTypeObject *type, PyObject *given, PyObject *keywords) {
  PyObject *name, *library, *arguments, *registers, *instructions, *transients, *constants, *steps, *misfit;
  if (!PyArg_ParseTuple(given, "UO!O!O!O!O!SO!O:Plan", &name, &LibraryType, &library, &PyTuple_Type, &arguments,
                        &PyTuple_Type, &registers, &PyTuple_Type, &instructions, &PyTuple_Type, &transients, &constants,
                        &PyTuple_Type, &steps, &misfit))
    return NULL;
  Plan *plan = (Plan *)type->tp_alloc(type, 0);
  if (!plan) return NULL;
  plan->call = plan_call;
  plan->name = Py_NewRef(name), plan->library = Py_NewRef(library), plan->misfit = Py_NewRef(misfit);
  plan->argument_count = (int)PyTuple_GET_SIZE(arguments), plan->step_count = (int)PyTuple_GET_SIZE(steps);
  plan->register_count = (int)PyTuple_GET_SIZE(registers), plan->transient_count = (int)PyTuple_GET_SIZE(transients);
  plan->instruction_count = (int)PyTuple_GET_SIZE(instructions);
  plan->constant_bytes = PyBytes_GET_SIZE(constants);
  int failed = allocate(plan);
  if (!failed) memcpy(plan->constants, PyBytes_AS_STRING(constants), plan->constant_bytes);
  failed = failed || read_parts(plan, arguments, registers, instructions, transients, steps);
  failed = failed || (!plan->is_open && make_only_schedule(plan));
  if (!failed) return (PyObject *)plan;
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
    .tp_doc = "Plan(name, library, arguments, registers, instructions, transients, constants, steps, misfit): callable on a "
              "region's tensors and numbers.",
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
