#include "rehearse/golden_ticks.h"

#include <ATen/ops/stack.h>

#include <algorithm>
#include <cstdint>

#include "base/find.h"
#include "bundle/golden_traces.h"
#include "bundle/verified_files.h"
#include "bundle/wiring.h"
#include "interop/convert.h"
#include "rehearse/model_run.h"

namespace leapp::rehearse {
namespace {

using Turn = state::Ticks::Turn;

// The ticks of the trace, with or without a schedule.
class TracedTicks {
 public:
  explicit TracedTicks(const state::Ticks& ticks) : ticks_(ticks) {}

  // Returns the last turn of the node in this tick or earlier; nullopt if it has not run.
  std::optional<Turn> latest(const ExportedNode& node, int tick) const {
    if (tick < 0) return std::nullopt;
    if (ticks_.empty()) return Turn{tick, tick, tick};
    const Turn* const turn = ticks_.latest(node.node().id, tick);
    return turn == nullptr ? std::nullopt : std::optional(*turn);
  }
  // Returns whether every value of this tick was kept.
  bool is_kept(const ExportedNode& node, int tick) const {
    const std::optional<Turn> turn = latest(node, tick);
    return !turn || static_cast<std::size_t>(turn->last) < node.node().passes.size();
  }
  std::size_t count() const {
    return ticks_.empty() ? SIZE_MAX : static_cast<std::size_t>(ticks_.count());
  }

