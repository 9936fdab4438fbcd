#include <algorithm>
#include <chrono>
#include <cstddef>

#include "runtime/c_call.h"

namespace leapp::c {
namespace {

std::chrono::nanoseconds from_seconds(double seconds, const std::string& what) {
  constexpr double kMost = 1e9;  // 30 years, which fits into nanoseconds
  if (!(seconds >= 0 && seconds <= kMost)) {
    throw Error(Code::kRuntimeOptions, what + " is not a number of seconds from 0 to 1e9");
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

// Both structs have these members.
template <typename Options>
EngineOptions engine_options(const Options& options) {
  EngineOptions result;
  result.threads = options.threads;
  if (options.affinity != nullptr) {
    result.affinity.assign(options.affinity, options.affinity + options.affinity_count);
  }
  result.spinning = options.spinning != 0;
  if (options.provider != nullptr) result.provider = options.provider;
  result.translate = options.translate != 0;
  return result;
}

leapp_options default_options() {
  leapp_options options = {};
  options.size = sizeof(leapp_options);
  options.threads = 1;
  options.merge = 1;
  options.translate = 1;
  options.max_tensor_bytes = BundleOptions{}.max_tensor_bytes;
  return options;
}

leapp_node_options default_node_options() {
  leapp_node_options options = {};
  options.threads = 1;
  options.translate = 1;
  return options;
}

// Entry `index` of an array of the caller's structs, each `size` bytes long.
template <typename Struct>
Struct entry_of(const Struct* entries, std::size_t size, std::size_t index, Struct defaults,
                const char* name) {
  if (size == 0) {
    throw Error(Code::kRuntimeOptions, std::string(name) +
                                           ": the size of an entry is 0; set it to "
                                           "sizeof of its struct");
  }
  return take_struct(reinterpret_cast<const char*>(entries) + index * size, size, defaults, name);
}

void add_nodes(const leapp_options& options, RuntimeOptions& result) {
  for (std::size_t i = 0; options.nodes != nullptr && i < options.node_count; ++i) {
    const leapp_node_options node =
        entry_of(options.nodes, options.node_size, i, default_node_options(), "options.nodes");
    if (node.node == nullptr) {
      throw Error(Code::kRuntimeOptions, "options.nodes: entry " + std::to_string(i) +
                                             " does not name its node (a null pointer)");
    }
    result.nodes[node.node] = engine_options(node);
  }
}

void add_staleness(const leapp_options& options, RuntimeOptions& result) {
  for (std::size_t i = 0; options.staleness != nullptr && i < options.staleness_count; ++i) {
    const leapp_staleness limit = entry_of(options.staleness, options.staleness_size, i,
                                           leapp_staleness{}, "options.staleness");
    if (limit.input == nullptr) {
      throw Error(Code::kRuntimeOptions, "options.staleness: entry " + std::to_string(i) +
                                             " does not name its input (a null pointer)");
    }
    result.staleness[limit.input] = from_seconds(limit.seconds, "options.staleness");
  }
}

// The caller's options override the defaults.
leapp_options options_from(const leapp_options* given) {
  if (given == nullptr) return default_options();
  if (given->size < sizeof(given->size)) {
    throw Error(Code::kRuntimeOptions,
                "options.size is " + std::to_string(given->size) +
                    "; call leapp_options_init(&options, sizeof options) first");
  }
  return take_struct(given, given->size, default_options(), "options");
}

leapp_status init(const char* name, std::size_t least, const void* options, std::size_t size) {
  if (options == nullptr) return is_null(name);
  if (size >= least) return LEAPP_OK;
  return fail(Failure(Code::kRuntimeOptions, {"the size of the ", name, " is 0; pass sizeof"}));
}

}  // namespace

RuntimeOptions runtime_options(const leapp_options* given) {
  const leapp_options options = options_from(given);
  RuntimeOptions result;
  result.engine = engine_options(options);
  add_nodes(options, result);
  add_staleness(options, result);
  result.merge = options.merge != 0 ? Merge::kAuto : Merge::kOff;
  result.finite = {.inputs = (options.check_finite & LEAPP_FINITE_INPUTS) != 0,
                   .state = (options.check_finite & LEAPP_FINITE_STATE) != 0,
                   .outputs = (options.check_finite & LEAPP_FINITE_OUTPUTS) != 0};
  result.measure = options.measure != 0;
  if (options.deadline != 0) result.deadline = from_seconds(options.deadline, "options.deadline");
  if (options.on_deadline_miss != nullptr) {
    result.on_deadline_miss = [call = options.on_deadline_miss,
                               context = options.deadline_context](const auto& miss) {
      using Seconds = std::chrono::duration<double>;
      call(context, miss.tick, Seconds(miss.took).count(), Seconds(miss.deadline).count());
    };
  }
  result.noise_seed = options.noise_seed;
  result.bundle.max_tensor_bytes = options.max_tensor_bytes;
  result.bundle.allow_outside_files = options.allow_outside_files != 0;
  result.bundle.trust = options.trust_code != 0 ? Trust::kCode : Trust::kData;
  result.bundle.allow_native = options.allow_native != 0;
  return result;
}

}  // namespace leapp::c

extern "C" {

leapp_status leapp_options_init(leapp_options* options, size_t size) {
  using namespace leapp::c;
  if (const leapp_status status = init("options", sizeof(options->size), options, size);
      status != LEAPP_OK) {
    return status;
  }
  leapp_options defaults = default_options();
  defaults.size = size;
  put_struct(defaults, options, size);
  return LEAPP_OK;
}

leapp_status leapp_node_options_init(leapp_node_options* options, size_t size) {
  using namespace leapp::c;
  if (const leapp_status status = init("options", 1, options, size); status != LEAPP_OK) {
    return status;
  }
  put_struct(default_node_options(), options, size);
  return LEAPP_OK;
}

}  // extern "C"
