#include "leapp/c.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "leapp/inference_manager.h"
#include "leapp/log.h"

using leapp::Code;
using leapp::ErrorKind;

struct leapp_manager {
  leapp::InferenceManager manager;
  std::vector<leapp::InputPort> inputs;
  std::vector<leapp::OutputPort> outputs;
};

namespace {

// Inline, so that a failing tick allocates nothing.
thread_local std::array<char, 2048> last_error{};
thread_local std::array<char, 8> last_code{};

template <std::size_t kSize>
void keep(std::array<char, kSize>& place, std::string_view text) {
  const std::size_t size = std::min(text.size(), kSize - 1);
  std::copy_n(text.data(), size, place.data());
  place[size] = '\0';
}

leapp_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return LEAPP_USAGE;
    case ErrorKind::kType:
      return LEAPP_TYPE;
    case ErrorKind::kValue:
    case ErrorKind::kExport:
    case ErrorKind::kValidation:
      return LEAPP_VALUE;
    case ErrorKind::kNotFound:
      return LEAPP_NOT_FOUND;
    case ErrorKind::kIo:
      return LEAPP_IO;
    case ErrorKind::kInternal:
      return LEAPP_INTERNAL;
  }
  return LEAPP_INTERNAL;
}

leapp_status fail(Code code, std::string_view message) {
  keep(last_error, message);
  keep(last_code, to_string(code));  // so short that it lies in the string itself
  return status_of(kind_of(code));
}

leapp_status fail(const leapp::Error& error) {
  return fail(error.code(), error.what());
}

leapp_status fail(const leapp::Failure& failure) {
  return fail(failure.code(), failure.message());
}

// Runs a call and turns what it throws into a status.
template <typename Call>
leapp_status guarded(const Call& call) noexcept {
  try {
    call();
    return LEAPP_OK;
  } catch (const leapp::Error& error) {
    return fail(error);
  } catch (const std::exception& error) {
    return fail(leapp::Error(Code::kInternal, error.what()));
  }
}

// Allocates nothing, for the calls of a tick.
leapp_status is_null(const char* argument) {
  return fail(leapp::Failure(Code::kWrongValue, {argument, " is null"}));
}

leapp_status no_such(const char* side) {
  return fail(leapp::Failure(Code::kUnknownPort, {"the ", side, "'s index is out of range"}));
}

leapp_status describe(const leapp::TensorView& view, leapp_tensor_info* info) {
  static_assert(static_cast<int>(LEAPP_COMPLEX128) == static_cast<int>(leapp::DType::kComplex128));
  static_assert(static_cast<int>(LEAPP_FLOAT32) == static_cast<int>(leapp::DType::kFloat32));
  info->dtype = static_cast<leapp_dtype>(view.dtype);
  info->rank = view.shape.size();
  info->shape = view.shape.data();
  info->bytes = view.byte_size();
  return LEAPP_OK;
}

leapp::Error wrong_size(const std::string& name, std::size_t expected, std::size_t found) {
  return leapp::Error(Code::kPortShape, "input " + name + " has " + std::to_string(expected) +
                                            " bytes, but " + std::to_string(found) + " were given");
}

leapp_status wrong_state_size() {
  return fail(
      leapp::Failure(Code::kPortShape, "the state's size is what leapp_state_bytes() says"));
}

