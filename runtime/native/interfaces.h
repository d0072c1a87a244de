// What others define: IREE's executable libraries, and DLPack.

#pragma once
#include <Python.h>

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

enum { ON_CPU = 1 };

// ---- The CUDA driver, as far as it is used here; each gives a status, 0 for success. ----

typedef struct {
  _Alignas(8) int number;
  int padding;
  int value[16];
} LaunchAttribute;

typedef struct {
  unsigned workgroups[3], threads[3], shared_bytes;
  void *stream;
  LaunchAttribute *attributes;
  unsigned attribute_count;
} LaunchConfiguration;

enum { OVERLAPS = 6 };  // the number of the attribute that lets a kernel begin while the one before it runs

typedef int (*LaunchKernel)(const LaunchConfiguration *configuration, void *kernel, void **parameters, void **extra);
typedef int (*FillBytes)(uint64_t start, unsigned char pattern, size_t count, void *stream);
typedef int (*FillPairs)(uint64_t start, unsigned short pattern, size_t count, void *stream);
typedef int (*FillWords)(uint64_t start, unsigned pattern, size_t count, void *stream);
typedef int (*FillColumns)(uint64_t start, size_t pitch, unsigned pattern, size_t width, size_t height, void *stream);
typedef int (*CopyMemory)(uint64_t target, uint64_t source, size_t bytes, void *stream);
typedef int (*CurrentDevice)(int *device);
typedef int (*CurrentContext)(void **context);
typedef int (*EnterContext)(void *context);

enum { DRIVER_FUNCTIONS = 9 };

typedef struct {
  LaunchKernel launch;            // cuLaunchKernelEx
  FillBytes fill_bytes;           // cuMemsetD8Async
  FillPairs fill_pairs;           // cuMemsetD16Async
  FillWords fill_words;           // cuMemsetD32Async
  FillColumns fill_columns;       // cuMemsetD2D32Async
  CopyMemory copy;                // cuMemcpyDtoDAsync
  CurrentDevice current_device;   // cuCtxGetDevice
  CurrentContext current_context; // cuCtxGetCurrent
  EnterContext enter_context;     // cuCtxSetCurrent
} Driver;
