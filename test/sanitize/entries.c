// An executable library of version 6 for the stress test: what compiled code would be, and instrumented with it.

#include <stddef.h>
#include <stdint.h>

typedef struct {
  uint32_t size[2];
  uint16_t size_z, constant_count;
  uint32_t counts[2];
  uint16_t count_z;
  uint8_t max_concurrency, binding_count;
  const uint32_t *constants;
  void *const *bindings;
  const size_t *lengths;
} Dispatch;

typedef struct {
  uint32_t x, y;
  uint16_t z, reserved;
  uint32_t processor_id;
} Workgroup;

typedef int (*Entry)(const void *, const Dispatch *, const Workgroup *);

typedef struct {
  uint64_t flags;
  uint16_t pages;
  uint8_t constants, bindings;
  uint32_t size[2];
  uint16_t size_z, parameters;
  uint64_t reserved[5];
} Facts;

// into[i] = 3 from[i] + constant, where workgroups share the elements evenly.
static int mix(const void *environment, const Dispatch *dispatch, const Workgroup *group) {
  (void)environment;
  const uint32_t *from = dispatch->bindings[0];
  uint32_t *into = dispatch->bindings[1];
  const uint64_t groups = (uint64_t)dispatch->counts[0] * dispatch->counts[1] * dispatch->count_z;
  const uint64_t group_number =
      group->x + (uint64_t)dispatch->counts[0] * (group->y + (uint64_t)dispatch->counts[1] * group->z);
  const uint64_t elements = dispatch->lengths[1] / 4;
  for (uint64_t i = elements * group_number / groups; i < elements * (group_number + 1) / groups; i++)
    into[i] = from[i] * 3 + dispatch->constants[0];
  return 0;
}

static int fail(const void *environment, const Dispatch *dispatch, const Workgroup *group) {
  (void)environment, (void)dispatch;
  return group->x == 1;
}

static int who(const void *environment, const Dispatch *dispatch, const Workgroup *group) {
  (void)environment;
  *(uint32_t *)dispatch->bindings[0] = group->processor_id;
  return 0;
}

static const struct {
  uint32_t version;
  const char *name;
  uint32_t features, sanitizer;
} header = {6, "stress", 0, 0};
static const Entry entries[] = {mix, fail, who};
static const Facts facts[] = {{.constants = 1, .bindings = 2, .size = {1, 1}, .size_z = 1},
                              {.constants = 0, .bindings = 1, .size = {1, 1}, .size_z = 1},
                              {.constants = 0, .bindings = 1, .size = {1, 1}, .size_z = 1}};
static const char *const names[] = {"mix", "fail", "who"};
static const struct {
  const void *header;
  struct {
    uint32_t count;
    const void *symbols;
  } imports;
  struct {
    uint32_t count;
    const Entry *entries;
    const Facts *facts;
    const void *parameters, *occupancy;
    const char *const *names;
    const void *tags, *parameter_names, *source_locations, *stage_locations;
  } exports;
  uint32_t constants;
} table = {.header = &header, .exports = {.count = 3, .entries = entries, .facts = facts, .names = names}};

const void *iree_hal_executable_library_query(uint32_t version, const void *environment) {
  (void)environment;
  return version == 6 ? &table : NULL;
}
