#include "controller/output_side.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "controller/element_io.h"
#include "controller/schedule.h"
#include "controller/unit.h"
#include "leapp/error.h"

namespace leapp {
namespace {

bool is_position(const std::string& kind) {
  return kind == "target/joint/position";
}

bool is_zero_when_damped(const std::string& kind) {
  return kind == "kp" || kind == "target/joint/velocity" || kind == "target/joint/effort" ||
         kind == "target/joint/torques";
}

}  // namespace

OutputSide::OutputSide(InferenceManager& manager, const RobotBinding& binding, const Robot& robot,
                       const std::vector<SignalValues>& sensors,
                       std::vector<SignalValues>& actuators, std::size_t decimation,
                       const ControllerOptions& options)
    : manager_(manager),
      options_(options),
      rate_(robot.rate),
      decimation_(decimation),
      blend_ticks_(static_cast<std::size_t>(
          std::ceil(std::chrono::duration<double>(options.blend_in).count() * robot.rate))) {
  for (const PortBinding& port : binding.outputs) {
    ports_.push_back(manager.output_port(port.port));
    if (!port.sources.empty()) outputs_.push_back(make_output(port, robot, sensors, actuators));
  }
}

OutputSide::Output OutputSide::make_output(const PortBinding& port, const Robot& robot,
                                           const std::vector<SignalValues>& sensors,
                                           std::vector<SignalValues>& actuators) const {
  Output output;
  output.name = port.port;
  output.port = manager_.output_port(port.port);
  output.layout = port.layout;
  if (port.layout.steps > 1) {
    output.step_ticks =
        ticks_in(port.layout.period_ms / 1000, robot.rate, "a step of " + port.port);
  }
  const bool damps =
      port.contract.fallback && std::holds_alternative<Damp>(*port.contract.fallback);
  if (is_position(port.kind)) output.role = Role::kPosition;
  if (is_zero_when_damped(port.kind)) output.role = Role::kZeroWhenDamped;
  if (damps && output.role == Role::kOther && port.kind != "kd") {
    throw Error(Code::kNotBound, port.port + ": its fallback is damp, which has no meaning for " +
                                     quote_for_message(port.kind) + "; give numbers, or hold");
  }
  output.fallback = port.contract.fallback.value_or(Hold{});
  for (const BoundElement& element : port.sources) {
    Target target;
    target.value = &actuators[element.signal].values[element.element];
    target.factor = element.factor;
    output.targets.push_back(target);
  }
  if (output.role == Role::kPosition) find_measured(output, port, robot, sensors);
  const bool measured = std::all_of(output.targets.begin(), output.targets.end(),
                                    [](const Target& target) { return target.sensor != nullptr; });
  if (!measured && output.role == Role::kPosition && (damps || options_.blend_in.count() > 0)) {
    throw Error(Code::kNotBound,
                port.port + ": " + (damps ? "to damp" : "to blend in") +
                    ", each of its joints needs a sensor of kind state/joint/position, in a unit "
                    "that can be converted");
  }
  const std::size_t count = port.layout.elements;
  output.limiter = Limiter(port.contract.limits, count, 1 / robot.rate);
  output.incoming.resize(count * port.layout.steps);
  output.chunk.resize(count * port.layout.steps);
  for (auto* const values : {&output.before, &output.blend, &output.values}) values->resize(count);
  return output;
}

void OutputSide::find_measured(Output& output, const PortBinding& port, const Robot& robot,
                               const std::vector<SignalValues>& sensors) const {
  for (std::size_t i = 0; i < port.sources.size(); ++i) {
    const Signal& actuator = robot.actuators[port.sources[i].signal];
    const std::string& joint = actuator.elements[port.sources[i].element];
    for (std::size_t s = 0; s < robot.sensors.size(); ++s) {
      const Signal& sensor = robot.sensors[s];
      const auto at = std::find(sensor.elements.begin(), sensor.elements.end(), joint);
      if (sensor.kind != "state/joint/position" || at == sensor.elements.end()) continue;
      const auto& unit = port.contract.unit ? port.contract.unit : actuator.unit;
      const auto factor = sensor.unit && unit ? unit_factor(*sensor.unit, *unit) : 1.0;
      if (!factor) continue;
      output.targets[i].sensor = &sensors[s];
      output.targets[i].element = static_cast<std::size_t>(at - sensor.elements.begin());
      output.targets[i].sensor_factor = *factor;
      break;
    }
  }
}

void OutputSide::start() noexcept {
  has_targets_ = false;
  blending_ = false;
  for (Output& output : outputs_) {
    output.limiter.forget();
    output.written = false;
  }
}

bool OutputSide::accept(std::uint64_t requested, std::uint64_t tick,
                        InterventionLog& log) noexcept {
  for (Output& output : outputs_) {
    const TensorView& view = manager_.output(output.port);
    const std::size_t count = output.layout.elements;
    for (std::size_t step = 0; step < output.layout.steps; ++step) {
      load_step(view.data, view.dtype, output.layout, step,
                std::span(output.incoming).subspan(step * count, count));
    }
    if (are_finite(output.incoming)) continue;
    log.add(tick, Cause::kNotFinite, output.name);
    return false;
  }
  for (Output& output : outputs_) {
    std::copy(output.values.begin(), output.values.end(), output.before.begin());
    std::swap(output.incoming, output.chunk);
  }
  // The first target has nothing to come from but itself.
  if (!has_targets_) {
    for (Output& output : outputs_) {
      if (output.written) continue;
      std::copy_n(output.chunk.begin(), output.before.size(), output.before.begin());
    }
  }
  has_targets_ = true;
  requested_ = requested;
  return true;
}

void OutputSide::begin_blend(std::uint64_t tick) noexcept {
  blending_ = blend_ticks_ > 0;
  blend_from_ = tick;
  for (Output& output : outputs_) {
    if (output.written) {
      std::copy(output.values.begin(), output.values.end(), output.blend.begin());
    } else {  // a joint that nothing measures begins where the policy wants it
      std::copy_n(output.chunk.begin(), output.blend.size(), output.blend.begin());
      read_measured(output, output.blend);
    }
  }
}

bool OutputSide::read_measured(const Output& output, std::vector<double>& values) noexcept {
  bool known = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Target& target = output.targets[i];
    const bool measured = target.sensor != nullptr &&
                          target.sensor->measured != SignalValues::kNever &&
                          std::isfinite(target.sensor->values[target.element]);
    if (measured) values[i] = target.sensor->values[target.element] * target.sensor_factor;
    known = known && measured;
  }
  return known;
}

