/* LEAPP's runtime for C, and for every language that can call C.
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
 *
 * inference_manager.h describes what a manager does, and which thread may call what; this header
 * says it in C. No exception leaves a function. A call that fails changes nothing and returns a
 * status; leapp_last_error() has the reason. Calls that return something else report a failure with
 * a count of 0, or with a null name or output. A null pointer where none is allowed is a failure
 * too (LEAPP_VALUE). leapp_set_input(), leapp_input(), leapp_touch(), leapp_tick() and
 * leapp_output() neither allocate nor lock, except for what the engine does inside a run.
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

/* Grows with every addition to this header. */
#define LEAPP_C_VERSION 1
LEAPP_API uint32_t leapp_c_version(void);

typedef struct leapp_manager leapp_manager;

typedef enum leapp_status {
  LEAPP_OK = 0,
  LEAPP_USAGE = 1,     /* a call in the wrong order or state */
  LEAPP_TYPE = 2,      /* an argument of the wrong type */
  LEAPP_VALUE = 3,     /* a wrong value: an unknown port, a bad bundle, a tick that failed */
  LEAPP_NOT_FOUND = 4, /* a file or a library that is not there */
  LEAPP_IO = 5,        /* reading or writing failed, or no memory was left */
  LEAPP_INTERNAL = 6   /* a bug in LEAPP */
} leapp_status;

/* Why the last call in this thread failed. Valid until the next failure in it. */
LEAPP_API const char* leapp_last_error(void);

/* What that failure was about, "LP604" or "B21": texts get better, codes keep their meaning;
 * docs/reference/diagnostics.md has them. Empty before the first failure. */
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

/* How one node runs if it differs from the others; the members are those of leapp_options. */
typedef struct leapp_node_options {
  const char* node; /* its name */
  int32_t threads;
  const int32_t* affinity; /* processors, as in leapp_options */
  size_t affinity_count;
  int32_t spinning;
  const char* provider;
  int32_t translate;
} leapp_node_options;

/* How old an input may be when a tick begins. */
typedef struct leapp_staleness {
  const char* input; /* "node/port" */
  double seconds;
} leapp_staleness;

/* A tick that took too long: how many there were before it, and seconds. */
typedef void (*leapp_deadline_miss)(void* context, uint64_t tick, double took, double deadline);

typedef struct leapp_options {
  size_t size; /* of the caller's struct: leapp_options_init() sets it */
  int32_t threads;
  int32_t spinning;            /* 0 or 1 */
  int32_t merge;               /* 0 or 1 */
  uint32_t check_finite;       /* LEAPP_FINITE_.., joined by | */
  int32_t measure;             /* 0 or 1 */
  int32_t allow_outside_files; /* 0 or 1: let model files lie outside the bundle's directory */
  int32_t translate;           /* 0 or 1: let TorchScript on the CPU run in ONNX Runtime */
  int32_t trust_code;          /* 0 or 1: let models do all this program may do, see security.md */
  int32_t allow_native;        /* 0 or 1: let compiled C++ nodes run, see security.md */
  const char* provider;        /* "cpu", "cuda", ..; null means the best one there is */
  uint64_t max_tensor_bytes;   /* of all tensors of one tick; raise it for a pipeline you trust */
  const int32_t* affinity;     /* processors (from 0) for the additional threads, one each */
  size_t affinity_count;
  const leapp_node_options* nodes; /* nodes that run differently; read during leapp_load() only */
  size_t node_size;                /* sizeof(leapp_node_options) */
  size_t node_count;
  const leapp_staleness* staleness; /* inputs not named here never grow stale */
  size_t staleness_size;            /* sizeof(leapp_staleness) */
  size_t staleness_count;
  double deadline;                      /* seconds a tick may take; 0 means none */
  leapp_deadline_miss on_deadline_miss; /* called in the thread that ticks; may be null */
  void* deadline_context;
} leapp_options;

/* Sets the defaults: one thread, no spinning, merge on, no guard, no measuring, 1 GiB of tensors,
 * no outside files, TorchScript translated, models that only compute, no machine code. */
LEAPP_API leapp_status leapp_options_init(leapp_options* options, size_t size);
LEAPP_API leapp_status leapp_node_options_init(leapp_node_options* options, size_t size);

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
                                        leapp_tensor_info* info, size_t size);
