/* Uses the supervisor from plain C. c_supervisor_test.cpp calls it and checks the result. */
#include "leapp/c_supervisor.h"

#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                          \
  do {                                                                             \
    if (!(condition)) {                                                            \
      snprintf(problem, size, "line %d: %s; last error: %s", __LINE__, #condition, \
               leapp_last_error());                                                \
      leapp_supervisor_free(robot);                                                \
      return 1;                                                                    \
    }                                                                              \
  } while (0)

/* Policies "first" and "second" output twice their input, plus one; the flag "go" switches on. */
int run_c_supervisor(const char* supervision, const char* description, char* problem, size_t size) {
  leapp_supervisor* robot = NULL;
  leapp_controller_options options;
  size_t joints = 99, target = 99, second = 99, go = 99, active = 99;
  int32_t emergency = 99;
  uint64_t events[LEAPP_SWITCH_EVENTS + 1];
  uint64_t causes[LEAPP_CAUSES];
  const double q[4] = {1, 2, 3, 4};

  EXPECT(leapp_supervisor_load("nowhere.yaml", description, NULL, &robot) == LEAPP_NOT_FOUND);
  EXPECT(leapp_supervisor_load(NULL, description, NULL, &robot) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_load(description, description, NULL, &robot) == LEAPP_VALUE);
  EXPECT(strcmp(leapp_last_code(), "LP656") == 0);
  EXPECT(leapp_controller_options_init(&options, sizeof options) == LEAPP_OK);
  options.blend_in = 1;
  EXPECT(leapp_supervisor_load(supervision, description, &options, &robot) == LEAPP_VALUE);
  EXPECT(strcmp(leapp_last_code(), "LP653") == 0);
  EXPECT(leapp_supervisor_load(supervision, description, NULL, &robot) == LEAPP_OK);
  EXPECT(leapp_supervisor_find_policy(robot, "third", &second) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_find_policy(robot, "second", &second) == LEAPP_OK && second == 1);
  EXPECT(leapp_supervisor_find_flag(robot, "go", &go) == LEAPP_OK && go == 0);
  EXPECT(leapp_supervisor_find_flag(robot, NULL, &go) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_find_flag(robot, "go", NULL) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_find_policy(robot, "second", NULL) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_find_sensor(robot, "nowhere", &joints) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_find_actuator(robot, "target", NULL) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_find_sensor(robot, "q", &joints) == LEAPP_OK);
  EXPECT(leapp_supervisor_find_actuator(robot, "target", &target) == LEAPP_OK);
  EXPECT(leapp_supervisor_find_actuator(NULL, "target", &target) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_update(NULL) == LEAPP_INACTIVE);
  EXPECT(leapp_supervisor_start(robot) == LEAPP_OK);
  EXPECT(leapp_supervisor_set_sensor(robot, joints, q, 3, 0) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_set_sensor(robot, joints, q, 4, 0) == LEAPP_OK);
  EXPECT(leapp_supervisor_update(robot) == LEAPP_RUNNING);
  EXPECT(leapp_supervisor_actuator(robot, target)[3] == 2 * q[3] + 1);
  EXPECT(leapp_supervisor_actuator(robot, 7) == NULL);
  EXPECT(leapp_supervisor_set_flag(robot, 7, 1) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_set_flag(robot, go, 1) == LEAPP_OK);
  EXPECT(leapp_supervisor_update(robot) == LEAPP_RUNNING);
  EXPECT(leapp_supervisor_active(robot, &active, &emergency) == LEAPP_OK);
  EXPECT(active == second && emergency == 0);
  EXPECT(leapp_supervisor_active(robot, NULL, &emergency) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_active(robot, &active, NULL) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_switch_counts(robot, NULL, LEAPP_SWITCH_EVENTS) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_counts(robot, second, NULL, LEAPP_CAUSES) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_emergency_stop(robot) == LEAPP_OK);
  EXPECT(leapp_supervisor_update(robot) == LEAPP_STOPPED);
  EXPECT(leapp_supervisor_active(robot, &active, &emergency) == LEAPP_OK && emergency == 1);
  EXPECT(leapp_supervisor_clear_emergency_stop(robot) == LEAPP_OK);
  EXPECT(leapp_supervisor_request(robot, 7) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_request(robot, 0) == LEAPP_OK);
  EXPECT(leapp_supervisor_set_flag(robot, go, 0) == LEAPP_OK);
  EXPECT(leapp_supervisor_update(robot) == LEAPP_RUNNING);
  memset(events, 0xA5, sizeof events);
  EXPECT(leapp_supervisor_switch_counts(robot, events, LEAPP_SWITCH_EVENTS + 1) == LEAPP_OK);
  EXPECT(events[0] == 2 && events[1] == 0 && events[2] == 1 && events[3] == 1 && events[4] == 0);
  EXPECT(leapp_supervisor_counts(robot, second, causes, LEAPP_CAUSES) == LEAPP_OK);
  EXPECT(causes[0] == 0);
  EXPECT(leapp_supervisor_counts(robot, 7, causes, LEAPP_CAUSES) == LEAPP_VALUE);
  EXPECT(leapp_supervisor_stop(robot) == LEAPP_OK);
  EXPECT(leapp_supervisor_update(robot) == LEAPP_INACTIVE);
  leapp_supervisor_free(robot);
  leapp_supervisor_free(NULL);
  return 0;
}
