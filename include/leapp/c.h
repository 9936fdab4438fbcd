/* LEAPP's runtime for C, and for languages that can call C.
 *
 *   leapp_manager* robot = NULL;
 *   if (leapp_load("walker/walker.yaml", NULL, &robot) != LEAPP_OK) fail(leapp_last_error());
 *   size_t obs, action;
 *   leapp_find_input(robot, "policy/obs", &obs);
 *   leapp_find_output(robot, "policy/action", &action);
 *   leapp_prepare(robot, 2);
 *   while (running) {
 *     if (leapp_set_input(robot, obs, sensors, sizeof sensors) != LEAPP_OK ||
 *         leapp_tick(robot) != LEAPP_OK) fail(leapp_last_error());
 *     apply(leapp_output(robot, action));
 *   }
 *   leapp_free(robot);
 * inference_manager.h describes a manager and the threads that may call it; this header has the
 * same calls in C. No exception leaves a function. A failed call changes nothing and returns a
 * status; leapp_last_error() has the reason. Calls that do not return a status report a failure by
 * a count of 0, or by a null name or output. An unexpected null pointer is also a failure
 * (LEAPP_VALUE). leapp_set_input(), leapp_input(), leapp_touch(), leapp_tick() and leapp_output()
 * neither allocate nor lock in LEAPP's code; the engine may do so inside a run.
 *
 * Structs grow at their end. Therefore the caller passes sizeof of each struct, and the library
 * neither reads nor writes beyond it: a program and a library may be compiled with different
 * versions of this header. Members that the caller does not know have their defaults; members that
 * the library does not know must be zero, or the call fails.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAPP_API __attribute__((visibility("default")))

/* Returns LEAPP_C_VERSION of the library. Every addition to this header increases the number. */
#define LEAPP_C_VERSION 2
LEAPP_API uint32_t leapp_c_version(void);

typedef struct leapp_manager leapp_manager;

typedef enum leapp_status {
  LEAPP_OK = 0,
  LEAPP_USAGE = 1,     /* a call in the wrong order or state */
  LEAPP_TYPE = 2,      /* an argument of the wrong type */
  LEAPP_VALUE = 3,     /* an invalid value: an unknown port, an invalid bundle, a failed tick */
  LEAPP_NOT_FOUND = 4, /* a missing file or library */
  LEAPP_IO = 5,        /* reading or writing failed, or no memory was left */
  LEAPP_INTERNAL = 6   /* a bug in LEAPP */
} leapp_status;

/* Returns the reason of the last failure in this thread. Valid until the next failure in it. */
LEAPP_API const char* leapp_last_error(void);

/* Returns the code of that failure, "LP604" or "B21". Texts change between releases, codes keep
 * their meaning; docs/reference/diagnostics.md lists them. Empty before the first failure. */
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

/* Values that must be finite: leapp_options.check_finite. */
#define LEAPP_FINITE_INPUTS 1u
#define LEAPP_FINITE_STATE 2u
#define LEAPP_FINITE_OUTPUTS 4u

/* Options of one node that differ from those of the others; members as in leapp_options. */
typedef struct leapp_node_options {
  const char* node; /* name of the node */
  int32_t threads;
  const int32_t* affinity; /* processors, as in leapp_options */
  size_t affinity_count;
  int32_t spinning;
  const char* provider;
  int32_t translate;
} leapp_node_options;

/* The maximum age of an input at the start of a tick. */
typedef struct leapp_staleness {
  const char* input; /* "node/port" */
  double seconds;
} leapp_staleness;

/* Called for a tick that took too long. `tick` is the number of earlier ticks; times in seconds. */
typedef void (*leapp_deadline_miss)(void* context, uint64_t tick, double took, double deadline);

