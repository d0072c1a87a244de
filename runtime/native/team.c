// Running a schedule: alone, or on torch's own threads.

#include "plan.h"

#include <dlfcn.h>
#include <immintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static PyObject *get_num_threads;
static void (*gomp_parallel)(void (*)(void *), void *, unsigned, unsigned);
static void (*gomp_barrier)(void);
static int (*thread_number)(void), (*team_size)(void);
static atomic_int is_forked;       // a team of the parent's threads would be waited for for ever
static pthread_key_t scratch_key;  // of each thread: memory for transients

enum {
  INLINE_BYTES = 128 << 10,  // below, waking a thread costs more than it saves
  THREAD_BYTES = 64 << 10,   // what each thread of a team moves at least
  GIL_BYTES = 16 << 10,      // above, other Python threads may run meanwhile
};

static void note_fork(void) { atomic_store(&is_forked, 1); }

int prepare_team(void) {
  const int failed = pthread_key_create(&scratch_key, free);
  return failed ? failed : pthread_atfork(NULL, NULL, note_fork);
}

int find_threads(PyObject *threads) {
  get_num_threads = Py_NewRef(threads);
  void *gomp = dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (gomp) {
    gomp_barrier = dlsym(gomp, "GOMP_barrier");
    thread_number = dlsym(gomp, "omp_get_thread_num"), team_size = dlsym(gomp, "omp_get_num_threads");
    if (gomp_barrier && thread_number && team_size) gomp_parallel = dlsym(gomp, "GOMP_parallel");
  }
  return gomp_parallel != NULL;
}

typedef struct {
  const Plan *plan;
  const Schedule *schedule;
  char *const *buffers;
  unsigned float_control;
  atomic_int failed;
} Team;

// Writes the pattern once, and then what is written as often as it fits: one byte at a time takes a nanosecond each.
static void fill(char *into, int64_t length, const StepForm *form) {
  if (length) memcpy(into, &form->pattern, form->pattern_bytes);
  for (int64_t done = form->pattern_bytes; done < length; done *= 2)
    memcpy(into + done, into, done < length - done ? done : length - done);
}

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
      fill(into, end - start, form);
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
    const uint64_t turn = (thread + i) % threads;  // so that steps of one piece don't all fall to one thread
    const uint64_t from = pieces * turn / threads, to = pieces * (turn + 1) / threads;
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

PyObject *launch(const Plan *plan, const Schedule *schedule, char **buffers) {
  char *transients = schedule->transient_bytes ? scratch(schedule->transient_bytes) : NULL;
  if (schedule->transient_bytes && !transients) return NULL;
  for (int i = 0; i < plan->transient_count; i++)
    buffers[plan->argument_count + i] = transients ? transients + schedule->transients[i] : NULL;
  buffers[plan->argument_count + plan->transient_count] = plan->constants;
  const int threads = choose_threads(schedule);
  if (threads < 0) return NULL;
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
