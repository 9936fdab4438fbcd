/* LEAPP's controller for C: runs a bundle on a robot and keeps its contract.
 *
 *   leapp_controller* robot = NULL;
 *   if (leapp_controller_load("walker/walker.yaml", "robot.yaml", NULL, &robot) != LEAPP_OK) ..
 *   size_t joints, target;
 *   leapp_controller_find_sensor(robot, "joint_pos", &joints);
 *   leapp_controller_find_actuator(robot, "joint_target", &target);
 *   leapp_controller_start(robot);
 *   while (running) {
 *     leapp_controller_set_sensor(robot, joints, encoders, 12, 0.0);
 *     leapp_controller_update(robot);
 *     send(leapp_controller_actuator(robot, target));
 *   }
 *   leapp_controller_free(robot);
 *
 * controller.h describes the controller. The rules of c.h apply: no exception leaves a function,
 * and leapp_last_error() has the reason of a failed call. leapp_controller_set_sensor(),
 * leapp_controller_update() and leapp_controller_actuator() neither allocate nor lock.
 */
#pragma once

#include "leapp/c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leapp_controller leapp_controller;

/* A member that is zero has its default. */
typedef struct leapp_controller_options {
  size_t size; /* of the caller's struct; leapp_controller_options_init() sets it */
  const leapp_options* runtime; /* null for the defaults */
  double frequency;             /* of the policy, in Hz, instead of the bundle's */
  int32_t linear;               /* 1: interpolate between two targets */
  int32_t worker;               /* 1: run the policy in a separate thread */
  double deadline;              /* time limit of the policy in seconds */
  double blend_in;              /* seconds from the measured pose to the policy's targets */
  const char* recording;        /* an MCAP file to write */
} leapp_controller_options;

/* Sets every member to zero, and `size`. */
LEAPP_API leapp_status leapp_controller_options_init(leapp_controller_options* options,
                                                     size_t size);

/* Loads bundle and robot; `options` may be null. `out` is unchanged on failure. */
LEAPP_API leapp_status leapp_controller_load(const char* bundle, const char* robot,
                                             const leapp_controller_options* options,
                                             leapp_controller** out);
LEAPP_API void leapp_controller_free(leapp_controller* controller); /* null is allowed */

LEAPP_API leapp_status leapp_controller_find_sensor(const leapp_controller* controller,
                                                    const char* name, size_t* sensor);
LEAPP_API leapp_status leapp_controller_find_actuator(const leapp_controller* controller,
                                                      const char* name, size_t* actuator);

LEAPP_API leapp_status leapp_controller_start(leapp_controller* controller);
LEAPP_API leapp_status leapp_controller_stop(leapp_controller* controller);

/* Sets the values that a sensor measured `age` seconds ago, in its own order. The age is at least 0
 * and may be INFINITY. */
LEAPP_API leapp_status leapp_controller_set_sensor(leapp_controller* controller, size_t sensor,
                                                   const double* values, size_t count, double age);

/* State of the outputs: ControllerState of controller.h. */
typedef enum leapp_controller_state {
  LEAPP_INACTIVE = 0,
  LEAPP_WAITING = 1,
  LEAPP_RUNNING = 2,
  LEAPP_FALLBACK = 3,
  LEAPP_STOPPED = 4
} leapp_controller_state;
LEAPP_API leapp_controller_state leapp_controller_update(leapp_controller* controller);

/* Returns the values of an actuator, in its own order; null for an invalid index. Valid as long as
 * the controller. */
LEAPP_API const double* leapp_controller_actuator(leapp_controller* controller, size_t actuator);

/* Fills the number of interventions since the start, by cause: clamped, slewed, beyond_limits,
 * not_finite, stale, late, tick_failed. `counts` has room for `causes` numbers; if the library has
 * fewer causes, the others are 0. */
#define LEAPP_CAUSES 7
LEAPP_API leapp_status leapp_controller_counts(const leapp_controller* controller, uint64_t* counts,
                                               size_t causes);

#ifdef __cplusplus
}
#endif
