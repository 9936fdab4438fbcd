#include "compile/replay.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "interop/convert.h"
#include "leapp/engine.h"
#include "session/hooks.h"

namespace leapp::compile {
namespace {

at::Tensor on_host(const at::Tensor& tensor) {
  return tensor.to(at::kCPU).contiguous();
}

std::vector<at::Tensor> inputs_of(const CompiledNode& node, std::size_t pass) {
  std::vector<at::Tensor> inputs;
  for (const std::string& name : node.input_names) {
    inputs.push_back(node.input_value(pass, name));
    require(inputs.back().defined(), Code::kInternal, "no traced value for input '" + name + "'");
  }
  return inputs;
}

std::vector<at::Tensor> outputs_of(const CompiledNode& node, std::size_t pass,
                                   const std::vector<at::Tensor>& exported) {
  std::vector<at::Tensor> outputs;
  for (std::size_t i = 0; i < node.output_names.size(); ++i) {
    const std::string& name = node.output_names[i];
    at::Tensor value = node.output_value(pass, name);
    // What a carried state becomes is seen in the next pass; after the last one nobody looked.
    if (!value.defined() && node.input_value(pass, name).defined()) value = exported[i];
    require(value.defined(), Code::kInternal, "no traced value for output '" + name + "'");
    outputs.push_back(on_host(value));
  }
  return outputs;
}

std::vector<at::Tensor> run_on_host(const CompiledNode& node, Engine& engine,
                                    std::vector<at::Tensor> inputs) {
  std::vector<ConstTensorView> read;
  for (at::Tensor& input : inputs) {
    input = on_host(input);
    read.push_back(interop::view_of(input));
  }
  std::vector<at::Tensor> outputs;
  std::vector<TensorView> written;
  for (const Port& port : node.model.outputs) {
    outputs.push_back(at::empty(port.shape, interop::to_scalar_type(port.dtype)));
    written.push_back({outputs.back().data_ptr(), port.dtype, port.shape});
  }
  engine.bind(read, written)->run().value();
  return outputs;
}

std::vector<ConstTensorView> views_of(const std::vector<at::Tensor>& tensors) {
  std::vector<ConstTensorView> views;
  for (const at::Tensor& tensor : tensors) views.push_back(interop::view_of(tensor));
  return views;
}

// Why the values of a node that has a model cannot be compared; empty when they can.
std::string why_not_compared(const CompiledNode& node) {
  if (node.node->random) {
    return "it draws random numbers, so its outputs differ in every run; that its model runs was "
           "checked, its values were not";
  }
  if (node.model.backend == "pt2" && !session::hooks().replay) {
    return "it is a torch.export program, which only Python can run";
  }
  return {};
}

// Whether the value of a state is not known: the links of a delay are not in the last passes,
// because nobody has read them yet.
bool is_cut_short(const CompiledNode& node, std::size_t pass) {
  return std::any_of(node.states.begin(), node.states.end(), [&](const State& state) {
    return state.origin == State::Origin::kCarried && !state.per_pass[pass].before.defined();
  });
}

// Why the values of a pass cannot be those of the model's inputs; empty when they can. The states
// of a pass that did something else than the first one are others.
std::string why_misfit(const CompiledNode& node, const std::vector<at::Tensor>& inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = node.model.inputs[i];
    const bool fits = inputs[i].sizes() == at::IntArrayRef(port.shape) &&
                      inputs[i].scalar_type() == interop::to_scalar_type(port.dtype);
    if (!fits) {
      return "the pass did something else than the one that was exported, and what it keeps does "
             "not fit that";
    }
  }
  return {};
}

// Runs the node's file on each sample and compares, where there is something to compare with.
NodeOutcome validate(const CompiledNode& node, const std::filesystem::path& file,
                     const std::filesystem::path& log_path, Tolerance tolerance) {
  NodeValidation report(node.model.name, node.output_names, tolerance, log_path.string());
  report.set_precisions(node.output_precisions);
  const std::string not_compared = why_not_compared(node);
  const bool in_front_end = node.model.backend == "pt2";
  if (in_front_end && !session::hooks().replay) return report.finish(not_compared);
  std::unique_ptr<Engine> engine;
  for (std::size_t i = 0; i < node.node->passes.size(); ++i) {
    if (is_cut_short(node, i)) continue;
    try {
      if (!engine && !in_front_end)
        engine = load_engine(node.model, file, {}, Trust::kCode);  // our own, or the user's
      const std::vector<at::Tensor> inputs = inputs_of(node, i);
      if (const std::string misfit = why_misfit(node, inputs); !misfit.empty()) {
        report.add_error(i, misfit);
        continue;
      }
      std::vector<at::Tensor> exported =
          in_front_end ? session::hooks().replay(file, inputs) : run_on_host(node, *engine, inputs);
      for (at::Tensor& output : exported) output = on_host(output);
      if (!not_compared.empty()) {
        report.add_run();
        continue;
      }
      const std::vector<at::Tensor> traced = outputs_of(node, i, exported);
      report.add_sample(i, views_of(traced), views_of(exported));
    } catch (const std::exception& error) {
      report.add_error(i, error.what());
    }
  }
  return report.finish(not_compared);
}

}  // namespace

std::vector<NodeOutcome> validate_nodes(const std::vector<CompiledNode>& nodes,
                                        const std::filesystem::path& folder,
                                        const std::filesystem::path& log_path,
                                        Tolerance tolerance) {
  std::vector<NodeOutcome> outcomes;
  for (const CompiledNode& node : nodes) {
    if (!node.model.file) {
      log(LogLevel::kInfo, "node '" + node.model.name + "' has no model to validate");
      outcomes.push_back({.node = node.model.name});  // treated as successful
      continue;
    }
    outcomes.push_back(validate(node, folder / node.model.file->path, log_path, tolerance));
  }
  log_validation_summary(outcomes);
  return outcomes;
}

}  // namespace leapp::compile
