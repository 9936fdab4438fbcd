/* Uses the controller from plain C. c_controller_test.cpp calls it and checks the result. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "leapp/c_controller.h"

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      snprintf(problem, size, "line %d: %s; last error: %s", __LINE__, #condition, \
               leapp_last_error());                                                \
      leapp_controller_free(robot);                                                \
      return 1;                                                                    \
    }                                                                              \
  } while (0)

/* The policy outputs twice its input, plus one. */
int run_c_controller(const char* bundle, const char* description, char* problem, size_t size) {
  leapp_controller* robot = NULL;
  leapp_controller_options options = {0};
  uint64_t more[LEAPP_CAUSES + 2];
  size_t joints = 99, target = 99;
  uint64_t counts[LEAPP_CAUSES];
  const double q[4] = {1, 2, 3, 4};

  EXPECT(leapp_controller_load("nowhere.yaml", description, NULL, &robot) == LEAPP_NOT_FOUND);
  EXPECT(leapp_controller_load(bundle, NULL, NULL, &robot) == LEAPP_VALUE);
  EXPECT(leapp_controller_load(bundle, description, &options, &robot) == LEAPP_VALUE);
  EXPECT(strcmp(leapp_last_code(), "LP653") == 0);
  EXPECT(leapp_controller_options_init(NULL, sizeof options) == LEAPP_VALUE);
  EXPECT(leapp_controller_options_init(&options, sizeof options) == LEAPP_OK);
  EXPECT(options.size == sizeof options && options.recording == NULL);
  options.blend_in = -1;
  EXPECT(leapp_controller_load(bundle, description, &options, &robot) == LEAPP_VALUE);
  options.blend_in = 0;
  EXPECT(leapp_controller_load(bundle, description, &options, &robot) == LEAPP_OK);
  EXPECT(leapp_controller_find_sensor(robot, "none", &joints) == LEAPP_VALUE);
  EXPECT(leapp_controller_find_sensor(robot, NULL, &joints) == LEAPP_VALUE);
  EXPECT(leapp_controller_find_sensor(robot, "q", NULL) == LEAPP_VALUE);
  EXPECT(leapp_controller_find_actuator(robot, NULL, &target) == LEAPP_VALUE);
  EXPECT(leapp_controller_find_actuator(robot, "target", NULL) == LEAPP_VALUE);
  EXPECT(leapp_controller_counts(robot, NULL, LEAPP_CAUSES) == LEAPP_VALUE);
  EXPECT(leapp_controller_find_sensor(robot, "q", &joints) == LEAPP_OK);
  EXPECT(leapp_controller_find_actuator(robot, "target", &target) == LEAPP_OK);
  EXPECT(leapp_controller_update(robot) == LEAPP_INACTIVE);
  EXPECT(leapp_controller_update(NULL) == LEAPP_INACTIVE);
  EXPECT(leapp_controller_start(robot) == LEAPP_OK);
  EXPECT(leapp_controller_set_sensor(robot, joints, q, 3, 0) == LEAPP_VALUE);
  EXPECT(leapp_controller_set_sensor(robot, 7, q, 4, 0) == LEAPP_VALUE);
  EXPECT(leapp_controller_set_sensor(robot, joints, q, 4, -1e-9) == LEAPP_VALUE);
  EXPECT(leapp_controller_set_sensor(robot, joints, q, 4, NAN) == LEAPP_VALUE);
  EXPECT(leapp_controller_set_sensor(robot, joints, q, 4, INFINITY) == LEAPP_OK);
  EXPECT(leapp_controller_update(robot) == LEAPP_FALLBACK);
  EXPECT(leapp_controller_counts(robot, counts, LEAPP_CAUSES) == LEAPP_OK &&
         counts[4] == 1); /* stale */
  EXPECT(leapp_controller_start(robot) == LEAPP_OK);
  EXPECT(leapp_controller_set_sensor(robot, joints, q, 4, 0) == LEAPP_OK);
  EXPECT(leapp_controller_update(robot) == LEAPP_RUNNING);
  EXPECT(leapp_controller_actuator(robot, target)[3] == 2 * q[3] + 1);
  EXPECT(leapp_controller_actuator(robot, 7) == NULL);
  EXPECT(leapp_controller_counts(robot, counts, LEAPP_CAUSES) == LEAPP_OK && counts[0] == 0);
  memset(more, 0xA5, sizeof more); /* a caller that knows more causes, and one that knows fewer */
  EXPECT(leapp_controller_counts(robot, more, LEAPP_CAUSES + 1) == LEAPP_OK);
  EXPECT(more[LEAPP_CAUSES] == 0 && more[LEAPP_CAUSES + 1] != 0);
  memset(more, 0xA5, sizeof more);
  EXPECT(leapp_controller_counts(robot, more, 1) == LEAPP_OK && more[0] == 0 && more[1] != 0);
  EXPECT(leapp_controller_stop(robot) == LEAPP_OK);
  EXPECT(leapp_controller_update(robot) == LEAPP_INACTIVE);
  leapp_controller_free(robot);
  return 0;
}
