#include "torch_engine/translation.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "leapp/comparison.h"
#include "leapp/trace/onnx_export.h"
#include "runtime/engines/onnx/onnx_engine.h"
#include "torch_engine/torch_dtype.h"
#include "trace/script_graph.h"

namespace leapp {
namespace {

// While a model is translated, up to four copies of its weights are in memory.
constexpr std::size_t kMaxWeights = std::size_t{256} << 20;

std::size_t weights_of(const torch::jit::Graph& graph) {
  std::size_t bytes = 0;
  for (const torch::jit::Node* node : graph.nodes()) {
    if (node->kind() != c10::prim::Constant || !node->hasAttribute(c10::attr::value)) continue;
    if (node->kindOf(c10::attr::value) == torch::jit::AttributeKind::t) {
      bytes += node->t(c10::attr::value).nbytes();
    }
  }
  return bytes;
}

// Functions without an ONNX operator are computed by others, which are one or two digits less
// precise than libtorch's.
bool is_exact_in_onnx(const std::string& op) {
  for (const char* plain : {"aten::linalg_vector_norm", "aten::linalg_cross"}) {
    if (op == plain) return can_convert_to_onnx(op);
  }
  for (const char* family : {"aten::linalg_", "aten::_linalg_", "aten::special_",
                             "aten::matrix_exp", "aten::fft_", "aten::_fft_"}) {
    if (op.starts_with(family)) return false;
  }
  return can_convert_to_onnx(op);
}

// Typical numbers of observations; indices that are valid for any dimension.
std::vector<at::Tensor> make_examples(const Model& signature) {
  const at::Generator own = at::detail::createCPUGenerator();  // owned by the program
  std::vector<at::Tensor> examples;
  for (const Port& port : signature.inputs) {
    at::Tensor example = at::zeros(port.shape, to_torch(port.dtype));
    if (example.is_floating_point()) {
      example = at::randn(port.shape, own).to(example.scalar_type());
    }
    examples.push_back(std::move(example));
  }
  return examples;
}

// The ports by their names in the translated graph.
Model neutral(const Model& signature) {
  Model model = signature;
  const auto rename = [](std::vector<Port>& ports, const char* name) {
    for (std::size_t i = 0; i < ports.size(); ++i) ports[i].name = name + std::to_string(i);
  };
  rename(model.inputs, "in");
  rename(model.outputs, "out");
  return model;
}

// The rounding error of a sum with the largest elements also affects the smallest ones.
bool agree(const ConstTensorView& translated, const ConstTensorView& original) {
  const Comparison comparison = compare_in_full(original, translated, kExact);
  if (comparison.passed()) return true;
  const double largest = std::max(std::abs(comparison.traced.min), std::abs(comparison.traced.max));
  const Tolerance tolerance{kTranslated.rtol, kTranslated.atol * std::max(1.0, largest)};
  return compare(original, translated, exact_unless_rounded(original.dtype, tolerance)).passed();
}

void prove(Engine& engine, const Model& signature, const std::vector<at::Tensor>& examples,
           const std::vector<at::Tensor>& expected) {
  std::vector<ConstTensorView> inputs;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    inputs.push_back(
        {examples[i].const_data_ptr(), signature.inputs[i].dtype, signature.inputs[i].shape});
  }
  std::vector<at::Tensor> found;
  std::vector<TensorView> outputs;
  for (const Port& port : signature.outputs) {
    found.push_back(at::empty(port.shape, to_torch(port.dtype)));
    outputs.push_back({found.back().data_ptr(), port.dtype, port.shape});
  }
  engine.bind(inputs, outputs)->run().value();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const at::Tensor original = expected[i].contiguous();
    const bool fits =
        found[i].scalar_type() == original.scalar_type() && found[i].sizes() == original.sizes();
    const Port& port = signature.outputs[i];
    require(fits && agree(outputs[i], {original.const_data_ptr(), port.dtype, port.shape}),
            Code::kNotTranslated, "its output '" + port.name + "' differs");
  }
}

}  // namespace

std::unique_ptr<Engine> translate(const Model& signature, const TorchProgram& program,
                                  const EngineOptions& options) {
  try {
    require(!program.self, Code::kNotTranslated, "it keeps attributes");
    require(weights_of(*program.graph) <= kMaxWeights, Code::kNotTranslated, "it is too large");
    const std::vector<at::Tensor> examples = make_examples(signature);
    const trace::ScriptGraph script =
        trace::read_script(*program.graph, examples, is_exact_in_onnx);
    const std::string onnx = to_onnx(script.graph);
    EngineOptions on_cpu = options;
    on_cpu.provider = "cpu";
    const ModelFile translated{.path = {}, .bytes = std::as_bytes(std::span(onnx))};
    std::unique_ptr<Engine> engine = load_onnx_engine(neutral(signature), translated, on_cpu);
    prove(*engine, signature, examples, script.outputs);
    return engine;
  } catch (const std::exception& error) {
    log(LogLevel::kDebug,
        "node '" + signature.name + "' runs in libtorch, as TorchScript: " + error.what());
    return nullptr;
  }
}

}  // namespace leapp
