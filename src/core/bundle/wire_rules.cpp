#include <functional>
#include <string_view>
#include <unordered_map>

#include "base/find.h"
#include "base/utf8.h"
#include "bundle/merged_nodes.h"
#include "bundle/noise_port.h"
#include "bundle/port_rules.h"
#include "bundle/rules.h"
#include "bundle/timing.h"
#include "bundle/wiring.h"

namespace leapp {
namespace {

/// The name of the source that `pipeline.inputs` gives an input.
constexpr const char* kCaller = "the pipeline's inputs";

/// The name "node/port" of a port that is stored elsewhere.
struct PortKey {
  std::string_view node;
  std::string_view port;
  bool operator==(const PortKey&) const = default;
};

struct PortKeyHash {
  std::size_t operator()(const PortKey& key) const noexcept {
    const std::hash<std::string_view> hash;
    return hash(key.node) * 31 + hash(key.port);
  }
};

PortKey key_of(const PortRef& ref) {
  return {ref.node, ref.port};
}

/// Facts about one port, collected while following the wires.
struct PortState {
  const Port* port = nullptr;
  std::string source;    // of an input: name of its source
  bool forward = false;  // of an input: it uses its producer's memory
  bool routed = false;   // of an output: it is read
};

class PipelineChecker {
 public:
  PipelineChecker(const Bundle& bundle, const BundleOptions& options, const RuleReporter& reporter)
      : bundle_(bundle), options_(options), reporter_(reporter) {
    for (const Model& model : bundle.models) {
      for (const Port& port : model.inputs) inputs_[{model.name, port.name}].port = &port;
      for (const Port& port : model.outputs) outputs_[{model.name, port.name}].port = &port;
    }
  }

  void check() {
    follow_wires("data_flow", bundle_.pipeline.data_flow);
    follow_wires("feedback_flow", bundle_.pipeline.feedback_flow);
    follow_graph_inputs();
    follow_graph_outputs();
    follow_schedule();
    check_every_port_is_used();
    check_noise();
    check_memory();
  }

 private:
  using PortTable = std::unordered_map<PortKey, PortState, PortKeyHash>;

  PortState& find(PortTable& table, const PortRef& ref, const char* side, const FieldPath& path) {
    const auto found = table.find(key_of(ref));
    if (found == table.end()) {  // B15
      const Model* const model = bundle_.find_model(ref.node);
      reporter_.fail(rule(15), path,
                     model ? "the model " + quote_for_message(ref.node) + " has no " + side + " " +
                                 quote_for_message(ref.port)
                           : "there is no model " + quote_for_message(ref.node));
    }
    return found->second;
  }

  void feed(PortState& input, const PortRef& ref, const std::string& source,
            const FieldPath& path) {
    if (!input.source.empty()) {  // B16
      reporter_.fail(rule(16), path,
                     "the input " + quote_for_message(to_string(ref)) +
                         " has two sources: " + input.source + " and " + source);
    }
    input.source = source;
  }

  void follow_wires(const char* flow, const std::vector<Wire>& wires) {
    for (const Wire& wire : wires) {
      const std::string source_name = to_string(wire.source);
      const FieldPath path = {"pipeline", flow, source_name};
      PortState& source = find(outputs_, wire.source, "output", path);
      source.routed = true;
      for (std::size_t i = 0; i < wire.targets.size(); ++i) {
        FieldPath item = path;
        item.emplace_back(i);
        PortState& target = find(inputs_, wire.targets[i], "input", item);
        feed(target, wire.targets[i], source_name, item);
        target.forward = std::string_view(flow) == "data_flow";
        compare(wire.source, *source.port, wire.targets[i], *target.port, item);
      }
    }
  }

  void compare(const PortRef& source_ref, const Port& source, const PortRef& target_ref,
               const Port& target, const FieldPath& path) const {
    if (source.shape != target.shape) {  // B17
      reporter_.fail(rule(17), path,
                     "Shape mismatch in pipeline connection: " + to_string(source_ref) + " is " +
                         to_string(source.shape) + ", " + to_string(target_ref) + " expects " +
                         to_string(target.shape));
    }
    if (source.dtype != target.dtype) {  // B17
      reporter_.fail(rule(17), path,
                     "Dtype mismatch in pipeline connection: " + to_string(source_ref) + " is " +
                         std::string(name_of(source.dtype)) + ", " + to_string(target_ref) +
                         " expects " + std::string(name_of(target.dtype)));
    }
  }

  void follow_graph_inputs() {
    for (const NodePorts& node : bundle_.pipeline.inputs) {
      for (std::size_t i = 0; i < node.ports.size(); ++i) {
        const FieldPath path = {"pipeline", "inputs", node.node, i};
        const PortRef ref{node.node, node.ports[i]};
        feed(find(inputs_, ref, "input", path), ref, kCaller, path);
      }
    }
  }

  void follow_graph_outputs() {
    for (const NodePorts& node : bundle_.pipeline.outputs) {
      for (std::size_t i = 0; i < node.ports.size(); ++i) {
        const FieldPath path = {"pipeline", "outputs", node.node, i};
        find(outputs_, {node.node, node.ports[i]}, "output", path).routed = true;
      }
    }
  }

