/* LEAPP's supervisor for C: runs several bundles on one robot, one at a time.
 *
 *   leapp_supervisor* robot = NULL;
 *   if (leapp_supervisor_load("supervisor.yaml", "robot.yaml", NULL, &robot) != LEAPP_OK) ..
 *   size_t joints, target, walk;
 *   leapp_supervisor_find_sensor(robot, "joint_pos", &joints);
 *   leapp_supervisor_find_actuator(robot, "joint_target", &target);
 *   leapp_supervisor_find_policy(robot, "walk", &walk);
 *   leapp_supervisor_start(robot);
 *   while (running) {
 *     if (joystick_pressed) leapp_supervisor_request(robot, walk);
 *     leapp_supervisor_set_sensor(robot, joints, encoders, 12, 0.0);
 *     leapp_supervisor_update(robot);
 *     send(leapp_supervisor_actuator(robot, target));
 *   }
 *   leapp_supervisor_free(robot);
 * supervisor.h describes the supervisor. The rules of c.h apply: no exception leaves a function,
 * and leapp_last_error() has the reason of a failed call. The functions of the loop neither
 * allocate nor lock. leapp_supervisor_request(), leapp_supervisor_set_flag(),
 * leapp_supervisor_emergency_stop() and leapp_supervisor_clear_emergency_stop() may be called from
 * any thread; all others from one thread at a time.
 */
#pragma once

#include "leapp/c_controller.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leapp_supervisor leapp_supervisor;

/* Loads a description, its bundles and a robot. The options apply to every policy unless the
 * description overrides them; `blend_in` must be zero, because the description sets it. `options`
 * may be null. `out` is unchanged on failure. */
LEAPP_API leapp_status leapp_supervisor_load(const char* supervision, const char* robot,
                                             const leapp_controller_options* options,
                                             leapp_supervisor** out);
LEAPP_API void leapp_supervisor_free(leapp_supervisor* supervisor); /* null is allowed */

LEAPP_API leapp_status leapp_supervisor_find_policy(const leapp_supervisor* supervisor,
                                                    const char* name, size_t* policy);
/* Finds a flag that a condition names. */
LEAPP_API leapp_status leapp_supervisor_find_flag(const leapp_supervisor* supervisor,
                                                  const char* name, size_t* flag);
LEAPP_API leapp_status leapp_supervisor_find_sensor(const leapp_supervisor* supervisor,
                                                    const char* name, size_t* sensor);
LEAPP_API leapp_status leapp_supervisor_find_actuator(const leapp_supervisor* supervisor,
                                                      const char* name, size_t* actuator);

LEAPP_API leapp_status leapp_supervisor_start(leapp_supervisor* supervisor);
LEAPP_API leapp_status leapp_supervisor_stop(leapp_supervisor* supervisor);

/* Requests for the next update, from any thread. */
LEAPP_API leapp_status leapp_supervisor_request(leapp_supervisor* supervisor, size_t policy);
LEAPP_API leapp_status leapp_supervisor_set_flag(leapp_supervisor* supervisor, size_t flag,
                                                 int32_t value);
LEAPP_API leapp_status leapp_supervisor_emergency_stop(leapp_supervisor* supervisor);
LEAPP_API leapp_status leapp_supervisor_clear_emergency_stop(leapp_supervisor* supervisor);

/* Sets a sensor, as leapp_controller_set_sensor() does. */
LEAPP_API leapp_status leapp_supervisor_set_sensor(leapp_supervisor* supervisor, size_t sensor,
                                                   const double* values, size_t count, double age);

/* Returns the state of the active policy; LEAPP_STOPPED in an emergency stop. */
LEAPP_API leapp_controller_state leapp_supervisor_update(leapp_supervisor* supervisor);

/* Returns the values of an actuator, in its own order; null for an invalid index. Valid as long as
 * the supervisor. */
LEAPP_API const double* leapp_supervisor_actuator(leapp_supervisor* supervisor, size_t actuator);

/* Gets the policy that was active in the last update, and 1 if that was in an emergency stop. */
LEAPP_API leapp_status leapp_supervisor_active(const leapp_supervisor* supervisor, size_t* policy,
                                               int32_t* emergency);

/* Fills the number of decisions since the start: switches to a policy, refusals, emergency stops,
 * and cleared ones. `counts` has room for `events` numbers; if the library has fewer events, the
 * others are 0. */
#define LEAPP_SWITCH_EVENTS 4
LEAPP_API leapp_status leapp_supervisor_switch_counts(const leapp_supervisor* supervisor,
                                                      uint64_t* counts, size_t events);

/* Fills the counts of one policy, as leapp_controller_counts() does. */
LEAPP_API leapp_status leapp_supervisor_counts(const leapp_supervisor* supervisor, size_t policy,
                                               uint64_t* counts, size_t causes);

#ifdef __cplusplus
}
#endif
