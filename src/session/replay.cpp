#include "session/replay.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "base/check.h"
#include "interop/convert.h"
#include "leapp/engine.h"
#include "session/session.h"

namespace leapp::session {
namespace {

// The tensor that a sample has under the name it was annotated with.
at::Tensor lookup(const std::vector<NodePort>& ports, const std::vector<at::Tensor>& values,
                  const std::map<std::string, at::Tensor>& states, const std::string& name) {
  for (std::size_t i = 0; i < ports.size() && i < values.size(); ++i) {
    if (ports[i].name == name) return values[i];
  }
  const auto it = states.find(name);
  return it == states.end() ? at::Tensor() : it->second;
}

std::string annotated_name(const std::vector<Port>& ports, const std::vector<std::string>& names,
                           const std::string& port) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == port) return names[i];
  }
  return port;
}

at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.to(at::kCPU).contiguous();
}

void run_sample(const CompiledNode& node, Engine& engine, std::size_t index,
                NodeValidation& report) {
  const Sample& sample = node.node->samples[index];
  std::vector<at::Tensor> keep;
  std::vector<ConstTensorView> inputs;
  for (const Port& port : node.model.inputs) {
    const at::Tensor value = sample_input(node, sample, port.name);
    require(value.defined(), ErrorKind::kInternal, "no traced value for input '" + port.name + "'");
    keep.push_back(on_host(value));
    inputs.push_back(interop::view_of(keep.back()));
  }
  std::vector<TensorView> outputs;
  std::vector<ConstTensorView> exported;
  std::vector<ConstTensorView> traced;
  for (std::size_t i = 0; i < node.model.outputs.size(); ++i) {
    const Port& port = node.model.outputs[i];
    keep.push_back(at::empty(port.shape, interop::to_scalar_type(port.dtype)));
    outputs.push_back({keep.back().data_ptr(), port.dtype, port.shape});
    exported.emplace_back(outputs.back());
    const at::Tensor value =
        lookup(node.node->outputs, sample.outputs, sample.states_after, node.output_names[i]);
    require(value.defined(), ErrorKind::kInternal,
            "no traced value for output '" + port.name + "'");
    keep.push_back(on_host(value));
    traced.push_back(interop::view_of(keep.back()));
  }
  engine.bind(inputs, outputs)->run().value();
  report.add_sample(index, traced, exported);
}

}  // namespace

at::Tensor sample_input(const CompiledNode& node, const Sample& sample, const std::string& port) {
  const std::string name = annotated_name(node.model.inputs, node.input_names, port);
  const at::Tensor declared = lookup(node.node->inputs, sample.inputs, sample.states_before, name);
  if (declared.defined()) return declared;
  // States that were never updated follow the declared inputs in a sample, in their own order.
  std::size_t at = node.node->inputs.size();
  for (const NodePort& state : node.node->states) {
    if (sample.states_before.count(state.name) > 0) continue;
    if (state.name == name && at < sample.inputs.size()) return sample.inputs[at];
    ++at;
  }
  return {};
}

std::vector<NodeOutcome> validate_nodes(const std::vector<CompiledNode>& nodes,
                                        const std::filesystem::path& folder,
                                        const std::filesystem::path& log_path,
                                        Tolerance tolerance) {
  std::vector<NodeOutcome> outcomes;
  Session& session = Session::instance();
  for (const CompiledNode& node : nodes) {
    if (!node.model.file) {
      session.say(LogLevel::kInfo, "node '" + node.model.name + "' has no model to validate");
      outcomes.push_back({node.model.name, true, ""});
      continue;
    }
    if (node.node->random) {
      session.say(LogLevel::kWarning, "node '" + node.model.name +
                                          "' draws random numbers: its outputs cannot be compared, "
                                          "so it is not validated");
      outcomes.push_back({node.model.name, true, ""});
      continue;
    }
    if (node.model.backend == "pt2") {
      session.say(LogLevel::kWarning, "node '" + node.model.name +
                                          "' is an exported program, which only Python runs: it is "
                                          "not validated here");
      outcomes.push_back({node.model.name, true, ""});
      continue;
    }
    NodeValidation report(node.model.name, node.output_names, tolerance, log_path.string());
    std::unique_ptr<Engine> engine;
    for (std::size_t i = 0; i < node.node->samples.size(); ++i) {
      try {
        if (!engine) engine = load_engine(node.model, folder / node.model.file->path);
        run_sample(node, *engine, i, report);
      } catch (const std::exception& error) {
        report.add_error(i, error.what());
      }
    }
    outcomes.push_back(report.finish());
  }
  log_validation_summary(outcomes);
  return outcomes;
}

}  // namespace leapp::session
