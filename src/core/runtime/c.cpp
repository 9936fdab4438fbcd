#include "leapp/c.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "leapp/log.h"
#include "runtime/c_call.h"

using leapp::Code;
using leapp::c::fail;
using leapp::c::guarded;
using leapp::c::is_null;
using leapp::c::no_such;
using leapp::c::put_struct;
using leapp::c::status_of;

namespace {

std::span<const std::byte> bytes_at(const void* elements, std::size_t bytes) {
  return {static_cast<const std::byte*>(elements), bytes};
}

std::unique_ptr<leapp_manager> load(const char* yaml, const leapp::RuntimeOptions& options) {
  auto made = std::make_unique<leapp_manager>(leapp::InferenceManager(yaml, options));
  const leapp::InferenceManager& manager = made->manager;
  const leapp::Bundle& bundle = manager.bundle();
  for (const auto* names : {&manager.inputs(), &manager.noise_inputs()}) {
    for (const std::string& name : *names) {
      made->inputs.push_back(manager.input_port(name));
      made->described_inputs.push_back(bundle.find_input(*leapp::parse_port_ref(name)));
    }
  }
  for (const std::string& name : manager.outputs()) {
    made->outputs.push_back(manager.output_port(name));
    made->described_outputs.push_back(bundle.find_output(*leapp::parse_port_ref(name)));
  }
  for (const auto& [name, value] : manager.state()) made->state_bytes += value.byte_size();
  return made;
}

leapp_status wrong_state_size() {
  return fail(
      leapp::Failure(Code::kPortShape, "the size must be the result of leapp_state_bytes()"));
}

}  // namespace

