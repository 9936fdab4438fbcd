#include "leapp/c.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "leapp/log.h"
#include "runtime/c_call.h"

using leapp::Code;
using leapp::c::fail;
using leapp::c::guarded;
using leapp::c::is_null;
using leapp::c::no_such;

namespace {

leapp::Error wrong_size(const std::string& name, std::size_t expected, std::size_t found) {
  return leapp::Error(Code::kPortShape, "input " + name + " has " + std::to_string(expected) +
                                            " bytes, but " + std::to_string(found) + " were given");
}

leapp_status wrong_state_size() {
  return fail(
      leapp::Failure(Code::kPortShape, "the state's size is what leapp_state_bytes() says"));
}

}  // namespace

extern "C" {

uint32_t leapp_c_version(void) {
  return LEAPP_C_VERSION;
}

leapp_status leapp_load(const char* yaml, const leapp_options* options, leapp_manager** out) {
  if (yaml == nullptr) return is_null("yaml");
  if (out == nullptr) return is_null("out");
  return guarded([&] {
    auto made = std::make_unique<leapp_manager>(
        leapp_manager{leapp::InferenceManager(yaml, leapp::c::runtime_options(options)), {}, {}});
    for (const std::string& name : made->manager.inputs()) {
      made->inputs.push_back(made->manager.input_port(name));
    }
    for (const std::string& name : made->manager.outputs()) {
      made->outputs.push_back(made->manager.output_port(name));
    }
    *out = made.release();
  });
}

void leapp_free(leapp_manager* manager) {
  delete manager;
}

void* leapp_input(leapp_manager* manager, size_t input) {
  if (manager == nullptr) {
    is_null("manager");
    return nullptr;
  }
  return input < manager->inputs.size() ? manager->manager.input(manager->inputs[input]).data
                                        : nullptr;
}

leapp_status leapp_set_input(leapp_manager* manager, size_t input, const void* elements,
                             size_t bytes) {
  if (manager == nullptr) return is_null("manager");
  if (elements == nullptr && bytes > 0) return is_null("elements");
  if (input >= manager->inputs.size()) return no_such("input");
  const leapp::InputPort port = manager->inputs[input];
  if (const std::size_t expected = manager->manager.input(port).byte_size(); bytes != expected) {
    return fail(wrong_size(manager->manager.inputs()[input], expected, bytes));
  }
  manager->manager.set_input(port, elements);
  return LEAPP_OK;
}

leapp_status leapp_bind_input(leapp_manager* manager, size_t input, const void* elements) {
  if (manager == nullptr) return is_null("manager");
  if (input >= manager->inputs.size()) return no_such("input");
  return guarded([&] { manager->manager.bind_input(manager->inputs[input], elements); });
}

leapp_status leapp_bind_output(leapp_manager* manager, size_t output, void* elements) {
  if (manager == nullptr) return is_null("manager");
  if (output >= manager->outputs.size()) return no_such("output");
  return guarded([&] { manager->manager.bind_output(manager->outputs[output], elements); });
}

leapp_status leapp_touch(leapp_manager* manager, size_t input) {
  if (manager == nullptr) return is_null("manager");
  if (input >= manager->inputs.size()) return no_such("input");
  manager->manager.touch(manager->inputs[input]);
  return LEAPP_OK;
}

leapp_status leapp_prepare(leapp_manager* manager, int32_t ticks) {
  if (manager == nullptr) return is_null("manager");
  return guarded([&] { manager->manager.prepare(ticks); });
}

leapp_status leapp_verify(const leapp_manager* manager, leapp_verification* out) {
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
    if (out != nullptr) *out = summary;
    if (first == nullptr) return;
    throw leapp::Error(Code::kNotRepeated, first->port + " in golden tick " +
                                               std::to_string(first->tick) + ": " +
                                               headline(first->comparison));
  });
}

leapp_status leapp_tick(leapp_manager* manager) {
  if (manager == nullptr) return is_null("manager");
  const leapp::Result<void> result = manager->manager.tick();
  if (result.ok()) return LEAPP_OK;
  return fail(result.failure());
}

const void* leapp_output(const leapp_manager* manager, size_t output) {
  if (manager == nullptr) {
    is_null("manager");
    return nullptr;
  }
  if (output >= manager->outputs.size()) return nullptr;
  return manager->manager.output(manager->outputs[output]).data;
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
      throw wrong_size(std::string(node) + "/" + input, now.byte_size(), bytes);
    }
    manager->manager.set_input_value(node, input,
                                     leapp::ConstTensorView(elements, now.dtype(), now.shape()));
  });
}

leapp_status leapp_reset(leapp_manager* manager) {
  if (manager == nullptr) return is_null("manager");
  return guarded([&] { manager->manager.reset(); });
}

size_t leapp_state_bytes(const leapp_manager* manager) {
  if (manager == nullptr) {
    is_null("manager");
    return 0;
  }
  std::size_t bytes = 0;
  for (const std::string& name : manager->manager.feedback_inputs()) {
    const leapp::Port& port = *manager->manager.bundle().find_input(*leapp::parse_port_ref(name));
    bytes += static_cast<std::size_t>(leapp::element_count(port.shape)) * size_of(port.dtype);
  }
  return bytes;
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

leapp_status leapp_statistics(const leapp_manager* manager, leapp_latency* out) {
  if (manager == nullptr) return is_null("manager");
  if (out == nullptr) return is_null("out");
  return guarded([&] {
    const leapp::Statistics statistics = manager->manager.statistics();
    const leapp::LatencySummary& tick = statistics.tick;
    *out = {.count = tick.count,
            .mean = tick.mean.count(),
            .p50 = tick.p50.count(),
            .p99 = tick.p99.count(),
            .p999 = tick.p999.count(),
            .max = tick.max.count(),
            .deadline_misses = statistics.deadline_misses};
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