  /// Checks the schedule, and finds the inputs that it feeds: B35 to B39.
  void follow_schedule() {
    const std::vector<Timing> timings = resolve_schedule(bundle_, reporter_);
    for (std::size_t node = 0; node < timings.size(); ++node) {
      const Model& model = bundle_.models[node];
      const auto feed_input = [&](std::size_t input, const char* key) {
        const PortRef ref{model.name, model.inputs[input].name};
        feed(inputs_[key_of(ref)], ref, "the schedule",
             {"pipeline", "schedule", model.name, std::string(key)});
      };
      if (timings[node].index) feed_input(*timings[node].index, "index");
      for (const Timing::Age& age : timings[node].ages) feed_input(age.input, "age");
      check_condition(model, timings[node]);
    }
  }

  /// Checks that a condition is not the copy of an output of this tick, which has a name itself:
  /// B37.
  void check_condition(const Model& model, const Timing& timing) {
    if (!timing.when || timing.when->is_output) return;
    const PortRef ref = input_ref(bundle_, timing.when->port);
    const PortState& state = inputs_[key_of(ref)];
    if (!state.forward) return;
    reporter_.fail(rule(37), {"pipeline", "schedule", model.name, "when"},
                   "the input " + quote_for_message(to_string(ref)) +
                       " is fed by a wire of this tick; name that output: " + state.source);
  }

  void check_every_port_is_used() {
    for (const Model& model : bundle_.models) {
      for (std::size_t i = 0; i < model.inputs.size(); ++i) {
        const std::string& name = model.inputs[i].name;
        if (inputs_[{model.name, name}].source.empty()) {  // B16
          reporter_.fail(rule(16), {"models", model.name, "inputs", i, "name"},
                         "the input " + quote_for_message(model.name + "/" + name) +
                             " has no source: neither a wire, the pipeline's inputs nor the "
                             "schedule name it");
        }
      }
      for (std::size_t i = 0; i < model.outputs.size(); ++i) {
        const std::string& name = model.outputs[i].name;
        if (!outputs_[{model.name, name}].routed) {  // B19
          reporter_.fail(rule(19), {"models", model.name, "outputs", i, "name"},
                         "node " + quote_for_message(model.name) +
                             " has unroutable outputs: " + quote_for_message(name) +
                             " is not used: no wire and no pipeline output names it");
        }
      }
    }
  }

  /// Checks that only the runtime or the caller feeds noise ports, and that no schedule compares
  /// them: B44.
  void check_noise() {
    for (const PortIndex port : noise_ports(bundle_)) {
      const PortRef ref = input_ref(bundle_, port);
      const auto fail = [&](const std::string& fault) {
        reporter_.fail(rule(44), {"models", ref.node, "inputs", port.port, "noise"},
                       "the noise port " + quote_for_message(to_string(ref)) + fault);
      };
      if (const std::string& source = inputs_[key_of(ref)].source; source != kCaller) {
        fail(" must be listed in pipeline.inputs, but its source is " + source);
      }
      const NodeSchedule* const schedule =
          find_in(bundle_.pipeline.schedule, ref.node, &NodeSchedule::node);
      if (schedule != nullptr && find_in(schedule->on_change, ref.port) != nullptr) {
        fail(" must not be in on_change, because it changes in every run");
      }
    }
  }

  /// Checks the size of all tensors that live at the same time: B9. A forward input uses its
  /// producer's memory.
  void check_memory() {
    std::uint64_t total = 0;
    const auto add = [&](const Model& model, const char* side, std::size_t index,
                         const Port& port) {
      if (__builtin_add_overflow(total, byte_count(port), &total) ||
          total > options_.max_tensor_bytes) {
        reporter_.fail(rule(9), {"models", model.name, side, index, "shape"},
                       "with this port of shape " + to_string(port.shape) +
                           " the tensors of one tick exceed the limit of " +
                           std::to_string(options_.max_tensor_bytes) +
                           " bytes; raise max_tensor_bytes (of InferenceManager; "
                           "--max-tensor-bytes of the command) if you trust this bundle");
      }
    };
    for (const Model& model : bundle_.models) {
      for (std::size_t i = 0; i < model.inputs.size(); ++i) {
        const Port& port = model.inputs[i];
        if (!inputs_[{model.name, port.name}].forward) add(model, "inputs", i, port);
      }
      for (std::size_t i = 0; i < model.outputs.size(); ++i) {
        add(model, "outputs", i, model.outputs[i]);
      }
    }
  }

  const Bundle& bundle_;
  const BundleOptions& options_;
  const RuleReporter& reporter_;
  PortTable inputs_;
  PortTable outputs_;
};

}  // namespace

void check_pipeline(const Bundle& bundle, const BundleOptions& options,
                    const RuleReporter& reporter) {
  PipelineChecker(bundle, options, reporter).check();
  const Wiring wiring(bundle, reporter);  // B18
  resolve_merged(bundle, wiring, reporter);
}

void check(const Bundle& bundle, const BundleOptions& options) {
  const RuleReporter reporter([](const FieldPath&) { return std::string(); });
  check_models(bundle, options, MeaningPolicy::kFail, reporter);
  check_pipeline(bundle, options, reporter);
}

}  // namespace leapp
