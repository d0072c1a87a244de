// The numbers of a call that follow from the sizes of its arguments.

#include "plan.h"

static int refuse_check(const Plan *plan, const Instruction *step, const int64_t *registers) {
  const int *origin = plan->origins[step->operands[0]];
  const long long given = registers[step->operands[0]], one = registers[step->operands[1]];
  const long long other = step->operation == CHECK_RANGE ? registers[step->operands[2]] : one;
  const char *between = one == other ? "%s %lld" : "%s from %lld to %lld";
  char expected[64], what[64] = "a number";
  snprintf(expected, sizeof expected, between, "expected", one, other);
  if (origin[0] >= 0 && origin[1] >= 0)
    snprintf(what, sizeof what, "the size of argument %d in dimension %d", origin[0], origin[1]);
  else if (origin[0] >= 0)
    snprintf(what, sizeof what, "argument %d", origin[0]);
  PyErr_Format(PyExc_ValueError, "does not take this call: %s is %lld, %s", what, given, expected);
  return -1;
}

int compute(const Plan *plan, int64_t *registers) {
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
