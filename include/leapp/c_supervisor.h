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
 *
 * supervisor.h defines what it does, and the rules of c.h hold: no exception leaves a function,
 * and a call that fails says why in leapp_last_error(). The functions of the loop neither allocate
 * nor lock. leapp_supervisor_request(), leapp_supervisor_set_flag(),
 * leapp_supervisor_emergency_stop() and leapp_supervisor_clear_emergency_stop() may be called from
 * any thread; all others from one thread at a time.
 */
#pragma once

#include "leapp/c_controller.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct leapp_supervisor leapp_supervisor;

/* Loads a description, its bundles and a robot. The options are those of every policy unless the
 * description says otherwise; `blend_in` is the description's and must be zero here. `options` may
 * be null. `out` is untouched on failure. */
LEAPP_API leapp_status leapp_supervisor_load(const char* supervision, const char* robot,
                                             const leapp_controller_options* options,
                                             leapp_supervisor** out);
LEAPP_API void leapp_supervisor_free(leapp_supervisor* supervisor); /* null is fine */

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

/* For any thread. They take effect in the next update. */
LEAPP_API leapp_status leapp_supervisor_request(leapp_supervisor* supervisor, size_t policy);
LEAPP_API leapp_status leapp_supervisor_set_flag(leapp_supervisor* supervisor, size_t flag,
                                                 int32_t value);
LEAPP_API leapp_status leapp_supervisor_emergency_stop(leapp_supervisor* supervisor);
LEAPP_API leapp_status leapp_supervisor_clear_emergency_stop(leapp_supervisor* supervisor);

/* As leapp_controller_set_sensor(). */
LEAPP_API leapp_status leapp_supervisor_set_sensor(leapp_supervisor* supervisor, size_t sensor,
                                                   const double* values, size_t count, double age);

/* Returns the state of the active policy; LEAPP_STOPPED in an emergency stop. */
LEAPP_API leapp_controller_state leapp_supervisor_update(leapp_supervisor* supervisor);

/* What an actuator is given, in its own order; null for a wrong index. Lives as long as the
 * supervisor. */
LEAPP_API const double* leapp_supervisor_actuator(leapp_supervisor* supervisor, size_t actuator);

/* The policy that was active in the last update, and whether that was in an emergency stop (1). */
LEAPP_API leapp_status leapp_supervisor_active(const leapp_supervisor* supervisor, size_t* policy,
                                               int32_t* emergency);

/* How often a policy was switched to, was refused, an emergency stop began, and was cleared, since
 * the start. `counts` has room for `events` of them; where the library knows fewer, the others are
 * 0. */
#define LEAPP_SWITCH_EVENTS 4
LEAPP_API leapp_status leapp_supervisor_switch_counts(const leapp_supervisor* supervisor,
                                                      uint64_t* counts, size_t events);

/* As leapp_controller_counts(), for one policy. */
LEAPP_API leapp_status leapp_supervisor_counts(const leapp_supervisor* supervisor, size_t policy,
                                               uint64_t* counts, size_t causes);

#ifdef __cplusplus
}
#endif