void OutputSide::desired(Output& output, std::uint64_t tick) noexcept {
  const std::size_t count = output.values.size();
  const auto since = static_cast<double>(tick - requested_);
  const bool linear = options_.interpolation == Interpolation::kLinear;
  const double* from = output.before.data();
  const double* to = output.chunk.data();
  double part = 1;
  if (output.layout.steps == 1) {
    if (linear) part = std::min(1.0, (since + 1) / static_cast<double>(decimation_));
  } else {
    const double place = std::min(since / static_cast<double>(output.step_ticks),
                                  static_cast<double>(output.layout.steps - 1));
    const auto step = static_cast<std::size_t>(place);
    from = output.chunk.data() + step * count;
    to = step + 1 < output.layout.steps ? from + count : from;
    part = linear ? place - static_cast<double>(step) : 0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    output.values[i] = part == 1 ? to[i] : from[i] + part * (to[i] - from[i]);
  }
}

bool OutputSide::play(std::uint64_t tick, InterventionLog& log) noexcept {
  bool within = true;
  const std::uint64_t blended = tick - blend_from_ + 1;
  blending_ = blending_ && blended <= blend_ticks_;
  for (Output& output : outputs_) {
    desired(output, tick);
    if (blending_ && output.role == Role::kPosition) {
      const double part = static_cast<double>(blended) / static_cast<double>(blend_ticks_);
      for (std::size_t i = 0; i < output.values.size(); ++i) {
        output.values[i] = output.blend[i] + part * (output.values[i] - output.blend[i]);
      }
    }
    if (output.limiter.active()) {
      const Limiter::Outcome outcome = output.limiter.apply(output.values);
      if (outcome.clamped) log.add(tick, Cause::kClamped, output.name);
      if (outcome.slewed) log.add(tick, Cause::kSlewed, output.name);
      if (outcome.stop) log.add(tick, Cause::kBeyondLimits, output.name);
      within = within && !outcome.stop;
    }
    write(output);
  }
  return within;
}

void OutputSide::wait() noexcept {
  for (Output& output : outputs_) {
    if (output.role != Role::kPosition || !read_measured(output, output.values)) continue;
    output.limiter.remember(output.values);
    write(output);
  }
}

void OutputSide::fall_back() noexcept {
  for (Output& output : outputs_) {
    bool known = output.written;
    if (const auto* const given = std::get_if<std::vector<double>>(&output.fallback)) {
      known = true;
      for (std::size_t i = 0; i < output.values.size(); ++i) {
        output.values[i] = (*given)[given->size() == 1 ? 0 : i];
      }
    } else if (std::holds_alternative<Damp>(output.fallback)) {
      if (output.role == Role::kPosition) known = read_measured(output, output.values) || known;
      if (output.role == Role::kZeroWhenDamped) {
        std::fill(output.values.begin(), output.values.end(), 0.0);
        known = true;
      }
    }
    if (!known) continue;  // nothing to hold: the actuator keeps what the caller gave it
    output.limiter.apply(output.values);
    write(output);
  }
}

void OutputSide::write(Output& output) noexcept {
  for (std::size_t i = 0; i < output.values.size(); ++i) {
    *output.targets[i].value = output.values[i] / output.targets[i].factor;
  }
  output.written = true;
}

const TensorView& OutputSide::view(std::size_t output) const noexcept {
  return manager_.output(ports_[output]);
}

}  // namespace leapp
