// Contents of a model file, read without running it: operators, source lines and text, weights.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/tensor_view.h"

namespace leapp::view {

/// An operator of a model.
struct Operator {
  std::string type;    ///< "Gemm", "aten.linear.default"
  std::string name;    ///< name of the ONNX node
  std::string from;    ///< original operator: "aten::linear"
  std::string module;  ///< the path of the module that called it: "actor.0"
  std::string where;   ///< the user's line: "walk.py:12 in forward"
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  int depth = 0;  ///< nesting depth in loops and branches
};

/// A tensor in the model. The view may be unaligned, and has no memory if the elements could not be
/// read.
struct Weight {
  std::string name;
  ConstTensorView tensor;
};

/// Move-only; the views are valid as long as it lives.
struct ModelFacts {
  std::vector<Operator> operators;
  std::string code;         ///< the source of TorchScript or C++
  std::string translation;  ///< the ONNX translation in a TorchScript file; may be empty
  std::vector<Weight> weights;
  std::uint64_t file_bytes = 0;
  std::vector<std::string> remarks;               ///< parts that could not be read, with the reason
  std::vector<std::shared_ptr<const void>> keep;  ///< memory of the views
};

/// Reads the facts. Never throws because of a file's content; such an error becomes a remark.
ModelFacts read_facts(const Model& model, const std::filesystem::path& folder,
                      const BundleOptions& options);

}  // namespace leapp::view
