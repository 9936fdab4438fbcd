/* LEAPP's runtime for C, and for every language that can call C.
 *
 *   leapp_manager* robot = NULL;
 *   if (leapp_load("walker/walker.yaml", NULL, &robot) != LEAPP_OK) fail(leapp_last_error());
 *   size_t obs, action;
 *   leapp_find_input(robot, "policy/obs", &obs);
 *   leapp_find_output(robot, "policy/action", &action);
 *   leapp_prepare(robot, 2);
 *   while (running) {
 *     leapp_set_input(robot, obs, sensors, sizeof sensors);
 *     if (leapp_tick(robot) != LEAPP_OK) fail(leapp_last_error());
 *     apply(leapp_output(robot, action));
 *   }
 *   leapp_free(robot);
 *
 * What a manager does, and what may be called from which thread, is said in inference_manager.h;
 * this header only says it in C. No exception leaves a function. A call that fails says why in
 * leapp_last_error(), and changes nothing. So does a null pointer where none is allowed: a status
 * of LEAPP_VALUE, a count of 0, a name or an output of null. leapp_set_input(), leapp_input(),
 * leapp_touch(), leapp_tick() and leapp_output() neither allocate nor lock, but for what the engine
 * does inside a run.
 *
 * The interface only grows: what is here stays as it is. Structs that may grow begin with their
 * size.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAPP_API __attribute__((visibility("default")))

/* Grows with every addition to this header. */
#define LEAPP_C_VERSION 6
LEAPP_API uint32_t leapp_c_version(void);

typedef struct leapp_manager leapp_manager;

typedef enum leapp_status {
  LEAPP_OK = 0,
  LEAPP_USAGE = 1,     /* a call in the wrong order or state */
  LEAPP_TYPE = 2,      /* an argument of the wrong type */
  LEAPP_VALUE = 3,     /* a wrong value: an unknown port, a bad bundle, a tick that failed */
  LEAPP_NOT_FOUND = 4, /* a file or a library that is not there */
  LEAPP_IO = 5,        /* reading or writing failed */
  LEAPP_INTERNAL = 6   /* a bug of ours */
} leapp_status;

/* Why the last call in this thread failed. Valid until the next failure in it. */
LEAPP_API const char* leapp_last_error(void);

/* What that failure was about, "LP604" or "B21": texts get better, codes keep their meaning;
 * docs/diagnostics.md has them. Empty before the first failure. Since version 3. */
LEAPP_API const char* leapp_last_code(void);

typedef enum leapp_dtype {
  LEAPP_BOOL,
  LEAPP_UINT8,
  LEAPP_INT8,
  LEAPP_UINT16,
  LEAPP_INT16,
  LEAPP_UINT32,
  LEAPP_INT32,
  LEAPP_UINT64,
  LEAPP_INT64,
  LEAPP_FLOAT8_E4M3FN,
  LEAPP_FLOAT8_E5M2,
  LEAPP_FLOAT16,
  LEAPP_BFLOAT16,
  LEAPP_FLOAT32,
  LEAPP_FLOAT64,
  LEAPP_COMPLEX64,
  LEAPP_COMPLEX128
} leapp_dtype;

/* What to guard against NaN and infinity: leapp_options.check_finite. */
#define LEAPP_FINITE_INPUTS 1u
#define LEAPP_FINITE_STATE 2u
#define LEAPP_FINITE_OUTPUTS 4u

/* How one node runs where it is not as the others do; the members are those of leapp_options. Since
 * version 4. */
typedef struct leapp_node_options {
  size_t size;      /* sizeof(leapp_node_options) */
  const char* node; /* its name */
  int32_t threads;
  const int32_t* affinity; /* processors, as in leapp_options */
  size_t affinity_count;
  int32_t spinning;
  const char* provider;
  int32_t translate;
} leapp_node_options;

/* How old an input may be when a tick begins. Since version 4. */
typedef struct leapp_staleness {
  const char* input; /* "node/port" */
  double seconds;
} leapp_staleness;

