#include "runtime/golden_replay.h"

#include <algorithm>

#include "base/check.h"
#include "bundle/golden_traces.h"
#include "runtime/engines/node_executor.h"
#include "runtime/session.h"

namespace leapp {
namespace {

class GoldenReplay {
 public:
  GoldenReplay(const LoadedBundle& loaded, const RuntimeOptions& options)
      : loaded_(loaded),
        bundle_(loaded.bundle),
        files_(bundle_, bundle_.file.parent_path(), options.bundle),
        traces_(bundle_, files_.at(bundle_.pipeline.golden->path), options.bundle) {
    // Deadlines, ages and statistics apply only to the robot's own ticks.
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
      result_.left_out.emplace_back("the pipeline", "one of its nodes is not compared");
    }
    list_outputs_without_values();
    return std::move(result_);
  }

  // Replays the pipeline only, for its merged steps.
  std::string find_unrepeated_step() &&;

 private:
  void run_nodes();
  void fill(NodeExecutor& nodes, std::size_t node, std::size_t tick, bool forward);
  void run_node(NodeExecutor& nodes, std::size_t node, std::size_t tick);
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

void GoldenReplay::run_nodes() {
  NodeExecutor nodes(bundle_);
  set_initial_values(nodes, loaded_);
  for (const std::size_t node : nodes.wiring().order()) {
    nodes.load(node, load_node(bundle_, bundle_.models[node], files_, options_));
  }
  for (std::size_t tick = 0; tick < traces_.ticks(); ++tick) {
    nodes.begin_tick();
    for (const std::size_t node : nodes.wiring().order()) fill(nodes, node, tick, false);
    for (const std::size_t node : nodes.wiring().order()) run_node(nodes, node, tick);
  }
}

// Fills the inputs that forward wires feed, or the others: with the values of the tick or, if
// tracing did not see them, the values of the wires: B33.
void GoldenReplay::fill(NodeExecutor& nodes, std::size_t node, std::size_t tick, bool forward) {
  const Model& model = bundle_.models[node];
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    const std::optional<Wiring::Source>& source = nodes.wiring().source_of({node, i});
    if ((source && !source->last_tick) != forward || nodes.is_fed_by_schedule({node, i})) continue;
    const ConstTensorView* stored = traces_.input(tick, {model.name, model.inputs[i].name});
    const Tensor* carried = stored == nullptr ? nodes.carried({node, i}) : nullptr;
    demand(stored != nullptr || carried != nullptr, "a golden tick lacks an external input");
    if (golden_runs(bundle_, {model.name, model.inputs[i].name}) > 1) {
      nodes.set_runs({node, i}, *stored);
    } else {
      nodes.set_input({node, i}, stored != nullptr ? *stored : carried->view());
    }
  }
}

void GoldenReplay::run_node(NodeExecutor& nodes, std::size_t node, std::size_t tick) {
  const Model& model = bundle_.models[node];
  fill(nodes, node, tick, true);
  if (!nodes.is_due(node)) return;
  nodes.run(node).value();
  for (std::size_t i = 0; i < model.outputs.size(); ++i) {
    check(tick, {model.name, model.outputs[i].name}, false, nodes.result({node, i}).view());
  }
  nodes.commit(node);
}

void GoldenReplay::run_pipeline() {
  const Plan& plan = loaded_.plan;
  Session session(plan, loaded_.engines, options_, std::string());
  for (const auto& [name, initial] : loaded_.initial_values) {
    session.store(session.now(plan.inputs.at(name)), initial.data()).value();
  }
  session.restart(loaded_.held_values).value();
  for (std::size_t tick = 0; tick < traces_.ticks(); ++tick) {
    const std::size_t required = plan.external_inputs.size() - plan.noise.size();
    for (std::size_t i = 0; i < plan.external_inputs.size(); ++i) {
      const PortRef port = *parse_port_ref(plan.external_inputs[i]);
      const ConstTensorView& stored = *traces_.input(tick, port);
      if (golden_runs(bundle_, port) > 1) {
        session.set_noise_runs(i - required, stored.data);
      } else {
        session.set_input(i, stored).value();
      }
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

// Outputs of the pipeline without a value in any tick; otherwise nothing would show that they were
// not compared.
void GoldenReplay::list_outputs_without_values() {
  for (const std::string& name : loaded_.plan.external_outputs) {
    const PortRef port = *parse_port_ref(name);
    if (!traces_.not_compared(port.node).empty()) continue;
    bool found = false;
    for (std::size_t tick = 0; tick < traces_.ticks(); ++tick) {
      found = found || traces_.output(tick, port) != nullptr;
    }
    if (!found) result_.left_out.emplace_back(name, "the golden traces contain no value for it");
  }
}

std::string GoldenReplay::find_unrepeated_step() && {
  for (const auto& [node, why] : result_.left_out) return "'" + node + "' is not compared: " + why;
  run_pipeline();
  for (const PortVerification& check : result_.checks) {
    if (!check.comparison.passed()) {
      return check.port + " differs in tick " + std::to_string(check.tick);
    }
  }
  for (const PlannedStep& step : loaded_.plan.steps) {
    if (step.models.size() < 2) continue;
    const auto is_compared = [&](const Port& output) {
      return std::ranges::any_of(result_.checks, [&](const PortVerification& check) {
        return check.port == output.name && check.comparison.elements > 0;
      });
    };
    for (const Port& output : step.model.outputs) {
      if (!is_compared(output)) return "they contain no value of " + output.name;
    }
  }
  return {};
}

}  // namespace

std::string find_unrepeated_step(const LoadedBundle& loaded, const RuntimeOptions& options) {
  return GoldenReplay(loaded, options).find_unrepeated_step();
}

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
