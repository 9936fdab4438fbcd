#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "runtime/c_call.h"

namespace leapp::c {
namespace {

std::chrono::nanoseconds from_seconds(double seconds, const std::string& what) {
  constexpr double kMost = 1e9;  // 30 years, which nanoseconds can count
  if (!(seconds >= 0 && seconds <= kMost)) {
    throw Error(Code::kRuntimeOptions, what + " is no number of seconds");
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

// Both kinds of options have these members.
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

void add_nodes(const leapp_options& options, RuntimeOptions& result) {
  for (size_t i = 0; options.nodes != nullptr && i < options.node_count; ++i) {
    const leapp_node_options& node = options.nodes[i];
    if (node.size != sizeof(leapp_node_options) || node.node == nullptr) {
      throw Error(Code::kRuntimeOptions,
                  "options.nodes: an entry has no node, or its size is not "
                  "sizeof(leapp_node_options)");
    }
    result.nodes[node.node] = engine_options(node);
  }
  for (size_t i = 0; options.staleness != nullptr && i < options.staleness_count; ++i) {
    const leapp_staleness& limit = options.staleness[i];
    if (limit.input == nullptr) {
      throw Error(Code::kRuntimeOptions, "options.staleness: an entry has no input");
    }
    result.staleness[limit.input] = from_seconds(limit.seconds, "options.staleness");
  }
}

}  // namespace

RuntimeOptions runtime_options(const leapp_options* given) {
  leapp_options options;
  leapp_options_init(&options);
  // What version 1 of the interface has; a caller built with a later one gives more.
  constexpr std::size_t kLeast = offsetof(leapp_options, provider) + sizeof(options.provider);
  if (given != nullptr && given->size < kLeast) {
    throw Error(Code::kRuntimeOptions, "options.size is " + std::to_string(given->size) +
                                           ", but at least " + std::to_string(kLeast) +
                                           " is expected; call leapp_options_init()");
  }
  if (given != nullptr) std::memcpy(&options, given, std::min(given->size, sizeof(options)));
  RuntimeOptions result;
  result.engine = engine_options(options);
  add_nodes(options, result);
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
  result.bundle.max_tensor_bytes = options.max_tensor_bytes;
  result.bundle.allow_outside_files = options.allow_outside_files != 0;
  result.bundle.trust = options.trust_code != 0 ? Trust::kCode : Trust::kData;
  result.bundle.allow_native = options.allow_native != 0;
  return result;
}

}  // namespace leapp::c

extern "C" {

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
              .translate = 1,
              .trust_code = 0,
              .affinity = nullptr,
              .affinity_count = 0,
              .nodes = nullptr,
              .node_count = 0,
              .staleness = nullptr,
              .staleness_count = 0,
              .on_deadline_miss = nullptr,
              .deadline_context = nullptr,
              .allow_native = 0};
}

}  // extern "C"