 private:
  const state::Ticks& ticks_;
};

at::Tensor input_in(const ExportedNode& node, const Turn& turn, const std::string& name) {
  return node.input_value(static_cast<std::size_t>(turn.first), name);
}
at::Tensor output_in(const ExportedNode& node, const Turn& turn, const std::string& name) {
  return node.output_value(static_cast<std::size_t>(turn.last), name);
}

// Returns whether every wire carries the value that its reader received in this tick, as far as it
// is known.
bool repeats(const std::vector<ExportedNode>& nodes, const Bundle& bundle, const Wiring& wiring,
             int tick, const Tolerance& tolerance, const TracedTicks& traced) {
  for (const Wiring::Connection& wire : wiring.connections()) {
    const PortRef source = output_ref(bundle, wire.source);
    const PortRef target = input_ref(bundle, wire.target);
    const ExportedNode& from = *find_node(nodes, source.node);
    const ExportedNode& to = *find_node(nodes, target.node);
    const std::optional<Turn> turn = traced.latest(to, tick);
    const std::optional<Turn> sender = traced.latest(from, wire.last_tick ? tick - 1 : tick);
    if (!turn || turn->tick != tick || !sender) continue;  // not run, or the initial value
    const at::Tensor sent = on_host(output_in(from, *sender, from.output_name(source.port)));
    const at::Tensor taken = on_host(input_in(to, *turn, to.input_name(target.port)));
    if (taken.defined() && !(sent.defined() && agree(taken, sent, tolerance))) return false;
  }
  return true;
}

constexpr const char* kNoMore =
    "no further passes of every node are in memory. Run more passes, or raise max_cached_io of "
    "leapp.start()";

// The number of ticks that can be kept, and the reason for the limit.
struct Extent {
  std::size_t ticks = 0;
  std::string end;
};

Extent extent_of(const std::vector<ExportedNode>& nodes, const Bundle& bundle, std::size_t wanted,
                 const Tolerance& tolerance, const TracedTicks& traced) {
  for (const ExportedNode& node : nodes) {
    if (!node.model.file) {
      return {0, "node '" + node.model.name + "' has no model, so the bundle cannot run"};
    }
  }
  const Wiring wiring(bundle);
  const std::size_t most = std::min(wanted, traced.count());
  for (std::size_t i = 0; i < most; ++i) {
    const int tick = static_cast<int>(i);
    const auto is_kept = [&](const ExportedNode& node) { return traced.is_kept(node, tick); };
    if (!std::ranges::all_of(nodes, is_kept)) return {i, kNoMore};
    if (repeats(nodes, bundle, wiring, tick, tolerance, traced)) continue;
    return {i, "in tick " + std::to_string(i + 1) +
                   " a node received a different value than its wire carries, for example because "
                   "the program reset its state. Trace a run without a reset"};
  }
  return {most, kNoMore};
}

// Returns whether a caller supplies the input.
bool is_external(const Bundle& bundle, const Model& model, const Port& input) {
  const NodePorts* ports = find_in(bundle.pipeline.inputs, model.name, &NodePorts::node);
  return ports != nullptr && std::ranges::count(ports->ports, input.name) > 0;
}

// Returns whether the schedule itself supplies the input.
bool is_fed_by_schedule(const Bundle& bundle, const Model& model, const Port& input) {
  const NodeSchedule* entry = find_in(bundle.pipeline.schedule, model.name, &NodeSchedule::node);
  return entry != nullptr && (entry->index == input.name || entry->ages.contains(input.name));
}

// Returns the noise of all runs of a turn.
at::Tensor noise_in(const ExportedNode& node, const Turn& turn, const std::string& name,
                    std::int64_t runs) {
  Tensors values;
  for (std::int64_t run = 0; run < runs; ++run) {
    const std::size_t pass = static_cast<std::size_t>(turn.first + run);
    values.push_back(node.input_value(std::min(pass, node.node().passes.size() - 1), name));
  }
  return at::stack(values);
}

void write_ticks(const std::vector<ExportedNode>& nodes, const Bundle& bundle, std::size_t ticks,
                 const Tolerance& tolerance, const TracedTicks& traced,
                 const std::filesystem::path& file) {
  Tensors held;
  std::vector<NamedTensorView> tensors;
  const auto keep = [&](std::size_t tick, bool input, const PortRef& port,
                        const at::Tensor& value) {
    if (!value.defined()) return;
    held.push_back(on_host(value));
    tensors.push_back({golden_name(tick, input, port), interop::view_of(held.back())});
  };
  GoldenNotes notes{ticks, tolerance, {}, {}};
  for (const ExportedNode& node : nodes) {
    const Model& model = node.model;
    if (node.random) notes.not_compared[model.name] = "it draws random numbers";
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      const Tolerance own = tolerance_for(node.output_precisions, i, tolerance);
      if (own != tolerance) notes.outputs[model.name + "/" + model.outputs[i].name] = own;
    }
    for (std::size_t tick = 0; tick < ticks; ++tick) {
      // A node that does not run keeps its outputs; its caller may supply anything.
      const std::optional<Turn> turn = traced.latest(node, static_cast<int>(tick));
      const bool runs = turn && static_cast<std::size_t>(turn->tick) == tick;
      for (std::size_t i = 0; i < model.inputs.size(); ++i) {
        const Port& port = model.inputs[i];
        if (!runs && !is_external(bundle, model, port)) continue;
        if (is_fed_by_schedule(bundle, model, port)) continue;
        const PortRef ref{model.name, port.name};
        const std::string& name = node.input_names[i];
        const std::int64_t draws = golden_runs(bundle, ref);
        keep(tick, true, ref,
             draws > 1 ? noise_in(node, turn.value_or(Turn{}), name, draws)
                       : input_in(node, turn.value_or(Turn{}), name));
      }
      for (std::size_t i = 0; turn && i < model.outputs.size(); ++i) {
        keep(tick, false, {model.name, model.outputs[i].name},
             output_in(node, *turn, node.output_names[i]));
      }
    }
  }
  write_safetensors(file, tensors, notes.metadata());
}

}  // namespace

std::optional<Diagnostic> write_golden(const std::vector<ExportedNode>& nodes, std::size_t wanted,
                                       const Tolerance& tolerance,
                                       const std::filesystem::path& file, Bundle& bundle,
                                       const state::Ticks& ticks) {
  const TracedTicks traced(ticks);
  const Extent extent = extent_of(nodes, bundle, wanted, tolerance, traced);
  if (extent.ticks > 0) {
    write_ticks(nodes, bundle, extent.ticks, tolerance, traced, file);
    bundle.pipeline.golden = entry_of(file);
  }
  if (extent.ticks == wanted) return std::nullopt;
  return Diagnostic{.code = Code::kFewerGolden,
                    .level = LogLevel::kWarning,
                    .text = "compile_graph(golden=" + std::to_string(wanted) + "): " +
                            std::to_string(extent.ticks) + " tick(s) are kept: " + extent.end};
}

}  // namespace leapp::rehearse
