#include "rehearse/golden_ticks.h"

#include <algorithm>

#include "bundle/golden_traces.h"
#include "bundle/verified_files.h"
#include "bundle/wiring.h"
#include "interop/convert.h"
#include "rehearse/model_run.h"

namespace leapp::rehearse {
namespace {

// Returns whether every wire carries the value that this pass received, as far as it is known.
bool repeats(const std::vector<ExportedNode>& nodes, const Bundle& bundle, const Wiring& wiring,
             std::size_t pass, const Tolerance& tolerance) {
  for (const Wiring::Connection& wire : wiring.connections()) {
    if (wire.last_tick && pass == 0) continue;
    const PortRef source = output_ref(bundle, wire.source);
    const PortRef target = input_ref(bundle, wire.target);
    const ExportedNode& from = *find_node(nodes, source.node);
    const ExportedNode& to = *find_node(nodes, target.node);
    const std::size_t sent_in = wire.last_tick ? pass - 1 : pass;
    const at::Tensor sent = on_host(from.output_value(sent_in, from.output_name(source.port)));
    const at::Tensor taken = on_host(to.input_value(pass, to.input_name(target.port)));
    if (taken.defined() && !(sent.defined() && agree(taken, sent, tolerance))) return false;
  }
  return true;
}

// The number of ticks that can be kept, and the reason for the limit.
struct Extent {
  std::size_t ticks = 0;
  std::string end;
};

Extent extent_of(const std::vector<ExportedNode>& nodes, const Bundle& bundle, std::size_t wanted,
                 const Tolerance& tolerance) {
  std::size_t passes = wanted;
  for (const ExportedNode& node : nodes) {
    if (!node.model.file) {
      return {0, "node '" + node.model.name + "' has no model, so the bundle cannot run"};
    }
    passes = std::min(passes, node.node().passes.size());
  }
  const Wiring wiring(bundle);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    if (repeats(nodes, bundle, wiring, pass, tolerance)) continue;
    return {pass, "in pass " + std::to_string(pass + 1) +
                      " a node received a different value than its wire carries, for example "
                      "because the program reset its state. Trace a run without a reset"};
  }
  return {passes,
          "no further passes of every node are in memory. Run more passes, or raise max_cached_io "
          "of leapp.start()"};
}

void write_ticks(const std::vector<ExportedNode>& nodes, std::size_t ticks,
                 const Tolerance& tolerance, const std::filesystem::path& file) {
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
      for (std::size_t i = 0; i < model.inputs.size(); ++i) {
        keep(tick, true, {model.name, model.inputs[i].name},
             node.input_value(tick, node.input_names[i]));
      }
      for (std::size_t i = 0; i < model.outputs.size(); ++i) {
        keep(tick, false, {model.name, model.outputs[i].name},
             node.output_value(tick, node.output_names[i]));
      }
    }
  }
  write_safetensors(file, tensors, notes.metadata());
}

}  // namespace

std::optional<Diagnostic> write_golden(const std::vector<ExportedNode>& nodes, std::size_t wanted,
                                       const Tolerance& tolerance,
                                       const std::filesystem::path& file, Bundle& bundle) {
  const Extent extent = extent_of(nodes, bundle, wanted, tolerance);
  if (extent.ticks > 0) {
    write_ticks(nodes, extent.ticks, tolerance, file);
    bundle.pipeline.golden = entry_of(file);
  }
  if (extent.ticks == wanted) return std::nullopt;
  return Diagnostic{.code = Code::kFewerGolden,
                    .level = LogLevel::kWarning,
                    .text = "compile_graph(golden=" + std::to_string(wanted) + "): " +
                            std::to_string(extent.ticks) + " tick(s) are kept: " + extent.end};
}

}  // namespace leapp::rehearse