LEAPP_API leapp_status leapp_output_info(leapp_manager* manager, size_t output,
                                         leapp_tensor_info* info, size_t size);

/* What a port means, as far as the bundle says: the kind ("state/joint/position"), and the name of
 * one element along one dimension; null if it says nothing. They live as long as the manager. */
LEAPP_API const char* leapp_input_kind(const leapp_manager* manager, size_t input);
LEAPP_API const char* leapp_output_kind(const leapp_manager* manager, size_t output);
LEAPP_API const char* leapp_input_element(const leapp_manager* manager, size_t input,
                                          size_t dimension, size_t element);
LEAPP_API const char* leapp_output_element(const leapp_manager* manager, size_t output,
                                           size_t dimension, size_t element);

/* Another string of a port: "unit", "frame", "quaternion", or your own key; null if there is none,
 * or it is not a string. */
LEAPP_API const char* leapp_input_text(const leapp_manager* manager, size_t input, const char* key);
LEAPP_API const char* leapp_output_text(const leapp_manager* manager, size_t output,
                                        const char* key);

/* Copies an input's elements; `bytes` must be all of them. */
LEAPP_API leapp_status leapp_set_input(leapp_manager* manager, size_t input, const void* elements,
                                       size_t bytes);
/* Reads an input from, or writes an output to, the caller's memory from now on; null and 0 end it.
 * `bytes` must be the port's. */
LEAPP_API leapp_status leapp_bind_input(leapp_manager* manager, size_t input, const void* elements,
                                        size_t bytes);
LEAPP_API leapp_status leapp_bind_output(leapp_manager* manager, size_t output, void* elements,
                                         size_t bytes);
/* Where an input's elements lie, to write them in place and then leapp_touch() it; null for a wrong
 * index. */
LEAPP_API void* leapp_input(leapp_manager* manager, size_t input);
/* Marks an input that is bound, or was written in place, as fresh. */
LEAPP_API leapp_status leapp_touch(leapp_manager* manager, size_t input);

/* Runs ticks on mock input, then puts everything back. */
LEAPP_API leapp_status leapp_prepare(leapp_manager* manager, int32_t ticks);
LEAPP_API leapp_status leapp_tick(leapp_manager* manager);
/* Where an output's elements lie since the last tick, until the next; null for a wrong index. */
LEAPP_API const void* leapp_output(const leapp_manager* manager, size_t output);

/* How many ticks ago the node of an output ran: 0 if it ran in the last tick, as every node does in
 * a bundle without a schedule; -1 if it has not run since the reset, or for a wrong index. */
LEAPP_API int64_t leapp_output_age(const leapp_manager* manager, size_t output);

/* Replays the golden traces of the bundle, each node by itself and the pipeline, in buffers of its
 * own. Fails with LP941 if this machine does not repeat them within their tolerance; the message
 * names the first port and tick. Fails with LP949 if the traces hold nothing to compare with.
 * `out`, which may be null, is filled in these cases too. */
typedef struct leapp_verification {
  uint64_t ticks;      /* that were replayed */
  uint64_t compared;   /* outputs of ticks */
  uint64_t mismatched; /* of these */
  double worst_error;  /* the largest difference that was met */
} leapp_verification;
LEAPP_API leapp_status leapp_verify(const leapp_manager* manager, leapp_verification* out,
                                    size_t size);

/* State. Ports are named as everywhere: node and port apart. */
LEAPP_API leapp_status leapp_set_input_value(leapp_manager* manager, const char* node,
                                             const char* input, const void* elements, size_t bytes);
LEAPP_API leapp_status leapp_reset(leapp_manager* manager);
/* All feedback inputs, and the position in the bundle's schedule if it has one, as bytes of this
 * manager's own order, to go back to later. */
LEAPP_API size_t leapp_state_bytes(const leapp_manager* manager);
LEAPP_API leapp_status leapp_get_state(const leapp_manager* manager, void* state, size_t bytes);
LEAPP_API leapp_status leapp_set_state(leapp_manager* manager, const void* state, size_t bytes);

/* Latencies of whole ticks in nanoseconds; all zero unless leapp_options.measure. */
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

/* What LEAPP reports in addition to errors, see log.h. One sink per process; null ends it. `line`
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
