#include "leapp/c_controller.h"

#include "controller/c_controller_call.h"
#include "leapp/controller.h"

using leapp::c::guarded;
using leapp::c::is_null;

struct leapp_controller {
  leapp::Controller controller;
};

namespace leapp::c {
namespace {

std::chrono::nanoseconds to_nanoseconds(double seconds, const char* what) {
  constexpr double kMost = 1e9;  // 30 years, which fits into nanoseconds
  if (!(seconds >= 0 && seconds <= kMost)) {
    throw Error(Code::kControllerOptions,
                std::string(what) + " must be a number of seconds from 0 to 10^9");
  }
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

}  // namespace

ControllerOptions controller_options(const leapp_controller_options* caller) {
  ControllerOptions options;
  if (caller == nullptr) return options;
  if (caller->size < sizeof(caller->size)) {
    throw Error(Code::kControllerOptions,
                "options.size is " + std::to_string(caller->size) +
                    "; call leapp_controller_options_init(&options, sizeof options) first");
  }
  const leapp_controller_options given =
      take_struct(caller, caller->size, leapp_controller_options{}, "options");
  options.runtime = runtime_options(given.runtime);
  if (given.frequency != 0) options.frequency = given.frequency;
  if (given.linear != 0) options.interpolation = Interpolation::kLinear;
  if (given.worker != 0) options.execution = Execution::kWorker;
  if (given.deadline != 0) options.deadline = to_nanoseconds(given.deadline, "the deadline");
  options.blend_in = to_nanoseconds(given.blend_in, "blend_in");
  if (given.recording != nullptr) options.recording = given.recording;
  return options;
}

}  // namespace leapp::c

extern "C" {

leapp_status leapp_controller_options_init(leapp_controller_options* options, size_t size) {
  if (options == nullptr) return is_null("options");
  leapp_controller_options defaults = {};
  defaults.size = size;
  leapp::c::put_struct(defaults, options, size);
  return LEAPP_OK;
}

leapp_status leapp_controller_load(const char* bundle, const char* robot,
                                   const leapp_controller_options* options,
                                   leapp_controller** out) {
  if (bundle == nullptr) return is_null("bundle");
  if (robot == nullptr) return is_null("robot");
  if (out == nullptr) return is_null("out");
  return guarded([&] {
    *out = new leapp_controller{
        leapp::Controller(bundle, leapp::read_robot(robot), leapp::c::controller_options(options))};
  });
}

void leapp_controller_free(leapp_controller* controller) {
  delete controller;
}

leapp_status leapp_controller_find_sensor(const leapp_controller* controller, const char* name,
                                          size_t* sensor) {
  if (controller == nullptr) return is_null("controller");
  if (name == nullptr || sensor == nullptr) return is_null(name == nullptr ? "name" : "sensor");
  return guarded([&] { *sensor = controller->controller.sensor(name); });
}

leapp_status leapp_controller_find_actuator(const leapp_controller* controller, const char* name,
                                            size_t* actuator) {
  if (controller == nullptr) return is_null("controller");
  if (name == nullptr || actuator == nullptr) {
    return is_null(name == nullptr ? "name" : "actuator");
  }
  return guarded([&] { *actuator = controller->controller.actuator(name); });
}

leapp_status leapp_controller_start(leapp_controller* controller) {
  if (controller == nullptr) return is_null("controller");
  return guarded([&] { controller->controller.start(); });
}

leapp_status leapp_controller_stop(leapp_controller* controller) {
  if (controller == nullptr) return is_null("controller");
  return guarded([&] { controller->controller.stop(); });
}

leapp_status leapp_controller_set_sensor(leapp_controller* controller, size_t sensor,
                                         const double* values, size_t count, double age) {
  if (controller == nullptr) return is_null("controller");
  return leapp::c::set_sensor(controller->controller, sensor, values, count, age);
}

leapp_controller_state leapp_controller_update(leapp_controller* controller) {
  if (controller == nullptr) {
    is_null("controller");
    return LEAPP_INACTIVE;
  }
  return static_cast<leapp_controller_state>(controller->controller.update());
}

const double* leapp_controller_actuator(leapp_controller* controller, size_t actuator) {
  if (controller == nullptr) {
    is_null("controller");
    return nullptr;
  }
  const auto values = controller->controller.actuator_values(actuator);
  return values.empty() ? nullptr : values.data();
}

leapp_status leapp_controller_counts(const leapp_controller* controller, uint64_t* counts,
                                     size_t causes) {
  if (controller == nullptr) return is_null("controller");
  if (counts == nullptr) return is_null("counts");
  static_assert(leapp::kCauses == LEAPP_CAUSES);
  leapp::c::copy_counts(controller->controller.counts(), counts, causes);
  return LEAPP_OK;
}

}  // extern "C"
