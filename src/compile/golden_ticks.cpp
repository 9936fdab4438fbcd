#include "compile/golden_ticks.h"

#include <algorithm>

#include "bundle/golden_traces.h"
#include "compile/model_files.h"
#include "interop/convert.h"

namespace leapp::compile {
namespace {

at::Tensor host_copy(const at::Tensor& tensor) {
  return tensor.to(at::kCPU).contiguous();
}

// Whether every wire brings to this pass what was taken in there, as far as that was seen.
bool repeats(const std::vector<CompiledNode>& nodes, const std::vector<Wire>& wires,
             std::size_t pass, std::size_t ticks_ago, const Tolerance& tolerance) {
  if (pass < ticks_ago) return true;
  for (const Wire& wire : wires) {
    const CompiledNode& from = *find_node(nodes, wire.source.node);
    const at::Tensor sent = from.output_value(pass - ticks_ago, from.output_name(wire.source.port));
    for (const PortRef& target : wire.targets) {
      const CompiledNode& to = *find_node(nodes, target.node);
      const at::Tensor taken = to.input_value(pass, to.input_name(target.port));
      if (!sent.defined() || !taken.defined()) continue;
      const at::Tensor a = host_copy(taken);
      const at::Tensor b = host_copy(sent);
      if (!compare(interop::view_of(a), interop::view_of(b), tolerance).passed()) return false;
    }
  }
  return true;
}

// What can be kept, and what ends it.
struct Extent {
  std::size_t ticks = 0;
  std::string end;
};

Extent extent_of(const std::vector<CompiledNode>& nodes, const Pipeline& pipeline,
                 std::size_t wanted, const Tolerance& tolerance) {
  std::size_t passes = wanted;
  for (const CompiledNode& node : nodes) {
    if (!node.model.file) {
      return {0, "node '" + node.model.name + "' has no model, so the bundle cannot run"};
    }
    passes = std::min(passes, node.node->passes.size());
  }
  for (std::size_t pass = 0; pass < passes; ++pass) {
    if (repeats(nodes, pipeline.data_flow, pass, 0, tolerance) &&
        repeats(nodes, pipeline.feedback_flow, pass, 1, tolerance)) {
      continue;
    }
    return {pass, "in pass " + std::to_string(pass + 1) +
                      " a node took in something else than its wires carry, as when the program "
                      "resets its state: trace a run without that"};
  }
  return {passes,
          "so many passes of every node were kept: run more of them, and see "
          "leapp.start(max_cached_io=..)"};
}

class Keeper {
 public:
  void keep(const std::string& name, const at::Tensor& value) {
    if (!value.defined()) return;
    held_.push_back(host_copy(value));
    tensors.push_back({name, interop::view_of(held_.back())});
  }

  std::vector<NamedTensorView> tensors;

 private:
  std::vector<at::Tensor> held_;
};

}  // namespace

std::optional<Diagnostic> write_golden(const std::vector<CompiledNode>& nodes, std::size_t wanted,
                                       const Tolerance& tolerance,
                                       const std::filesystem::path& file, Bundle& bundle) {
  const Extent extent = extent_of(nodes, bundle.pipeline, wanted, tolerance);
  if (extent.ticks > 0) {
    Keeper keeper;
    GoldenNotes notes{extent.ticks, tolerance, {}, {}};
    for (const CompiledNode& node : nodes) {
      const std::string& name = node.model.name;
      if (node.random) notes.not_compared[name] = "it draws random numbers";
      for (std::size_t i = 0; i < node.output_precisions.size(); ++i) {
        const Tolerance own = tolerance_for(node.output_precisions[i], tolerance);
        if (own != tolerance) notes.outputs[name + "/" + node.model.outputs[i].name] = own;
      }
      for (std::size_t tick = 0; tick < extent.ticks; ++tick) {
        for (std::size_t i = 0; i < node.model.inputs.size(); ++i) {
          keeper.keep(golden_name(tick, true, {name, node.model.inputs[i].name}),
                      node.input_value(tick, node.input_names[i]));
        }
        for (std::size_t i = 0; i < node.model.outputs.size(); ++i) {
          keeper.keep(golden_name(tick, false, {name, node.model.outputs[i].name}),
                      node.output_value(tick, node.output_names[i]));
        }
      }
    }
    write_safetensors(file, keeper.tensors, notes.metadata());
    bundle.pipeline.golden = entry_of(file);
  }
  if (extent.ticks == wanted) return std::nullopt;
  return Diagnostic{.code = Code::kFewerGolden,
                    .level = LogLevel::kWarning,
                    .text = "compile_graph(golden=" + std::to_string(wanted) +
                            "): " + std::to_string(extent.ticks) + " tick(s) are kept. " +
                            (extent.ticks == 0 ? "Nothing can be kept: " : "") + extent.end};
}

}  // namespace leapp::compile
