#include "runtime/session.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/log.h"

namespace leapp {
namespace {

// The device that all engines work on, or null: then values are on the host, and engines that work
// elsewhere copy.
std::shared_ptr<DeviceMemory> common_memory(const std::vector<std::unique_ptr<Engine>>& engines) {
  std::shared_ptr<DeviceMemory> common;
  for (const std::unique_ptr<Engine>& engine : engines) {
    std::shared_ptr<DeviceMemory> memory = engine->memory();
    if (!memory || (common && common->device() != memory->device())) return nullptr;
    common = std::move(memory);
  }
  return common;
}

}  // namespace

Session::Session(const Plan& plan, const std::vector<std::unique_ptr<Engine>>& engines,
                 const RuntimeOptions& options, std::string cannot_run)
    : plan_(plan),
      options_(options),
      cannot_run_(std::move(cannot_run)),
      memory_(common_memory(engines)),
      buffers_(plan.values, memory_) {
  for (const std::string& name : plan.external_inputs) {
    takes_ += (takes_.empty() ? "; the pipeline takes: " : ", ") + name;
    const Access& access = plan.inputs.at(name);
    inputs_.push_back({.value = access.value, .bytes = buffers_.byte_size(access.value)});
  }
  for (const std::string& name : plan.external_outputs) {
    outputs_.push_back({.access = plan.outputs.at(name)});
  }
  for (const std::string& name : plan.feedback_inputs) {
    std::size_t value = plan.inputs.at(name).value;
    for (const FeedbackCopy& copy : plan.copies) {
      if (copy.to == value) value = copy.from;
    }
    next_state_.push_back(value);
  }
  for (const auto& [name, limit] : options.staleness) {
    const auto found = std::find(plan.external_inputs.begin(), plan.external_inputs.end(), name);
    require(found != plan.external_inputs.end(), Code::kRuntimeOptions,
            "a staleness limit was given for '" + name + "', which is no input of the pipeline");
    ExternalInput& input = inputs_[static_cast<std::size_t>(found - plan.external_inputs.begin())];
    input.ages = true;
    input.limit = limit;
  }
  observed_ = options.measure || options.deadline.has_value();
  if (options.measure) {
    tick_latency_.emplace();
    step_latency_.resize(plan.steps.size());
  }
  if (memory_) {
    std::size_t largest = 0;
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
      largest = std::max(largest, buffers_.byte_size(i));
    }
    scratch_.resize(largest);
  }
  make_bindings(engines);
}

void Session::make_bindings(const std::vector<std::unique_ptr<Engine>>& engines) {
  for (std::size_t step = 0; step < engines.size(); ++step) {
    const PlannedStep& planned = plan_.steps[step];
    const auto doubled = [&](const Access& access) { return plan_.values[access.value].doubled; };
    const bool two = std::any_of(planned.inputs.begin(), planned.inputs.end(), doubled) ||
                     std::any_of(planned.outputs.begin(), planned.outputs.end(), doubled);
    for (std::size_t half = 0; half < (two ? 2u : 1u); ++half) {
      std::vector<ConstTensorView> inputs;
      std::vector<TensorView> outputs;
      for (const Access& access : planned.inputs) {
        inputs.emplace_back(buffers_.view(access.value, access.last_tick ? half : 1 - half));
      }
      for (const Access& access : planned.outputs) {
        outputs.push_back(buffers_.view(access.value, 1 - half));
      }
      bindings_.push_back(memory_ ? engines[step]->bind_device(inputs, outputs)
                                  : engines[step]->bind(inputs, outputs));
      schedule_[half].push_back(bindings_.back().get());
    }
    if (!two) schedule_[1].push_back(bindings_.back().get());
  }
}

void Session::place(std::size_t value, void* data) {
  recordings_ = {};  // they hold the former address
  buffers_.place(value, data);
  const TensorView& view = buffers_.view(value, 0);
  for (std::size_t step = 0; step < schedule_[0].size(); ++step) {
    const PlannedStep& planned = plan_.steps[step];
    for (std::size_t half = 0; half < 2; ++half) {
      Binding& binding = *schedule_[half][step];
      for (std::size_t i = 0; i < planned.inputs.size(); ++i) {
        if (planned.inputs[i].value == value) binding.rebind_input(i, view);
      }
      for (std::size_t i = 0; i < planned.outputs.size(); ++i) {
        if (planned.outputs[i].value == value) binding.rebind_output(i, view);
      }
    }
  }
}

void Session::bind_input(std::size_t input, const void* data) {
  require_idle();
  ExternalInput& external = inputs_[input];
  place(external.value, const_cast<void*>(data));  // engines only read their inputs
  external.bound = data != nullptr;
  external.supplied = false;
  external.clash = false;
  if (external.bound) touch(input);
}