extern "C" {

uint32_t leapp_c_version(void) {
  return LEAPP_C_VERSION;
}

leapp_status leapp_load(const char* yaml, const leapp_options* options, leapp_manager** out) {
  if (yaml == nullptr) return is_null("yaml");
  if (out == nullptr) return is_null("out");
  return guarded([&] { *out = load(yaml, leapp::c::runtime_options(options)).release(); });
}

void leapp_free(leapp_manager* manager) {
  delete manager;
}

void* leapp_input(leapp_manager* manager, size_t input) {
  if (manager == nullptr || input >= manager->inputs.size()) {
    manager == nullptr ? is_null("manager") : no_such("input");
    return nullptr;
  }
  return manager->manager.input(manager->inputs[input]).data;
}

leapp_status leapp_set_input(leapp_manager* manager, size_t input, const void* elements,
                             size_t bytes) {
  if (manager == nullptr) return is_null("manager");
  if (elements == nullptr && bytes > 0) return is_null("elements");
  if (input >= manager->inputs.size()) return no_such("input");
  const leapp::DType dtype = manager->described_inputs[input]->dtype;
  return status_of(
      manager->manager.set_input(manager->inputs[input], {dtype, bytes_at(elements, bytes)}));
}

leapp_status leapp_bind_input(leapp_manager* manager, size_t input, const void* elements,
                              size_t bytes) {
  if (manager == nullptr) return is_null("manager");
  if (input >= manager->inputs.size()) return no_such("input");
  if (elements == nullptr && bytes > 0) return is_null("elements");
  return guarded([&] {
    const leapp::InputPort port = manager->inputs[input];
    if (elements == nullptr) return manager->manager.unbind_input(port);
    const leapp::DType dtype = manager->described_inputs[input]->dtype;
    manager->manager.bind_input(port, {dtype, bytes_at(elements, bytes)});
  });
}

leapp_status leapp_bind_output(leapp_manager* manager, size_t output, void* elements,
                               size_t bytes) {
  if (manager == nullptr) return is_null("manager");
  if (output >= manager->outputs.size()) return no_such("output");
  if (elements == nullptr && bytes > 0) return is_null("elements");
  return guarded([&] {
    const leapp::OutputPort port = manager->outputs[output];
    if (elements == nullptr) return manager->manager.unbind_output(port);
    const leapp::DType dtype = manager->described_outputs[output]->dtype;
    manager->manager.bind_output(
        port, {dtype, std::span<std::byte>(static_cast<std::byte*>(elements), bytes)});
  });
}

leapp_status leapp_touch(leapp_manager* manager, size_t input) {
  if (manager == nullptr) return is_null("manager");
  if (input >= manager->inputs.size()) return no_such("input");
  return status_of(manager->manager.touch(manager->inputs[input]));
}

leapp_status leapp_prepare(leapp_manager* manager, int32_t ticks) {
  if (manager == nullptr) return is_null("manager");
  return guarded([&] { manager->manager.prepare(ticks); });
}

leapp_status leapp_verify(const leapp_manager* manager, leapp_verification* out, size_t size) {
  if (manager == nullptr) return is_null("manager");
  return guarded([&] {
    const leapp::Verification verification = manager->manager.verify();
    leapp_verification summary = {};
    summary.ticks = verification.ticks;
    const leapp::PortVerification* first = nullptr;
    for (const leapp::PortVerification& check : verification.checks) {
      ++summary.compared;
      summary.worst_error = std::max(summary.worst_error, check.comparison.difference.max);
      if (check.comparison.passed()) continue;
      ++summary.mismatched;
      if (first == nullptr) first = &check;
    }
    if (out != nullptr) put_struct(summary, out, size);
    if (!verification.compared()) {
      throw leapp::Error(Code::kNothingCompared,
                         "the golden traces contain no value that can be compared, so this machine "
                         "is not verified");
    }
    if (first == nullptr) return;
    throw leapp::Error(Code::kNotRepeated, first->port + " in golden tick " +
                                               std::to_string(first->tick) + ": " +
                                               headline(first->comparison));
  });
}

leapp_status leapp_tick(leapp_manager* manager) {
  if (manager == nullptr) return is_null("manager");
  return status_of(manager->manager.tick());
}

const void* leapp_output(const leapp_manager* manager, size_t output) {
  if (manager == nullptr || output >= manager->outputs.size()) {
    manager == nullptr ? is_null("manager") : no_such("output");
    return nullptr;
  }
  return manager->manager.output(manager->outputs[output]).data;
}

int64_t leapp_output_age(const leapp_manager* manager, size_t output) {
  if (manager == nullptr || output >= manager->outputs.size()) {
    manager == nullptr ? is_null("manager") : no_such("output");
    return -1;
  }
  const auto age = manager->manager.output_age(manager->outputs[output]);
  return age ? static_cast<int64_t>(*age) : -1;
}

leapp_status leapp_set_input_value(leapp_manager* manager, const char* node, const char* input,
                                   const void* elements, size_t bytes) {
  if (manager == nullptr) return is_null("manager");
  if (node == nullptr) return is_null("node");
  if (input == nullptr) return is_null("input");
  if (elements == nullptr && bytes > 0) return is_null("elements");
  return guarded([&] {
    const leapp::Tensor now = manager->manager.value(node, input);  // throws for an unknown port
    if (now.byte_size() != bytes) {
      throw leapp::Error(Code::kPortShape, "input " + std::string(node) + "/" + input + " has " +
                                               std::to_string(bytes) + " bytes, expected " +
                                               std::to_string(now.byte_size()));
    }
    manager->manager.set_input_value(node, input,
                                     leapp::ConstTensorView(elements, now.dtype(), now.shape()));
  });
}

leapp_status leapp_reset(leapp_manager* manager) {
  if (manager == nullptr) return is_null("manager");
  return guarded([&] { manager->manager.reset(); });
}

leapp_status leapp_set_noise_seed(leapp_manager* manager, uint64_t seed) {
  if (manager == nullptr) return is_null("manager");
  return status_of(manager->manager.set_noise_seed(seed));
}

size_t leapp_state_bytes(const leapp_manager* manager) {
  if (manager == nullptr) {
    is_null("manager");
    return 0;
  }
  return manager->state_bytes;
}

leapp_status leapp_get_state(const leapp_manager* manager, void* state, size_t bytes) {
  if (manager == nullptr) return is_null("manager");
  if (state == nullptr && bytes > 0) return is_null("state");
  if (bytes != leapp_state_bytes(manager)) return wrong_state_size();
  return guarded([&] {
    char* to = static_cast<char*>(state);
    for (const auto& [name, tensor] : manager->manager.state()) {
      std::memcpy(to, tensor.data(), tensor.byte_size());
      to += tensor.byte_size();
    }
  });
}

leapp_status leapp_set_state(leapp_manager* manager, const void* state, size_t bytes) {
  if (manager == nullptr) return is_null("manager");
  if (state == nullptr && bytes > 0) return is_null("state");
  if (bytes != leapp_state_bytes(manager)) return wrong_state_size();
  return guarded([&] {
    leapp::TensorMap tensors = manager->manager.state();
    const char* from = static_cast<const char*>(state);
    for (auto& [name, tensor] : tensors) {
      std::memcpy(tensor.data(), from, tensor.byte_size());
      from += tensor.byte_size();
    }
    manager->manager.set_state(tensors);
  });
}

leapp_status leapp_statistics(const leapp_manager* manager, leapp_latency* out, size_t size) {
  if (manager == nullptr) return is_null("manager");
  if (out == nullptr) return is_null("out");
  return guarded([&] {
    const leapp::Statistics statistics = manager->manager.statistics();
    const leapp::LatencySummary& tick = statistics.tick;
    put_struct({.count = tick.count,
                .mean = tick.mean.count(),
                .p50 = tick.p50.count(),
                .p99 = tick.p99.count(),
                .p999 = tick.p999.count(),
                .max = tick.max.count(),
                .deadline_misses = statistics.deadline_misses},
               out, size);
  });
}

leapp_status leapp_trace_to(leapp_manager* manager, const char* file) {
  if (manager == nullptr) return is_null("manager");
  return guarded([&] { manager->manager.trace_to(file == nullptr ? "" : file); });
}

leapp_status leapp_set_log_sink(leapp_log_sink sink, void* context, leapp_log_level least) {
  return guarded([&] {
    if (sink == nullptr) {
      leapp::set_log_sink({});
      return;
    }
    leapp::set_log_sink(
        [sink, context](leapp::LogLevel level, std::string_view line) {
          sink(context, static_cast<leapp_log_level>(level), std::string(line).c_str());
        },
        static_cast<leapp::LogLevel>(least));
  });
}

}  // extern "C"