leapp::RuntimeOptions runtime_options(const leapp_options* given) {
  leapp_options options;
  leapp_options_init(&options);
  // What version 1 of the interface has; a caller built with a later one gives more.
  constexpr std::size_t kLeast = offsetof(leapp_options, provider) + sizeof(options.provider);
  if (given != nullptr && given->size < kLeast) {
    throw leapp::Error(Code::kRuntimeOptions, "options.size is " + std::to_string(given->size) +
                                                  ", but at least " + std::to_string(kLeast) +
                                                  " is expected; call leapp_options_init()");
  }
  if (given != nullptr) std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  leapp::RuntimeOptions result;
  result.engine.threads = options.threads;
  result.engine.spinning = options.spinning != 0;
  if (options.provider != nullptr) result.engine.provider = options.provider;
  result.engine.translate = options.translate != 0;
  result.merge = options.merge != 0 ? leapp::Merge::kAuto : leapp::Merge::kOff;
  result.finite = {.inputs = (options.check_finite & LEAPP_FINITE_INPUTS) != 0,
                   .state = (options.check_finite & LEAPP_FINITE_STATE) != 0,
                   .outputs = (options.check_finite & LEAPP_FINITE_OUTPUTS) != 0};
  result.measure = options.measure != 0;
  if (options.deadline > 0) {
    result.deadline = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(options.deadline));
  }
  result.bundle.max_tensor_bytes = options.max_tensor_bytes;
  result.bundle.allow_outside_files = options.allow_outside_files != 0;
  return result;
}

}  // namespace

extern "C" {

uint32_t leapp_c_version(void) {
  return LEAPP_C_VERSION;
}

const char* leapp_last_error(void) {
  return last_error.data();
}

const char* leapp_last_code(void) {
  return last_code.data();
}

void leapp_options_init(leapp_options* options) {
  if (options == nullptr) return;
  *options = {.size = sizeof(leapp_options),
              .threads = 1,
              .spinning = 0,
              .merge = 1,
              .check_finite = 0,
              .measure = 0,
              .deadline = 0,
              .provider = nullptr,
              .max_tensor_bytes = leapp::BundleOptions{}.max_tensor_bytes,
              .allow_outside_files = 0,
              .translate = 1};
}

leapp_status leapp_load(const char* yaml, const leapp_options* options, leapp_manager** out) {
  if (yaml == nullptr) return is_null("yaml");
  if (out == nullptr) return is_null("out");
  return guarded([&] {
    auto made = std::make_unique<leapp_manager>(
        leapp_manager{leapp::InferenceManager(yaml, runtime_options(options)), {}, {}});
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

size_t leapp_input_count(const leapp_manager* manager) {
  if (manager == nullptr) {
    is_null("manager");
    return 0;
  }
  return manager->inputs.size();
}

size_t leapp_output_count(const leapp_manager* manager) {
  if (manager == nullptr) {
    is_null("manager");
    return 0;
  }
  return manager->outputs.size();
}

const char* leapp_input_name(const leapp_manager* manager, size_t input) {
  if (manager == nullptr) {
    is_null("manager");
    return nullptr;
  }
  const auto& names = manager->manager.inputs();
  return input < names.size() ? names[input].c_str() : nullptr;
}

const char* leapp_output_name(const leapp_manager* manager, size_t output) {
  if (manager == nullptr) {
    is_null("manager");
    return nullptr;
  }
  const auto& names = manager->manager.outputs();
  return output < names.size() ? names[output].c_str() : nullptr;
}

leapp_status leapp_find_input(const leapp_manager* manager, const char* name, size_t* input) {
  if (manager == nullptr) return is_null("manager");
  if (name == nullptr) return is_null("name");
  if (input == nullptr) return is_null("input");
  return guarded([&] { *input = manager->manager.input_port(name).index(); });
}

leapp_status leapp_find_output(const leapp_manager* manager, const char* name, size_t* output) {
  if (manager == nullptr) return is_null("manager");
  if (name == nullptr) return is_null("name");
  if (output == nullptr) return is_null("output");
  return guarded([&] { *output = manager->manager.output_port(name).index(); });
}

leapp_status leapp_input_info(leapp_manager* manager, size_t input, leapp_tensor_info* info) {
  if (manager == nullptr) return is_null("manager");
  if (info == nullptr) return is_null("info");
  if (input >= manager->inputs.size()) return no_such("input");
  return describe(manager->manager.input(manager->inputs[input]), info);
}

leapp_status leapp_output_info(leapp_manager* manager, size_t output, leapp_tensor_info* info) {
  if (manager == nullptr) return is_null("manager");
  if (info == nullptr) return is_null("info");
  if (output >= manager->outputs.size()) return no_such("output");
  return describe(manager->manager.output(manager->outputs[output]), info);
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
