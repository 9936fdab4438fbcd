#include "translate/translation.h"

#include <torch/csrc/jit/passes/freeze_module.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/serialization/import.h>

#include <system_error>

#include "base/check.h"
#include "leapp/trace/onnx_export.h"
#include "runtime/engines/onnx/onnx_engine.h"
#include "runtime/engines/translation.h"
#include "trace/script_graph.h"

namespace leapp::translate {
namespace {

namespace jit = torch::jit;

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

// The graph of forward(), with weights as constants.
std::shared_ptr<jit::Graph> read_graph(const std::filesystem::path& file) {
  jit::Module module = jit::load(file.string(), at::kCPU);
  module.eval();
  jit::freeze_module_inplace(&module);  // throws if it writes to its own attributes
  std::shared_ptr<jit::Graph> graph = module.get_method("forward").graph()->copy();
  jit::Inline(*graph);
  require(!graph->inputs()[0]->hasUses(), Code::kNotTranslated, "it keeps attributes");
  graph->eraseInput(0);
  return graph;
}

std::string to_onnx(const std::filesystem::path& file, const std::vector<at::Tensor>& examples) {
  const std::shared_ptr<jit::Graph> graph = read_graph(file);
  require(graph->inputs().size() == examples.size(), Code::kNotTranslated,
          "it takes " + std::to_string(graph->inputs().size()) + " inputs");
  return leapp::to_onnx(trace::read_script(*graph, examples, is_exact_in_onnx).graph);
}

// libtorch appends its own source lines to an error.
std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

}  // namespace

Translation translate(const Model& node, const std::filesystem::path& file,
                      const std::vector<at::Tensor>& examples) {
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(file, failed);
  require(!failed && size <= kMaxTranslatedBytes, Code::kNotTranslated,
          "its file has more than " + std::to_string(kMaxTranslatedBytes >> 20) + " MiB");
  Translation made;
  try {
    made.onnx = to_onnx(file, examples);
  } catch (const c10::Error& error) {
    throw Error(Code::kNotTranslated, first_line(error));
  }
  const ModelFile bytes{.path = {}, .bytes = std::as_bytes(std::span(made.onnx))};
  made.engine = load_onnx_engine(with_translation_ports(node), bytes, {.provider = "cpu"});
  return made;
}

}  // namespace leapp::translate
