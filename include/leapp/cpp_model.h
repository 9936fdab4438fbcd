// The interface of a generated C++ source: one table per node, in plain C.
//
// The source of node "policy" defines one function, `leapp_cpp_policy`, and no other visible
// symbol, so that the sources of several nodes link into one program. In a name every character
// that is not an ASCII letter or digit is written as _ and its two hexadecimal digits: the source
// of "left arm" defines `leapp_cpp_left_20arm`. The generated source contains a copy of this text
// and needs no other file.
//
//   const leapp_cpp_model* policy = leapp_cpp_policy();
//   alignas(64) static unsigned char memory[SIZE];     // at least policy->memory_bytes
//   policy->prepare(weights, memory);                  // the bytes of policy.weights
//   const void* inputs[] = {observation};              // in the order of policy->inputs
//   void* outputs[] = {action};
//   const int32_t status = policy->run(inputs, outputs, memory);
//   if (status != 0) puts(policy->errors[status - 1]);
//
// Ownership: the caller owns all memory. `weights` must stay at its address while `memory` is in
// use, because kernels may read it in every run. The functions do not allocate, throw, lock or
// print. Threads: runs with distinct memory are independent of each other.
#ifndef LEAPP_CPP_MODEL_H
#define LEAPP_CPP_MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LEAPP_CPP_ABI 1

/* An input or output: a contiguous, row-major tensor. */
typedef struct leapp_cpp_port {
  const char* name;
  const char* dtype; /* PyTorch's name: "float32", "int64", "bool", .. */
  const int64_t* dims;
  int32_t rank;
  size_t bytes;
} leapp_cpp_port;

typedef struct leapp_cpp_model {
  uint32_t abi; /* LEAPP_CPP_ABI of the generator */
  const char* node;
  const leapp_cpp_port* inputs;
  size_t input_count;
  const leapp_cpp_port* outputs;
  size_t output_count;
  size_t weight_bytes; /* size of the weight file; 0: there is none, and weights may be null */
  size_t memory_bytes; /* of `memory` */
  size_t alignment;    /* of `memory` and of `weights` */
  /* Messages of failures: run() returns 0, or the index (from 1) of its first failure. */
  const char* const* errors;
  size_t error_count;
  /* Fills `memory`. Call it once, before the first run. */
  void (*prepare)(const void* weights, void* memory);
  /* Reads the inputs and writes the outputs, which must not overlap. After a failure, the contents
     of the outputs are unspecified. */
  int32_t (*run)(const void* const* inputs, void* const* outputs, void* memory);
} leapp_cpp_model;

#ifdef __cplusplus
}
#endif

#endif /* LEAPP_CPP_MODEL_H */
