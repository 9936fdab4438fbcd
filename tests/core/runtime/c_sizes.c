/* A caller that was compiled against a different version of leapp/c.h than the library.
 * CMakeLists.txt compiles this file against the header itself, against one whose structs lack their
 * last member, and against one whose structs have more members. C_SIZES names the function. */
#include <stdio.h>
#include <string.h>

#include "leapp/c.h"

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      snprintf(problem, size, "line %d: %s; last error: %s", __LINE__, #condition, \
               leapp_last_error());                                                \
      leapp_free(robot);                                                           \
      return 1;                                                                    \
    }                                                                              \
  } while (0)

enum { kGuard = 256, kFill = 0xA5 };

/* A struct of the caller, followed by memory that the library must not write. */
#define GUARDED(type, name)      \
  struct {                       \
    type value;                  \
    unsigned char guard[kGuard]; \
  } name;                        \
  memset(&name, kFill, sizeof name)

static int untouched(const unsigned char* guard) {
  for (int i = 0; i < kGuard; ++i) {
    if (guard[i] != kFill) return 0;
  }
  return 1;
}

int C_SIZES(const char* yaml, char* problem, size_t size) {
  leapp_manager* robot = NULL;
  const float x[4] = {1, 1, 1, 1};
  GUARDED(leapp_options, options);
  GUARDED(leapp_node_options, node);
  GUARDED(leapp_tensor_info, info);
  GUARDED(leapp_latency, latency);
  GUARDED(leapp_verification, verification);
  leapp_node_options nodes[2];

  EXPECT(leapp_options_init(&options.value, sizeof options.value) == LEAPP_OK);
  EXPECT(untouched(options.guard));
  EXPECT(options.value.size == sizeof options.value);
  EXPECT(options.value.threads == 1 && options.value.merge == 1 && options.value.translate == 1);
  EXPECT(leapp_node_options_init(&node.value, sizeof node.value) == LEAPP_OK);
  EXPECT(untouched(node.guard));
  EXPECT(node.value.threads == 1 && node.value.provider == NULL);

  /* The caller's size determines the position of the second entry, not the library's. */
  nodes[0] = nodes[1] = node.value;
  nodes[0].node = "pre";
  nodes[1].node = "policy";
  options.value.nodes = nodes;
  options.value.node_size = sizeof nodes[0];
  options.value.node_count = 2;
  options.value.measure = 1;
  EXPECT(leapp_load(yaml, &options.value, &robot) == LEAPP_OK);
  nodes[1].node = "nobody";
  leapp_manager* other = NULL;
  EXPECT(leapp_load(yaml, &options.value, &other) == LEAPP_VALUE && other == NULL);
  EXPECT(strstr(leapp_last_error(), "'nobody'") != NULL);

  EXPECT(leapp_input_info(robot, 0, &info.value, sizeof info.value) == LEAPP_OK);
  EXPECT(untouched(info.guard));
  EXPECT(info.value.dtype == LEAPP_FLOAT32 && info.value.rank == 2 && info.value.shape[1] == 4);
  EXPECT(leapp_output_info(robot, 0, &info.value, sizeof info.value) == LEAPP_OK);
  EXPECT(untouched(info.guard));
  EXPECT(leapp_set_input(robot, 0, x, sizeof x) == LEAPP_OK);
  EXPECT(leapp_tick(robot) == LEAPP_OK);
  EXPECT(leapp_statistics(robot, &latency.value, sizeof latency.value) == LEAPP_OK);
  EXPECT(untouched(latency.guard));
  EXPECT(latency.value.count == 1 && latency.value.max >= latency.value.p50);
  EXPECT(leapp_verify(robot, &verification.value, sizeof verification.value) == LEAPP_OK);
  EXPECT(untouched(verification.guard));
  EXPECT(verification.value.ticks == 1 && verification.value.compared == 2);

#ifdef NEWER_HEADER
  /* Members that the library does not have become zero if it writes, and are refused if it reads.
   */
  EXPECT(latency.value.unknown_to_the_library[3] == 0);
  EXPECT(info.value.unknown_to_the_library[0] == 0);
  EXPECT(options.value.unknown_to_the_library[0] == 0);
  nodes[1].node = "policy";
  options.value.unknown_to_the_library[3] = 1;
  EXPECT(leapp_load(yaml, &options.value, &other) == LEAPP_VALUE && other == NULL);
  EXPECT(strstr(leapp_last_error(), "sets members that this library") != NULL);
  options.value.unknown_to_the_library[3] = 0;
  nodes[0].unknown_to_the_library[0] = 1;
  EXPECT(leapp_load(yaml, &options.value, &other) == LEAPP_VALUE && other == NULL);
  EXPECT(strstr(leapp_last_error(), "options.nodes") != NULL);
#endif
  leapp_free(robot);
  return 0;
}
