#include "runtime/session.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "base/log.h"

namespace leapp {
namespace {

// The device of all engines, or null: then values are on the host, and engines on devices copy.
std::shared_ptr<DeviceMemory> common_memory(const std::vector<std::unique_ptr<Engine>>& engines) {
  std::shared_ptr<DeviceMemory> common;
  for (const std::unique_ptr<Engine>& engine : engines) {
    std::shared_ptr<DeviceMemory> memory = engine->memory();
    if (!memory || (common && common->device() != memory->device())) return nullptr;
    common = std::move(memory);
  }
  return common;
}

constexpr const char* kNoPort =
    "this port belongs to no pipeline. Get it from the manager, with input_port() or output_port()";

// Appends a number to a message without allocation.
class Digits {
 public:
  explicit Digits(std::size_t number) noexcept
      : end_(std::to_chars(text_.data(), text_.data() + text_.size(), number).ptr) {}
  std::string_view text() const noexcept { return {text_.data(), end_}; }

 private:
  std::array<char, 24> text_;
  char* end_;
};

// Checks elements against their port; `side` is "input" or "output".
Result<void> check_elements(const char* side, const std::string& name, const TensorView& port,
                            std::size_t bytes, const ConstElements& elements) noexcept {
  if (elements.dtype() != port.dtype) [[unlikely]] {
    return Failure(Code::kPortType, {side, " ", name, " is ", name_of(elements.dtype()),
                                     ", expected ", name_of(port.dtype)});
  }
  if (elements.byte_size() != bytes) [[unlikely]] {
    const std::size_t width = size_of(port.dtype);
    return Failure(Code::kPortShape,
                   {side, " ", name, " has ", Digits(elements.byte_size() / width).text(),
                    " elements (", Digits(elements.byte_size()).text(), " bytes), expected ",
                    Digits(bytes / width).text(), " (", Digits(bytes).text(), " bytes)"});
  }
  if (elements.data() == nullptr && bytes != 0) [[unlikely]] {
    return Failure(Code::kWrongValue,
                   {side, " ", name, " has elements, but no memory (a null pointer)"});
  }
  return {};
}

void require_aligned(const void* data, DType dtype, const std::string& name) {
  const std::size_t width = is_complex(dtype) ? size_of(dtype) / 2 : size_of(dtype);
  require(reinterpret_cast<std::uintptr_t>(data) % width == 0, Code::kBadBinding,
          "the memory bound to " + name + " is not aligned for " + std::string(name_of(dtype)) +
              ": its address must be a multiple of " + std::to_string(width));
}

}  // namespace

Session::Session(const Plan& plan, const std::vector<std::unique_ptr<Engine>>& engines,
                 const RuntimeOptions& options, std::string cannot_run)
    : plan_(plan),
      options_(options),
      cannot_run_(std::move(cannot_run)),
      memory_(common_memory(engines)),
      buffers_(plan.values, memory_),
      noise_(plan, buffers_, memory_.get(), options.noise_seed) {
  const std::size_t required = plan.external_inputs.size() - plan.noise.size();
  for (const std::string& name : plan.external_inputs) {
    if (inputs_.size() < required) {
      takes_ += (takes_.empty() ? "; the pipeline takes: " : ", ") + name;
    }
    const Access& access = plan.inputs.at(name);
    inputs_.push_back({.value = access.value, .bytes = buffers_.byte_size(access.value)});
  }
  for (const std::string& name : plan.external_outputs) {
    outputs_.push_back({.access = plan.outputs.at(name)});
  }
  for (std::size_t step = 0; step < plan.steps.size(); ++step) {
    for (const Access& written : plan.steps[step].outputs) {
      for (ExternalOutput& output : outputs_) {
        if (output.access.value == written.value) output.step = step;
      }
    }
  }
  for (const std::string& name : plan.feedback_inputs) {
    std::size_t value = plan.inputs.at(name).value;
    state_.push_back(value);
    for (const FeedbackCopy& copy : plan.copies) {
      if (copy.to == value) value = copy.from;
    }
    for (const HeldFeedback& wire : plan.held_feedback) {
      if (wire.to == value) value = wire.from;
    }
    next_state_.push_back(value);
  }
  for (const auto& [name, limit] : options.staleness) {
    const auto found = std::find(plan.external_inputs.begin(), plan.external_inputs.end(), name);
    require(
        found != plan.external_inputs.end(), Code::kRuntimeOptions,
        "a staleness limit was given for '" + name + "', which is not an input of the pipeline");
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
  if (!plan.timings.empty()) {
    schedule_runner_ = std::make_unique<ScheduleRunner>(plan, buffers_, memory_.get(), &noise_);
  }
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
  recordings_ = {};  // they contain the previous address
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

void Session::bind_input(std::size_t input, const ConstElements& memory) {
  require(input < inputs_.size(), Code::kUnknownPort, kNoPort);
  ExternalInput& external = inputs_[input];
  const std::string& name = plan_.external_inputs[input];
  const TensorView& port = buffers_.view(external.value, 0);
  check_elements("input", name, port, external.bytes, memory).value();
  require_aligned(memory.data(), port.dtype, name);
  place(external.value, const_cast<void*>(memory.data()));  // engines only read their inputs
  external.bound = true;
  mark_fresh(external);
}

void Session::unbind_input(std::size_t input) {
  require(input < inputs_.size(), Code::kUnknownPort, kNoPort);
  place(inputs_[input].value, nullptr);
  inputs_[input].bound = inputs_[input].supplied = false;
}

void Session::bind_output(std::size_t output, const Elements& memory) {
  check_output(output, memory).value();
  ExternalOutput& external = outputs_[output];
  require_aligned(memory.data(), memory.dtype(), plan_.external_outputs[output]);
  const PlannedValue& value = plan_.values[external.access.value];
  if (value.doubled || value.held) {
    external.copy_to = memory.data();
  } else {
    place(external.access.value, memory.data());
  }
}

void Session::unbind_output(std::size_t output) {
  require(output < outputs_.size(), Code::kUnknownPort, kNoPort);
  outputs_[output].copy_to = nullptr;
  const PlannedValue& value = plan_.values[outputs_[output].access.value];
  if (!value.doubled && !value.held) place(outputs_[output].access.value, nullptr);
}

Result<void> Session::store(const TensorView& value, const void* host) noexcept {
  can_undo_ = false;
  const std::size_t bytes = value.byte_size();
  if (bytes == 0) return {};
  if (memory_) return memory_->copy(value.data, host, bytes, DeviceMemory::Copy::kToDevice);
  std::memcpy(value.data, host, bytes);
  return {};
}

Result<void> Session::fetch(const TensorView& value, void* host) const noexcept {
  const std::size_t bytes = value.byte_size();
  if (bytes == 0) return {};
  if (host == nullptr) return Failure(Code::kWrongValue, "the destination is a null pointer");
  if (memory_) return memory_->copy(host, value.data, bytes, DeviceMemory::Copy::kToHost);
  std::memcpy(host, value.data, bytes);
  return {};
}

Tensor Session::read(const TensorView& value) const {
  Tensor tensor(value.dtype, value.shape);
  fetch(value, tensor.data()).value();
  return tensor;
}

Result<void> Session::copy_input(std::size_t input, const ConstElements& elements,
                                 DeviceMemory::Copy way) noexcept {
  if (input >= inputs_.size()) [[unlikely]]
    return Failure(Code::kUnknownPort, kNoPort);
  ExternalInput& external = inputs_[input];
  const std::string& name = plan_.external_inputs[input];
  if (external.bound) [[unlikely]] {
    return Failure(
        Code::kBoundPort,
        {"input ", name,
         " is bound to memory of the caller. Write to that memory and call touch() for the port"});
  }
  const TensorView& port = buffers_.view(external.value, 0);
  if (Result<void> fits = check_elements("input", name, port, external.bytes, elements); !fits) {
    return fits;
  }
  if (external.bytes != 0) {
    if (!memory_) [[likely]] {
      std::memcpy(port.data, elements.data(), external.bytes);
    } else if (Result<void> copied = memory_->copy(port.data, elements.data(), external.bytes, way);
               !copied) {
      return copied;
    }
  }
  mark_fresh(external);
  return {};
}

Result<void> Session::check_output(std::size_t output, const Elements& memory) const noexcept {
  if (output >= outputs_.size()) [[unlikely]]
    return Failure(Code::kUnknownPort, kNoPort);
  const Access& access = outputs_[output].access;
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(memory.data()),
                                         memory.byte_size());
  return check_elements("the memory for output", plan_.external_outputs[output], now(access),
                        buffers_.byte_size(access.value), {memory.dtype(), bytes});
}

Result<void> Session::get_output(std::size_t output, const Elements& memory) const noexcept {
  if (Result<void> fits = check_output(output, memory); !fits) return fits;
  return fetch(now(outputs_[output].access), memory.data());
}

Result<void> Session::get_device_output(std::size_t output, const Elements& memory) const noexcept {
  if (Result<void> fits = check_output(output, memory); !fits) return fits;
  const TensorView& from = now(outputs_[output].access);
  if (!memory_) return fetch(from, memory.data());
  return memory_->copy(memory.data(), from.data, memory.byte_size(), DeviceMemory::Copy::kWithin);
}

Result<const void*> Session::output_data(std::size_t output, DType dtype) const noexcept {
  if (output >= outputs_.size()) [[unlikely]]
    return Failure(Code::kUnknownPort, kNoPort);
  const TensorView& view = now(outputs_[output].access);
  const std::string& name = plan_.external_outputs[output];
  if (dtype != view.dtype) [[unlikely]] {
    return Failure(Code::kPortType,
                   {"output ", name, " is ", name_of(view.dtype), ", not ", name_of(dtype)});
  }
  if (memory_) [[unlikely]] {
    return Failure(Code::kUsage,
                   {"output ", name, " is not in host memory; copy it with get_output()"});
  }
  return view.data;
}

const TensorView& Session::input(std::size_t input) noexcept {
  return input < inputs_.size() ? buffers_.view(inputs_[input].value, 0) : kNoView;
}

Result<void> Session::touch(std::size_t input) noexcept {
  if (input >= inputs_.size()) [[unlikely]]
    return Failure(Code::kUnknownPort, kNoPort);
  mark_fresh(inputs_[input]);
  return {};
}

void Session::mark_fresh(ExternalInput& external) noexcept {
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
  return output < outputs_.size() ? now(outputs_[output].access) : kNoView;
}

void Session::record() {
  recordings_ = {};
  if (!memory_) return;
  if (schedule_runner_) {
    log(LogLevel::kInfo, "ticks are not recorded: the pipeline has a schedule");
    return;
  }
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
