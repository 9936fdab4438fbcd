// One call from a function to a validated bundle.
#include <ATen/core/grad_mode.h>

#include <span>

#include "base/check.h"
#include "compile/varied_example.h"
#include "leapp/leapp.h"

namespace leapp {
namespace {

void check(const TensorFunction& function, const ExportOptions& options) {
  require(!is_active(), Code::kStillTracing,
          "leapp::export_function() starts its own session. Call leapp::stop() first.");
  require(function != nullptr, Code::kWrongValue, "leapp::export_function() needs a function");
  require(options.passes > 0, Code::kWrongValue,
          "ExportOptions::passes must be positive, found " + std::to_string(options.passes));
}

NamedTensors example_of_pass(const NamedTensors& example, int pass) {
  NamedTensors varied = example;
  for (std::size_t i = 0; i < varied.size(); ++i) {
    require(varied[i].ref.defined(), Code::kPayload,
            "example input '" + varied[i].name + "' has no tensor");
    varied[i].ref = compile::varied_example(varied[i].ref, pass, static_cast<std::int64_t>(i));
  }
  return varied;
}

NamedTensors with_values(NamedTensors named, std::span<const at::Tensor> values) {
  for (std::size_t i = 0; i < named.size(); ++i) named[i].ref = values[i];
  return named;
}

NamedTensors outputs_of(std::span<const at::Tensor> values, const ExportOptions& options) {
  const std::vector<std::string>& names = options.output_names;
  require(names.empty() || names.size() == values.size(), Code::kWrongValue,
          "ExportOptions::output_names has " + std::to_string(names.size()) +
              " names, and the function returned " + std::to_string(values.size()) +
              " outputs in addition to its states");
  NamedTensors outputs;
  for (std::size_t i = 0; i < values.size(); ++i) {
    outputs.push_back({names.empty() ? "output" + std::to_string(i + 1) : names[i], values[i]});
  }
  return outputs;
}

// Runs one pass; returns the states for the next one.
NamedTensors run_pass(const TensorFunction& function, const std::string& node,
                      const NamedTensors& inputs, const NamedTensors& states,
                      const ExportOptions& options, const std::source_location& where) {
  std::vector<at::Tensor> arguments = annotate::input_tensors(node, inputs, where);
  if (!states.empty()) {
    const std::vector<at::Tensor> held = annotate::state_tensors(node, states, where);
    arguments.insert(arguments.end(), held.begin(), held.end());
  }
  const std::vector<at::Tensor> results = function(arguments);
  require(results.size() > states.size(), Code::kWrongValue,
          "leapp::export_function(): the function returned " + std::to_string(results.size()) +
              " tensors, expected its outputs and the next values of " +
              std::to_string(states.size()) + " states");
  const std::span<const at::Tensor> all = results;
  const std::size_t count = results.size() - states.size();
  const NamedTensors next = with_values(states, all.subspan(count));
  if (!next.empty()) annotate::update_state(node, next, where);
  annotate::output_tensors(
      node, outputs_of(all.first(count), options),
      {.export_with = options.export_with, .backend_params = options.backend_params}, where);
  return next;
}

}  // namespace

std::filesystem::path export_function(const TensorFunction& function,
                                      const NamedTensors& example_inputs,
                                      const std::filesystem::path& path,
                                      const ExportOptions& options, std::source_location where) {
  check(function, options);
  const at::NoGradGuard no_grad;
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::absolute(path / "", failure).parent_path();
  require(!failure, Code::kIo, "leapp::export_function(): " + failure.message());
  const std::string node = folder.filename().string();
  std::vector<NamedTensors>
      passes;  // created before tracing, so that the recorder does not see the noise
  for (int i = 0; i < options.passes; ++i) passes.push_back(example_of_pass(example_inputs, i));
  Trace trace({.name = folder.string(), .max_cached_io = options.passes, .noise = options.noise});
  NamedTensors states = options.states;
  for (const NamedTensors& inputs : passes) {
    states = run_pass(function, node, inputs, states, options, where);
  }
  trace.stop();
  compile_graph(options.compile);
  return folder / (node + ".yaml");
}

}  // namespace leapp