void Session::bind_output(std::size_t output, void* data) {
  require_idle();
  ExternalOutput& external = outputs_[output];
  if (plan_.values[external.access.value].doubled) {
    external.copy_to = data;
  } else {
    place(external.access.value, data);
  }
}

Result<void> Session::store(const TensorView& value, const void* host) noexcept {
  const std::size_t bytes = value.byte_size();
  if (bytes == 0) return {};
  if (memory_) return memory_->copy(value.data, host, bytes, DeviceMemory::Copy::kToDevice);
  std::memcpy(value.data, host, bytes);
  return {};
}

Result<void> Session::fetch(const TensorView& value, void* host) const noexcept {
  const std::size_t bytes = value.byte_size();
  if (bytes == 0) return {};
  if (memory_) return memory_->copy(host, value.data, bytes, DeviceMemory::Copy::kToHost);
  std::memcpy(host, value.data, bytes);
  return {};
}

Tensor Session::read(const TensorView& value) const {
  Tensor tensor(value.dtype, value.shape);
  fetch(value, tensor.data()).value();
  return tensor;
}

void Session::set_input(std::size_t input, const void* elements) noexcept {
  set_input(input, elements, DeviceMemory::Copy::kToDevice);
}

void Session::set_device_input(std::size_t input, const void* elements) noexcept {
  set_input(input, elements, DeviceMemory::Copy::kWithin);
}

void Session::set_input(std::size_t input, const void* elements, DeviceMemory::Copy way) noexcept {
  ExternalInput& external = inputs_[input];
  if (external.bound) [[unlikely]] {
    external.clash = true;  // the next tick says so: this call cannot
    return;
  }
  void* to = buffers_.view(external.value, 0).data;
  if (!memory_) [[likely]] {
    if (external.bytes != 0) std::memcpy(to, elements, external.bytes);
  } else if (Result<void> copied = memory_->copy(to, elements, external.bytes, way); !copied) {
    input_failure_ = copied.failure();
    return;
  }
  touch(input);
}

Result<void> Session::get_device_output(std::size_t output, void* elements) const noexcept {
  const TensorView& from = this->output(output);
  if (!memory_) return fetch(from, elements);
  return memory_->copy(elements, from.data, from.byte_size(), DeviceMemory::Copy::kWithin);
}

const TensorView& Session::input(std::size_t input) noexcept {
  return buffers_.view(inputs_[input].value, 0);
}

void Session::touch(std::size_t input) noexcept {
  ExternalInput& external = inputs_[input];
  external.supplied = true;
  external.held = false;
  inputs_changed_ = true;
  if (external.ages) external.fresh = Clock::now();
}

void Session::clear_inputs() noexcept {
  for (ExternalInput& input : inputs_) input.supplied = input.held || input.bound;
}

void Session::zero_inputs() {
  for (ExternalInput& external : inputs_) {
    if (external.bound) continue;
    const TensorView& value = buffers_.view(external.value, 0);
    store(value, Tensor(value.dtype, value.shape).data()).value();
    external.supplied = external.held = false;
  }
  inputs_changed_ = true;
}

const TensorView& Session::output(std::size_t output) const noexcept {
  return now(outputs_[output].access);
}

Session::Values Session::values() const {
  Values copy{parity_, {}};
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    std::array<Tensor, 2>& halves = copy.halves.emplace_back();
    for (std::size_t half = 0; half < (plan_.values[i].doubled ? 2u : 1u); ++half) {
      halves[half] = read(buffers_.view(i, half));
    }
  }
  return copy;
}

void Session::set_values(const Values& former) {
  parity_ = former.parity;
  for (std::size_t i = 0; i < plan_.values.size(); ++i) {
    const auto bound = [&](const ExternalInput& input) { return input.value == i && input.bound; };
    if (std::any_of(inputs_.begin(), inputs_.end(), bound)) continue;
    for (std::size_t half = 0; half < (plan_.values[i].doubled ? 2u : 1u); ++half) {
      store(buffers_.view(i, half), former.halves[i][half].data()).value();
    }
  }
}

void Session::record() {
  recordings_ = {};
  if (!memory_) return;
  const std::size_t parity = parity_;
  try {
    for (parity_ = 0; parity_ < 2; ++parity_) {
      recordings_[parity_] = memory_->record([this] { return run_nodes(); });
    }
  } catch (const Error& error) {
    recordings_ = {};
    log(LogLevel::kInfo, std::string("ticks are not recorded: ") + error.what());
  }
  parity_ = parity;
}

}  // namespace leapp