/* A tick that took too long: how many there were before it, and seconds. Since version 4. */
typedef void (*leapp_deadline_miss)(void* context, uint64_t tick, double took, double deadline);

typedef struct leapp_options {
  size_t size; /* of this struct, as leapp_options_init() sets it; less is refused */
  int32_t threads;
  int32_t spinning;      /* 0 or 1 */
  int32_t merge;         /* 0 or 1 */
  uint32_t check_finite; /* LEAPP_FINITE_.., joined by | */
  int32_t measure;       /* 0 or 1 */
  double deadline;       /* seconds a tick may take; 0 means none */
  const char* provider;  /* "cpu", "cuda", ..; null means the best one there is */
  /* Since version 2. */
  uint64_t max_tensor_bytes;   /* of all tensors of one tick; raise it for a pipeline you trust */
  int32_t allow_outside_files; /* 0 or 1: let model files lie outside the bundle's folder */
  int32_t translate;           /* 0 or 1: let TorchScript on the CPU run in ONNX Runtime */
  /* Since version 4. */
  int32_t trust_code;      /* 0 or 1: let models do whatever this program may do, see security.md */
  const int32_t* affinity; /* processors (from 0) for the threads beside the caller's, one each */
  size_t affinity_count;
  const leapp_node_options* nodes; /* nodes that run otherwise; only read during leapp_load() */
  size_t node_count;
  const leapp_staleness* staleness; /* inputs not named here never grow stale */
  size_t staleness_count;
  leapp_deadline_miss on_deadline_miss; /* called in the thread that ticks; may be null */
  void* deadline_context;
  /* Since version 6. */
  int32_t allow_native; /* 0 or 1: let what was compiled of C++ nodes run, see security.md */
} leapp_options;

/* The defaults: one thread, no spinning, merge on, no guard, no measuring, 1 GiB of tensors, no
 * outside files, TorchScript translated, models that do nothing but compute, no machine code. */
LEAPP_API void leapp_options_init(leapp_options* options);

/* Loads a bundle; `options` may be null. `out` is untouched on failure. */
LEAPP_API leapp_status leapp_load(const char* yaml, const leapp_options* options,
                                  leapp_manager** out);
LEAPP_API void leapp_free(leapp_manager* manager); /* null is fine */

/* The pipeline's inputs and outputs, "node/port" each; an index out of range gives null. Names live
 * as long as the manager. */
LEAPP_API size_t leapp_input_count(const leapp_manager* manager);
LEAPP_API size_t leapp_output_count(const leapp_manager* manager);
LEAPP_API const char* leapp_input_name(const leapp_manager* manager, size_t input);
LEAPP_API const char* leapp_output_name(const leapp_manager* manager, size_t output);
LEAPP_API leapp_status leapp_find_input(const leapp_manager* manager, const char* name,
                                        size_t* input);
LEAPP_API leapp_status leapp_find_output(const leapp_manager* manager, const char* name,
                                         size_t* output);

typedef struct leapp_tensor_info {
  leapp_dtype dtype;
  size_t rank;
  const int64_t* shape; /* `rank` numbers; lives as long as the manager */
  size_t bytes;
} leapp_tensor_info;

LEAPP_API leapp_status leapp_input_info(leapp_manager* manager, size_t input,
                                        leapp_tensor_info* info);
LEAPP_API leapp_status leapp_output_info(leapp_manager* manager, size_t output,
                                         leapp_tensor_info* info);

/* What a port means, as far as the bundle says: the kind ("state/joint/position"), and the name of
 * one element along one dimension; null where it says nothing. They live as long as the manager.
 * Since version 4. */
LEAPP_API const char* leapp_input_kind(const leapp_manager* manager, size_t input);
LEAPP_API const char* leapp_output_kind(const leapp_manager* manager, size_t output);
LEAPP_API const char* leapp_input_element(const leapp_manager* manager, size_t input,
                                          size_t dimension, size_t element);
LEAPP_API const char* leapp_output_element(const leapp_manager* manager, size_t output,
                                           size_t dimension, size_t element);

/* A text that the bundle says of a port beside: "unit", "frame", "quaternion", or a key of the
 * user's own; null where there is none, or it is no text. Since version 5. */
