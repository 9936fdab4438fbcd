// What a front end in another language adds to an export.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "leapp/error.h"
#include "leapp/metadata.h"
#include "leapp/visibility.h"

namespace leapp::session {

/// Names of the user's tensors by the address of their first element: "encoder.0.weight".
using TensorNames = std::unordered_map<const void*, std::string>;

struct Hooks {
  /// Asked once per compile_graph(); may be empty.
  std::function<TensorNames()> tensor_names;
  /// Throws the error in the form in which it passes through libtorch's own bindings, when it comes
  /// out of an operator of the user's. May be empty: then it is thrown as it is.
  std::function<void(const Error& error)> rethrow;
  /// Writes the graph to the file by means that C++ does not have: backends "onnx-dynamo",
  /// "onnx-torchscript" and "pt2". Throws Error where that is impossible. May be empty.
  std::function<void(const std::string& backend, const ir::Graph& graph,
                     const std::filesystem::path& file, const Metadata::Map& params)>
      bridge;
  /// What is not installed that the bridge needs for a backend, in words; empty when all is there.
  std::function<std::string(const std::string& backend)> missing;
  /// Runs a model file that only the front end can run (backend "pt2") and returns its outputs. May
  /// be empty: then such models are not validated.
  std::function<std::vector<at::Tensor>(const std::filesystem::path& file,
                                        const std::vector<at::Tensor>& inputs)>
      replay;
};

/// Installs the hooks for the whole process.
LEAPP_EXPORT void set_hooks(Hooks hooks);
const Hooks& hooks() noexcept;

}  // namespace leapp::session
