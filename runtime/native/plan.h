// A launch plan: what one region launches, in order. Numbers may follow from the sizes of a call's arguments.
//
// docs/launch-plans.md describes plans, the interface of the code and what is checked when. State belongs to a plan,
// which never changes, or to one call; so there is no lock, and calls may come from any thread.

#pragma once

#if !defined(__linux__) || !defined(__x86_64__)
#error "plans run on x86-64 Linux; elsewhere regions run through iree.runtime"
#endif

#define PY_SSIZE_T_CLEAN
#include "interfaces.h"

#pragma GCC visibility push(hidden)

enum {
  ALIGNMENT = 64,          // of all memory that code is given
  BLOCK_BYTES = 64 << 10,  // of a fill or a copy: one piece of work, a multiple of every pattern
};

typedef struct {
  PyObject_HEAD
  PyObject *code, *weak_references;
  int file;
  void *handle;
  const Table *table;
} Library;

enum Kind { DISPATCH, FILL, COPY };

// A number: `known`, or what a call computes in register `index`.
typedef struct {
  int64_t known;
  int index;  // -1: known
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

// A step as the plan says it; positions in the arrays that a schedule has of its numbers.
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
  int ndim, is_number, is_destination;
  uint8_t type_code, type_bits;
  int64_t *shape, bytes;  // a size of -1 is open, and so are then the bytes
  int *registers;         // of each dimension, or of the number; -1: none wants it
} Argument;

// Where code takes tensors: on a device, at multiples of so many bytes.
typedef struct {
  int device_type, device_id;
  uintptr_t alignment;
} Place;

extern const Place HOST;

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
  uint64_t most_pieces;  // that wait for none of each other
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

static inline int64_t number(Number form, const int64_t *registers) {
  return form.index < 0 ? form.known : registers[form.index];
}

extern PyTypeObject LibraryType, PlanType, LaunchesType, StepsType;

// ---- registers.c ----

// Computes the registers that follow from those of the arguments; -1 with ValueError.
int compute(const Plan *plan, int64_t *registers);

// ---- schedule.c ----

size_t schedule_size(const Plan *plan);
// Lets the parts of `schedule` lie in `memory`, of `schedule_size` bytes.
void place_schedule(const Plan *plan, Schedule *schedule, void *memory);
// Makes the schedule for arguments of so many bytes each; -1 with ValueError before anything ran.
int make_schedule(const Plan *plan, Schedule *schedule, const int64_t *bytes, const int64_t *registers);

// ---- steps.c ----

// Reads an integer, or a tuple of one, the register that the number is in; -1 with an exception.
int read_number(Plan *plan, PyObject *item, Number *number);
// Reads what a plan's text says of one step; -1 with an exception.
int read_step(Plan *plan, StepForm *step, PyObject *item);

// ---- team.c ----

// Runs a schedule on the memory of its buffers, of which it sets the transients' and the constants'; None, or NULL.
PyObject *launch(const Plan *plan, const Schedule *schedule, char **buffers);
// Looks for torch's threads; whether there are any.
int find_threads(PyObject *get_num_threads);
// Prepares for threads and forks; an error number.
int prepare_team(void);

// ---- arguments.c ----

// Reads what a plan's text says of an argument; -1 with an exception.
int read_argument(Argument *argument, PyObject *item);
void free_arguments(Argument *arguments, int count);
// Whether `given` is of the expected type and shape; its bytes, and into the registers the sizes that the plan wants.
int fits(const Argument *expected, const Tensor *given, int64_t *bytes, int64_t *registers);
// Whether `given` is as expected, and then its first byte; that it shows its memory is asked only where `is_asked`. If it is
// not so, there may be an exception.
int starts_at(const Argument *expected, Place place, PyObject *given, int is_asked, char **start);
// Where each tensor of a list of `count` lies, as bytes; NULL, without an exception, where one is not as expected.
PyObject *located(const Argument *const *expected, int count, Place place, PyObject *tensors);

// ---- call.c ----

// A plan's vectorcall: runs it on a region's tensors and numbers.
PyObject *plan_call(PyObject *self, PyObject *const *given, size_t flags, PyObject *keywords);

// ---- tensors.c ----

// Notes how to see torch's tensors; -1 with an exception.
int attach_tensors(PyTypeObject *type, const Exchange *exchange);
// Reads what `given` is as a tensor; -1 where it is none that can be read, and then there may be an exception.
int borrow(PyObject *given, Tensor *tensor);
// The first byte in use.
char *address_of(const Tensor *tensor);
// Whether the tensor lies where code can take it.
int lies_well(const Tensor *tensor, Place place);
// Whether a tensor shows the numbers that its memory holds, as negative views don't; if not, there may be an exception.
int shows_memory(PyObject *given);
// Where each of some tensors lies, as bytes of an array of addresses; None where one of them can't be read.
PyObject *addresses(PyObject *module, PyObject *tensors);
// Whether some tensors surely lie well, and show their memory.
PyObject *are_ready(PyObject *module, PyObject *tensors);

#pragma GCC visibility pop
