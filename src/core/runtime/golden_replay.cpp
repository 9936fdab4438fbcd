#include "runtime/golden_replay.h"

#include <cstring>

#include "base/check.h"
#include "bundle/golden_traces.h"
#include "runtime/session.h"

namespace leapp {
namespace {

// One node by itself, with buffers of its own.
struct LoneNode {
  const Model* model = nullptr;
  std::unique_ptr<Engine> engine;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::unique_ptr<Binding> binding;
};

class GoldenReplay {
 public:
  GoldenReplay(const LoadedBundle& loaded, const RuntimeOptions& options)
      : loaded_(loaded),
        bundle_(loaded.bundle),
        files_(bundle_, bundle_.file.parent_path(), options.bundle),
        traces_(bundle_, files_.at(bundle_.pipeline.golden->path), options.bundle) {
    // Deadlines, ages and figures are about the robot's own ticks.
    options_.engine = options.engine;
    options_.nodes = options.nodes;
    options_.bundle = options.bundle;
    options_.engines = options.engines;
    result_.ticks = traces_.ticks();
    for (const Model& model : bundle_.models) {
      const std::string why = traces_.not_compared(model.name);
      if (!why.empty()) result_.left_out.emplace_back(model.name, why);
    }
  }

  Verification run() && {
    run_nodes();
    if (result_.left_out.empty()) {
      run_pipeline();
    } else {
      result_.left_out.emplace_back("the pipeline", "a node of it is not compared");
    }
    list_outputs_without_values();
    return std::move(result_);
  }

 private:
  LoneNode make_node(const Model& model) const;
  void run_nodes();
  ConstTensorView input_of(std::size_t tick, const PortRef& input, const TensorMap& now,
                           const TensorMap& before) const;
  void run_pipeline();
  void check(std::size_t tick, const PortRef& port, bool wired, const ConstTensorView& computed);
  void list_outputs_without_values();

  const LoadedBundle& loaded_;
  const Bundle& bundle_;
  VerifiedFiles files_;
  GoldenTraces traces_;
  RuntimeOptions options_;
  Verification result_;
};

LoneNode GoldenReplay::make_node(const Model& model) const {
  LoneNode node;
  node.model = &model;
  node.engine = load_node(bundle_, model, files_, options_);
  std::vector<ConstTensorView> inputs;
  std::vector<TensorView> outputs;
  node.inputs.reserve(model.inputs.size());
  node.outputs.reserve(model.outputs.size());
  for (const Port& port : model.inputs) {
    inputs.emplace_back(node.inputs.emplace_back(port.dtype, port.shape).view());
  }
  for (const Port& port : model.outputs) {
    outputs.push_back(node.outputs.emplace_back(port.dtype, port.shape).view());
  }
  node.binding = node.engine->bind(inputs, outputs);
  return node;
}

// Returns the value of the tick or, if tracing did not see it, the value of its wire: B33.
ConstTensorView GoldenReplay::input_of(std::size_t tick, const PortRef& input, const TensorMap& now,
                                       const TensorMap& before) const {
  if (const ConstTensorView* stored = traces_.input(tick, input)) return *stored;
  const auto source_in = [&](const std::vector<Wire>& wires) -> const PortRef* {
    for (const Wire& wire : wires) {
      for (const PortRef& target : wire.targets) {
        if (target == input) return &wire.source;
      }
    }
    return nullptr;
  };
  if (const PortRef* source = source_in(bundle_.pipeline.data_flow)) {
    return now.at(to_string(*source)).view();
  }
  if (tick == 0) return loaded_.initial_values.at(to_string(input)).view();
  return before.at(to_string(*source_in(bundle_.pipeline.feedback_flow))).view();
}

void GoldenReplay::run_nodes() {
  std::vector<LoneNode> nodes;
  for (const std::size_t i : execution_order(bundle_))
    nodes.push_back(make_node(bundle_.models[i]));
  TensorMap before;
  for (std::size_t tick = 0; tick < traces_.ticks(); ++tick) {
    TensorMap now;
    for (LoneNode& node : nodes) {
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const PortRef ref{node.model->name, node.model->inputs[i].name};
        const ConstTensorView value = input_of(tick, ref, now, before);
        if (node.inputs[i].byte_size() > 0) {
          std::memcpy(node.inputs[i].data(), value.data, node.inputs[i].byte_size());
        }
      }
      node.binding->run().value();
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const PortRef ref{node.model->name, node.model->outputs[i].name};
        check(tick, ref, false, node.outputs[i].view());
        now.emplace(to_string(ref), node.outputs[i]);
      }
    }
    before = std::move(now);
  }
}

void GoldenReplay::run_pipeline() {
  const Plan& plan = loaded_.plan;
  Session session(plan, loaded_.engines, options_, std::string());
  for (const auto& [name, initial] : loaded_.initial_values) {
    session.store(session.now(plan.inputs.at(name)), initial.data()).value();
  }
  for (std::size_t tick = 0; tick < traces_.ticks(); ++tick) {
    for (std::size_t i = 0; i < plan.external_inputs.size(); ++i) {
      session.set_input(i, *traces_.input(tick, *parse_port_ref(plan.external_inputs[i]))).value();
    }
    session.tick().value();
    for (const Model& model : bundle_.models) {
      for (const Port& port : model.outputs) {
        const PortRef ref{model.name, port.name};
        const auto access = plan.outputs.find(to_string(ref));  // merged nodes keep inner ones
        if (access == plan.outputs.end()) continue;
        check(tick, ref, true, session.read(session.now(access->second)).view());
      }
    }
  }
}

void GoldenReplay::check(std::size_t tick, const PortRef& port, bool wired,
                         const ConstTensorView& computed) {
  const ConstTensorView* stored = traces_.output(tick, port);
  if (stored == nullptr || !traces_.not_compared(port.node).empty()) return;
  result_.checks.push_back(
      {to_string(port), tick, wired, compare_in_full(*stored, computed, traces_.tolerance(port))});
}

// Outputs of the pipeline that no tick has a value of: nothing else would show that these were not
// compared.
void GoldenReplay::list_outputs_without_values() {
  for (const std::string& name : loaded_.plan.external_outputs) {
    const PortRef port = *parse_port_ref(name);
    if (!traces_.not_compared(port.node).empty()) continue;
    bool found = false;
    for (std::size_t tick = 0; tick < traces_.ticks(); ++tick) {
      found = found || traces_.output(tick, port) != nullptr;
    }
    if (!found) result_.left_out.emplace_back(name, "the golden traces hold no value of it");
  }
}

}  // namespace

Verification verify_golden(const LoadedBundle& loaded, const RuntimeOptions& options) {
  const std::string& file = loaded.bundle.file.string();
  require(loaded.bundle.pipeline.golden.has_value(), Code::kNoGolden,
          file +
              ": the bundle has no golden traces to verify; export it with "
              "compile_graph(golden=3), for example");
  require(loaded.cannot_run.empty(), Code::kNoModel, loaded.cannot_run);
  return GoldenReplay(loaded, options).run();
}

}  // namespace leapp
