// Making a plan: everything that a call relies on is checked here, in steps.c, or by `make_schedule`.

#include "plan.h"

#include <stdlib.h>
#include <string.h>
#include <structmember.h>

static void plan_dealloc(Plan *self) {
  free_arguments(self->arguments, self->argument_count);
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

// What a register starts with: a constant, or a number that an argument brings, its size in a dimension.
static int read_register(Plan *plan, int index, PyObject *item) {
  long long known;
  int argument, dimension;
  if (!PyArg_ParseTuple(item, "Lii", &known, &argument, &dimension)) return -1;
  plan->registers[index] = known;
  plan->origins[index][0] = argument, plan->origins[index][1] = dimension;
  if (argument < 0) return 0;
  const Argument *given = argument < plan->argument_count ? &plan->arguments[argument] : NULL;
  const int slot = given && given->is_number ? 0 : dimension;
  if (!given || slot < 0 || slot > given->ndim - !given->is_number || (given->is_number && dimension != -1) ||
      given->registers[slot] >= 0)
    return PyErr_SetString(PyExc_ValueError, "wants a size that no argument has, or has twice"), -1;
  given->registers[slot] = index;
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
  for (int i = 0; i < plan->argument_count; i++) {
    if (read_argument(&plan->arguments[i], PyTuple_GET_ITEM(arguments, i))) return -1;
    plan->is_open |= plan->arguments[i].bytes < 0;
  }
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
PyTypeObject PlanType = {
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
