#include "leapp/c_supervisor.h"

#include "controller/c_controller_call.h"
#include "leapp/supervisor.h"

using leapp::c::guarded;
using leapp::c::is_null;
using leapp::c::status_of;

struct leapp_supervisor {
  leapp::Supervisor supervisor;
};

namespace {

/// Looks up an index by name with `find`, a member function of Supervisor.
template <typename Find>
leapp_status find_index(const leapp_supervisor* supervisor, const char* name, std::size_t* index,
                        const char* what, Find find) {
  if (supervisor == nullptr) return is_null("supervisor");
  if (name == nullptr || index == nullptr) return is_null(name == nullptr ? "name" : what);
  return guarded([&] { *index = (supervisor->supervisor.*find)(name); });
}

}  // namespace

extern "C" {

leapp_status leapp_supervisor_load(const char* supervision, const char* robot,
                                   const leapp_controller_options* options,
                                   leapp_supervisor** out) {
  if (supervision == nullptr) return is_null("supervision");
  if (robot == nullptr) return is_null("robot");
  if (out == nullptr) return is_null("out");
  return guarded([&] {
    *out = new leapp_supervisor{leapp::Supervisor(leapp::read_supervision(supervision),
                                                  leapp::read_robot(robot),
                                                  leapp::c::controller_options(options))};
  });
}

void leapp_supervisor_free(leapp_supervisor* supervisor) {
  delete supervisor;
}

leapp_status leapp_supervisor_find_policy(const leapp_supervisor* supervisor, const char* name,
                                          size_t* policy) {
  return find_index(supervisor, name, policy, "policy", &leapp::Supervisor::policy);
}

leapp_status leapp_supervisor_find_flag(const leapp_supervisor* supervisor, const char* name,
                                        size_t* flag) {
  return find_index(supervisor, name, flag, "flag", &leapp::Supervisor::flag);
}

leapp_status leapp_supervisor_find_sensor(const leapp_supervisor* supervisor, const char* name,
                                          size_t* sensor) {
  return find_index(supervisor, name, sensor, "sensor", &leapp::Supervisor::sensor);
}

leapp_status leapp_supervisor_find_actuator(const leapp_supervisor* supervisor, const char* name,
                                            size_t* actuator) {
  return find_index(supervisor, name, actuator, "actuator", &leapp::Supervisor::actuator);
}

leapp_status leapp_supervisor_start(leapp_supervisor* supervisor) {
  if (supervisor == nullptr) return is_null("supervisor");
  return guarded([&] { supervisor->supervisor.start(); });
}

leapp_status leapp_supervisor_stop(leapp_supervisor* supervisor) {
  if (supervisor == nullptr) return is_null("supervisor");
  return guarded([&] { supervisor->supervisor.stop(); });
}

leapp_status leapp_supervisor_request(leapp_supervisor* supervisor, size_t policy) {
  if (supervisor == nullptr) return is_null("supervisor");
  return status_of(supervisor->supervisor.request(policy));
}

leapp_status leapp_supervisor_set_flag(leapp_supervisor* supervisor, size_t flag, int32_t value) {
  if (supervisor == nullptr) return is_null("supervisor");
  return status_of(supervisor->supervisor.set_flag(flag, value != 0));
}

leapp_status leapp_supervisor_emergency_stop(leapp_supervisor* supervisor) {
  if (supervisor == nullptr) return is_null("supervisor");
  supervisor->supervisor.emergency_stop();
  return LEAPP_OK;
}

leapp_status leapp_supervisor_clear_emergency_stop(leapp_supervisor* supervisor) {
  if (supervisor == nullptr) return is_null("supervisor");
  supervisor->supervisor.clear_emergency_stop();
  return LEAPP_OK;
}

leapp_status leapp_supervisor_set_sensor(leapp_supervisor* supervisor, size_t sensor,
                                         const double* values, size_t count, double age) {
  if (supervisor == nullptr) return is_null("supervisor");
  return leapp::c::set_sensor(supervisor->supervisor, sensor, values, count, age);
}

leapp_controller_state leapp_supervisor_update(leapp_supervisor* supervisor) {
  if (supervisor == nullptr) {
    is_null("supervisor");
    return LEAPP_INACTIVE;
  }
  return static_cast<leapp_controller_state>(supervisor->supervisor.update());
}

const double* leapp_supervisor_actuator(leapp_supervisor* supervisor, size_t actuator) {
  if (supervisor == nullptr) {
    is_null("supervisor");
    return nullptr;
  }
  const auto values = supervisor->supervisor.actuator_values(actuator);
  return values.empty() ? nullptr : values.data();
}

leapp_status leapp_supervisor_active(const leapp_supervisor* supervisor, size_t* policy,
                                     int32_t* emergency) {
  if (supervisor == nullptr) return is_null("supervisor");
  if (policy == nullptr || emergency == nullptr) {
    return is_null(policy == nullptr ? "policy" : "emergency");
  }
  *policy = supervisor->supervisor.active();
  *emergency = supervisor->supervisor.is_emergency_stopped() ? 1 : 0;
  return LEAPP_OK;
}

leapp_status leapp_supervisor_switch_counts(const leapp_supervisor* supervisor, uint64_t* counts,
                                            size_t events) {
  if (supervisor == nullptr) return is_null("supervisor");
  if (counts == nullptr) return is_null("counts");
  static_assert(leapp::kSwitchEvents == LEAPP_SWITCH_EVENTS);
  leapp::c::copy_counts(supervisor->supervisor.switch_counts(), counts, events);
  return LEAPP_OK;
}

leapp_status leapp_supervisor_counts(const leapp_supervisor* supervisor, size_t policy,
                                     uint64_t* counts, size_t causes) {
  if (supervisor == nullptr) return is_null("supervisor");
  if (counts == nullptr) return is_null("counts");
  return guarded(
      [&] { leapp::c::copy_counts(supervisor->supervisor.counts(policy), counts, causes); });
}

}  // extern "C"
