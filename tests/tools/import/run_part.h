// Runs the node of a part in ONNX Runtime.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../../core/runtime/support.h"
#include "import/node_writer.h"
#include "leapp/tensor.h"
#include "onnx/writer.h"
#include "runtime/engines/onnx/onnx_engine.h"

namespace leapp::testing {

/// Returns the file format and operator set of parts.
inline onnx::Model onnx_17() {
  onnx::Model model;
  model.ir_version = 8;
  model.opsets = {{"", 17}};
  return model;
}

using Values = std::map<std::string, std::vector<float>>;

/// Runs a node once. All its ports are float32; missing inputs are zeros.
inline Values run_part(const importing::Part& part, const Values& given) {
  find_libraries();
  Model node = part.node;
  node.backend = "onnx";
  const std::string bytes = onnx::serialize(part.model);
  const std::unique_ptr<Engine> engine =
      load_onnx_engine(node, {.path = {}, .bytes = std::as_bytes(std::span(bytes))}, {});
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<ConstTensorView> input_views;
  std::vector<TensorView> output_views;
  for (const Port& port : node.inputs) {
    inputs.emplace_back(port.dtype, port.shape);
    if (const auto found = given.find(port.name); found != given.end()) {
      const auto values = inputs.back().values<float>();
      EXPECT_EQ(values.size(), found->second.size()) << port.name;
      std::copy(found->second.begin(), found->second.end(), values.begin());
    }
  }
  for (const Port& port : node.outputs) outputs.emplace_back(port.dtype, port.shape);
  for (Tensor& tensor : inputs) input_views.emplace_back(tensor.view());
  for (Tensor& tensor : outputs) output_views.push_back(tensor.view());
  engine->bind(input_views, output_views)->run().value();
  Values results;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto values = outputs[i].values<float>();
    results[node.outputs[i].name] = {values.begin(), values.end()};
  }
  return results;
}

}  // namespace leapp::testing