typedef struct leapp_options {
  size_t size; /* of the caller's struct; leapp_options_init() sets it */
  int32_t threads;
  int32_t spinning;            /* 0 or 1 */
  int32_t merge;               /* 0 or 1 */
  uint32_t check_finite;       /* LEAPP_FINITE_.., joined by | */
  int32_t measure;             /* 0 or 1 */
  int32_t allow_outside_files; /* 0 or 1: allow model files outside the bundle's directory */
  int32_t translate;           /* 0 or 1: run TorchScript on the CPU in ONNX Runtime */
  int32_t trust_code;   /* 0 or 1: let models do everything this program may do, see security.md */
  int32_t allow_native; /* 0 or 1: run compiled C++ nodes, see security.md */
  const char* provider; /* "cpu", "cuda", ..; null means the best available one */
  uint64_t max_tensor_bytes; /* limit for all tensors of one tick */
  const int32_t* affinity;   /* processors (from 0) for the additional threads, one each */
  size_t affinity_count;
  const leapp_node_options* nodes; /* options of single nodes; read only during leapp_load() */
  size_t node_size;                /* sizeof(leapp_node_options) */
  size_t node_count;
  const leapp_staleness* staleness; /* inputs that are not listed never become stale */
  size_t staleness_size;            /* sizeof(leapp_staleness) */
  size_t staleness_count;
  double deadline;                      /* maximum seconds per tick; 0 means none */
  leapp_deadline_miss on_deadline_miss; /* called in the thread of the tick; may be null */
  void* deadline_context;
  uint64_t noise_seed; /* seed of the noise ports */
} leapp_options;

/* Sets the defaults: one thread, no spinning, merge on, no guard, no measuring, 1 GiB of tensors,
 * no outside files, TorchScript translated, models that only compute, no machine code. */
LEAPP_API leapp_status leapp_options_init(leapp_options* options, size_t size);
LEAPP_API leapp_status leapp_node_options_init(leapp_node_options* options, size_t size);

/* Loads a bundle; `options` may be null. `out` is unchanged on failure. */
LEAPP_API leapp_status leapp_load(const char* yaml, const leapp_options* options,
                                  leapp_manager** out);
LEAPP_API void leapp_free(leapp_manager* manager); /* null is allowed */

/* Returns the names of the pipeline's inputs and outputs, "node/port"; null for an index out of
 * range. Names are valid as long as the manager. */
LEAPP_API size_t leapp_input_count(const leapp_manager* manager);
LEAPP_API size_t leapp_output_count(const leapp_manager* manager);
LEAPP_API const char* leapp_input_name(const leapp_manager* manager, size_t input);
LEAPP_API const char* leapp_output_name(const leapp_manager* manager, size_t output);
/* Returns the number of noise ports, which the manager fills with random numbers unless the caller
 * sets them (see inference_manager.h). They follow the inputs: every function for an input takes
 * the index leapp_input_count() + i of noise port i. */
LEAPP_API size_t leapp_noise_input_count(const leapp_manager* manager);
LEAPP_API leapp_status leapp_find_input(const leapp_manager* manager, const char* name,
                                        size_t* input);
LEAPP_API leapp_status leapp_find_output(const leapp_manager* manager, const char* name,
                                         size_t* output);

typedef struct leapp_tensor_info {
  leapp_dtype dtype;
  size_t rank;
  const int64_t* shape; /* `rank` numbers; valid as long as the manager */
  size_t bytes;
} leapp_tensor_info;

LEAPP_API leapp_status leapp_input_info(leapp_manager* manager, size_t input,
                                        leapp_tensor_info* info, size_t size);
LEAPP_API leapp_status leapp_output_info(leapp_manager* manager, size_t output,
                                         leapp_tensor_info* info, size_t size);

/* Returns semantics of a port: its kind ("state/joint/position"), or the name of one element along
 * one dimension. Null if the bundle does not state it. Valid as long as the manager. */
LEAPP_API const char* leapp_input_kind(const leapp_manager* manager, size_t input);
LEAPP_API const char* leapp_output_kind(const leapp_manager* manager, size_t output);
LEAPP_API const char* leapp_input_element(const leapp_manager* manager, size_t input,
                                          size_t dimension, size_t element);
LEAPP_API const char* leapp_output_element(const leapp_manager* manager, size_t output,
                                           size_t dimension, size_t element);

/* Returns another string of a port: "unit", "frame", "quaternion", or your own key. Null if it
 * does not exist or is not a string. */
LEAPP_API const char* leapp_input_text(const leapp_manager* manager, size_t input, const char* key);
LEAPP_API const char* leapp_output_text(const leapp_manager* manager, size_t output,
                                        const char* key);