LEAPP_API const char* leapp_input_text(const leapp_manager* manager, size_t input, const char* key);
LEAPP_API const char* leapp_output_text(const leapp_manager* manager, size_t output,
                                        const char* key);

/* Copies an input's elements; `bytes` must be all of them. */
LEAPP_API leapp_status leapp_set_input(leapp_manager* manager, size_t input, const void* elements,
                                       size_t bytes);
/* Reads an input from, or writes an output to, the caller's memory from now on; null ends it. */
LEAPP_API leapp_status leapp_bind_input(leapp_manager* manager, size_t input, const void* elements);
LEAPP_API leapp_status leapp_bind_output(leapp_manager* manager, size_t output, void* elements);
/* Where an input's elements lie, to write them in place and then leapp_touch() it; null for a wrong
 * index. Since version 4. */
LEAPP_API void* leapp_input(leapp_manager* manager, size_t input);
/* Says that an input that is bound, or was written in place, is fresh. */
LEAPP_API leapp_status leapp_touch(leapp_manager* manager, size_t input);

/* Runs ticks on mock input, then puts everything back. */
LEAPP_API leapp_status leapp_prepare(leapp_manager* manager, int32_t ticks);
LEAPP_API leapp_status leapp_tick(leapp_manager* manager);
/* Where an output's elements lie since the last tick, until the next; null for a wrong index. */
LEAPP_API const void* leapp_output(const leapp_manager* manager, size_t output);

/* Replays the golden traces of the bundle, each node by itself and the pipeline, in buffers of its
 * own. Where this machine does not repeat them within their tolerance it fails with LP941, and the
 * message names the first port and tick; `out`, which may be null, is filled in either case. Since
 * version 6. */
typedef struct leapp_verification {
  uint64_t ticks;      /* that were replayed */
  uint64_t compared;   /* outputs of ticks */
  uint64_t mismatched; /* of these */
  double worst_error;  /* the largest difference that was met */
} leapp_verification;
LEAPP_API leapp_status leapp_verify(const leapp_manager* manager, leapp_verification* out);

/* State. Ports are named as everywhere: node and port apart. */
LEAPP_API leapp_status leapp_set_input_value(leapp_manager* manager, const char* node,
                                             const char* input, const void* elements, size_t bytes);
LEAPP_API leapp_status leapp_reset(leapp_manager* manager);
/* All feedback inputs as bytes of this manager's own order, to go back to later. */
LEAPP_API size_t leapp_state_bytes(const leapp_manager* manager);
LEAPP_API leapp_status leapp_get_state(const leapp_manager* manager, void* state, size_t bytes);
LEAPP_API leapp_status leapp_set_state(leapp_manager* manager, const void* state, size_t bytes);

/* Latencies of whole ticks in nanoseconds; all zero unless leapp_options.measure. */
typedef struct leapp_latency {
  uint64_t count;
  int64_t mean, p50, p99, p999, max;
  uint64_t deadline_misses;
} leapp_latency;
LEAPP_API leapp_status leapp_statistics(const leapp_manager* manager, leapp_latency* out);
/* Writes a timeline of the ticks from now on, for ui.perfetto.dev; null ends it. See
 * InferenceManager::trace_to(). Since version 5. */
LEAPP_API leapp_status leapp_trace_to(leapp_manager* manager, const char* file);

/* Since version 2: what LEAPP has to say beside errors, see log.h. One sink per process; null ends
 * it. `line` is valid during the call, which may come from any thread. */
typedef enum leapp_log_level {
  LEAPP_LOG_DEBUG = 0,
  LEAPP_LOG_INFO = 1,
  LEAPP_LOG_WARNING = 2,
  LEAPP_LOG_ERROR = 3
} leapp_log_level;
typedef void (*leapp_log_sink)(void* context, leapp_log_level level, const char* line);
LEAPP_API leapp_status leapp_set_log_sink(leapp_log_sink sink, void* context,
                                          leapp_log_level least);

#ifdef __cplusplus
}
#endif
