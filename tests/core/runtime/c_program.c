/* Uses the C interface from plain C. c_test.cpp calls it on a bundle and checks the result. */
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

/* policy: f = 2 x + 1;  y = f + h, h' = y / 2;  action = clip(y + last, -1, 1) */
int run_c_program(const char* yaml, char* problem, size_t size) {
  leapp_manager* robot = NULL;
  leapp_options options;
  leapp_tensor_info info;
  leapp_latency latency;
  size_t obs = 99, action = 99;
  const float x[4] = {-0.5f, -0.5f, -0.5f, -0.5f};
  const float h[4] = {0.5f, 0.5f, 0.5f, 0.5f};
  float mine[4] = {0};
  float state[8];
  const float* y;

  EXPECT(leapp_c_version() >= LEAPP_C_VERSION);
  EXPECT(leapp_load("nowhere.yaml", NULL, &robot) == LEAPP_NOT_FOUND);
  EXPECT(robot == NULL);
  EXPECT(strstr(leapp_last_error(), "not found") != NULL);
  EXPECT(strcmp(leapp_last_code(), "LP004") == 0);

  EXPECT(leapp_options_init(&options, sizeof options) == LEAPP_OK);
  options.measure = 1;
  options.check_finite = LEAPP_FINITE_INPUTS | LEAPP_FINITE_STATE | LEAPP_FINITE_OUTPUTS;
  options.deadline = 100.0;
  EXPECT(leapp_load(yaml, &options, &robot) == LEAPP_OK);

  EXPECT(leapp_input_count(robot) == 1 && leapp_output_count(robot) == 1);
  EXPECT(strcmp(leapp_input_name(robot, 0), "pre/x") == 0);
  EXPECT(leapp_input_name(robot, 1) == NULL);
  EXPECT(leapp_find_input(robot, "pre/x", &obs) == LEAPP_OK && obs == 0);
  EXPECT(leapp_find_output(robot, "post/y", &action) == LEAPP_OK && action == 0);
  EXPECT(leapp_find_input(robot, "pre/z", &obs) == LEAPP_VALUE);
  EXPECT(strcmp(leapp_last_code(), "LP601") == 0);
  EXPECT(leapp_input_info(robot, obs, &info, sizeof info) == LEAPP_OK);
  EXPECT(info.dtype == LEAPP_FLOAT32 && info.rank == 2 && info.shape[1] == 4 && info.bytes == 16);
  EXPECT(leapp_output_info(robot, 7, &info, sizeof info) == LEAPP_VALUE);

  EXPECT(leapp_prepare(robot, 2) == LEAPP_OK);
  EXPECT(leapp_tick(robot) == LEAPP_VALUE); /* no input yet */
  EXPECT(strstr(leapp_last_error(), "input pre/x is missing") != NULL);
  EXPECT(strcmp(leapp_last_code(), "LP604") == 0);
  EXPECT(leapp_set_input(robot, obs, x, 12) == LEAPP_VALUE);
  EXPECT(strstr(leapp_last_error(),
                "input pre/x has 3 elements (12 bytes), expected 4 (16 bytes)") != NULL);
  EXPECT(leapp_set_input(robot, obs, x, sizeof x) == LEAPP_OK);
  EXPECT(leapp_set_input_value(robot, "policy", "h", h, sizeof h) == LEAPP_OK);
  EXPECT(leapp_state_bytes(robot) == sizeof state);
  EXPECT(leapp_get_state(robot, state, sizeof state) == LEAPP_OK);
  EXPECT(leapp_tick(robot) == LEAPP_OK);
  y = (const float*)leapp_output(robot, action);
  EXPECT(y != NULL && y[0] == 0.5f && y[3] == 0.5f);
  EXPECT(leapp_tick(robot) == LEAPP_OK);
  y = (const float*)leapp_output(robot, action);
  EXPECT(y[0] == 0.75f); /* 0.25 of h, 0.5 of the last action */

  EXPECT(leapp_set_state(robot, state, 4) == LEAPP_VALUE);
  EXPECT(leapp_set_state(robot, state, sizeof state) == LEAPP_OK);
  EXPECT(leapp_bind_input(robot, obs, x, sizeof x) == LEAPP_OK);
  EXPECT(leapp_bind_output(robot, action, mine, sizeof mine) == LEAPP_OK);
  EXPECT(leapp_bind_input(robot, obs, x, 12) == LEAPP_VALUE);
  EXPECT(leapp_bind_output(robot, action, mine, 20) == LEAPP_VALUE);
  EXPECT(leapp_set_input(robot, obs, x, sizeof x) == LEAPP_USAGE); /* bound: not set */
  EXPECT(strcmp(leapp_last_code(), "LP607") == 0);
  EXPECT(leapp_touch(robot, 9) == LEAPP_VALUE);
  EXPECT(leapp_touch(robot, obs) == LEAPP_OK);
  EXPECT(leapp_tick(robot) == LEAPP_OK);
  EXPECT(mine[0] == 0.5f);
  EXPECT(leapp_reset(robot) == LEAPP_OK);
  EXPECT(leapp_tick(robot) == LEAPP_OK);
  EXPECT(mine[0] == 0.0f);
  EXPECT(leapp_trace_to(NULL, NULL) != LEAPP_OK);
  EXPECT(leapp_trace_to(robot, "/nowhere/at/all.pftrace") != LEAPP_OK);
  EXPECT(strcmp(leapp_last_code(), "LP962") == 0);
  EXPECT(leapp_trace_to(robot, NULL) == LEAPP_OK);

  EXPECT(leapp_statistics(robot, &latency, sizeof latency) == LEAPP_OK);
  EXPECT(latency.count == 4 && latency.max >= latency.p50 && latency.deadline_misses == 0);
  leapp_free(robot);
  leapp_free(NULL);
  return 0;
}