/* Copies all elements of an input; `bytes` must be the size of the port. */
LEAPP_API leapp_status leapp_set_input(leapp_manager* manager, size_t input, const void* elements,
                                       size_t bytes);
/* Reads an input from, or writes an output to, the caller's memory from now on; null and 0 end it.
 * `bytes` must be the size of the port. */
LEAPP_API leapp_status leapp_bind_input(leapp_manager* manager, size_t input, const void* elements,
                                        size_t bytes);
LEAPP_API leapp_status leapp_bind_output(leapp_manager* manager, size_t output, void* elements,
                                         size_t bytes);
/* Returns the memory of an input, for callers that write it in place and then call leapp_touch().
 * Null for an invalid index. */
LEAPP_API void* leapp_input(leapp_manager* manager, size_t input);
/* Marks an input that is bound, or was written in place, as fresh. */
LEAPP_API leapp_status leapp_touch(leapp_manager* manager, size_t input);

/* Runs ticks on mock input, then restores state and inputs. */
LEAPP_API leapp_status leapp_prepare(leapp_manager* manager, int32_t ticks);
LEAPP_API leapp_status leapp_tick(leapp_manager* manager);
/* Returns the elements of an output; valid until the next tick. Null for an invalid index. */
LEAPP_API const void* leapp_output(const leapp_manager* manager, size_t output);

/* Returns the number of ticks since the node of an output ran: 0 if it ran in the last tick, as
 * every node does in a bundle without a schedule; -1 if it has not run since the reset, or for an
 * invalid index. */
LEAPP_API int64_t leapp_output_age(const leapp_manager* manager, size_t output);

/* Replays the golden traces of the bundle, each node by itself and then the pipeline, in separate
 * buffers. Fails with LP941 if this machine does not repeat them within their tolerance; the
 * message names the first port and tick. Fails with LP949 if the traces contain nothing to compare.
 * Also fills `out` in these cases; it may be null. */
typedef struct leapp_verification {
  uint64_t ticks;      /* replayed ticks */
  uint64_t compared;   /* compared outputs, in all ticks */
  uint64_t mismatched; /* outputs that differ */
  double worst_error;  /* the largest difference */
} leapp_verification;
LEAPP_API leapp_status leapp_verify(const leapp_manager* manager, leapp_verification* out,
                                    size_t size);

/* Sets an input. Node and port are separate arguments here. */
LEAPP_API leapp_status leapp_set_input_value(leapp_manager* manager, const char* node,
                                             const char* input, const void* elements, size_t bytes);
LEAPP_API leapp_status leapp_reset(leapp_manager* manager);
/* Sets the seed of the noise ports from the next tick on. Does not change the tick, which the noise
 * also depends on. */
LEAPP_API leapp_status leapp_set_noise_seed(leapp_manager* manager, uint64_t seed);
/* Saves and restores all feedback inputs and, if the bundle has a schedule, the position in it, or,
 * if it has noise ports, the number of the next tick. The order of the bytes is internal to this
 * manager. */
LEAPP_API size_t leapp_state_bytes(const leapp_manager* manager);
LEAPP_API leapp_status leapp_get_state(const leapp_manager* manager, void* state, size_t bytes);
LEAPP_API leapp_status leapp_set_state(leapp_manager* manager, const void* state, size_t bytes);

/* Latencies of whole ticks in nanoseconds; all zero unless leapp_options.measure is set. */
typedef struct leapp_latency {
  uint64_t count;
  int64_t mean, p50, p99, p999, max;
  uint64_t deadline_misses;
} leapp_latency;
LEAPP_API leapp_status leapp_statistics(const leapp_manager* manager, leapp_latency* out,
                                        size_t size);
/* Writes a timeline of the ticks from now on, for ui.perfetto.dev; null ends it. See
 * InferenceManager::trace_to(). */
LEAPP_API leapp_status leapp_trace_to(leapp_manager* manager, const char* file);

/* Sends warnings and remarks to a function, see log.h. One sink per process; null ends it. `line`
 * is valid during the call, which may come from any thread. */
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
