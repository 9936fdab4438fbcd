/* Uses the controller from plain C. c_controller_test.cpp calls it and looks at what it says. */
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

/* The policy puts out twice what it reads, and one. */
int run_c_controller(const char* bundle, const char* description, char* problem, size_t size) {
  leapp_controller* robot = NULL;
  leapp_controller_options options = {0};
  size_t joints = 99, target = 99;
  uint64_t counts[LEAPP_CAUSES];
  const double q[4] = {1, 2, 3, 4};

  EXPECT(leapp_controller_load("nowhere.yaml", description, NULL, &robot) == LEAPP_NOT_FOUND);
  EXPECT(leapp_controller_load(bundle, NULL, NULL, &robot) == LEAPP_VALUE);
  EXPECT(leapp_controller_load(bundle, description, &options, &robot) == LEAPP_VALUE);
  EXPECT(strcmp(leapp_last_code(), "LP653") == 0);
  options.size = sizeof options;
  options.blend_in = -1;
  EXPECT(leapp_controller_load(bundle, description, &options, &robot) == LEAPP_VALUE);
  options.blend_in = 0;
  EXPECT(leapp_controller_load(bundle, description, &options, &robot) == LEAPP_OK);
  EXPECT(leapp_controller_find_sensor(robot, "none", &joints) == LEAPP_VALUE);
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
  EXPECT(leapp_controller_counts(robot, counts) == LEAPP_OK && counts[4] == 1); /* stale */
  EXPECT(leapp_controller_start(robot) == LEAPP_OK);
  EXPECT(leapp_controller_set_sensor(robot, joints, q, 4, 0) == LEAPP_OK);
  EXPECT(leapp_controller_update(robot) == LEAPP_RUNNING);
  EXPECT(leapp_controller_actuator(robot, target)[3] == 2 * q[3] + 1);
  EXPECT(leapp_controller_actuator(robot, 7) == NULL);
  EXPECT(leapp_controller_counts(robot, counts) == LEAPP_OK && counts[0] == 0);
  EXPECT(leapp_controller_stop(robot) == LEAPP_OK);
  EXPECT(leapp_controller_update(robot) == LEAPP_INACTIVE);
  leapp_controller_free(robot);
  return 0;
}
