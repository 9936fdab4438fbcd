// Exporters and runners of models that are not written in C++.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "leapp/metadata.h"

namespace leapp::session {

/// The node that an external backend exports.
struct ExternalExport {
  std::string backend;           ///< export_with: "onnx-dynamo", "onnx-torchscript" or "pt2"
  std::filesystem::path script;  ///< the graph as TorchScript, for exporters that need it
  const ir::Graph& graph;        ///< inputs and outputs have the names of the model's ports
  std::filesystem::path file;    ///< the model file to write
  const Metadata::Map& params;   ///< backend_params of the node
};

/// An external backend, such as PyTorch's own exporters. A front end owns it and passes it to
/// compile_graph(). Called on the thread of compile_graph(), without locks.
class ExternalBackend {
 public:
  virtual ~ExternalBackend() = default;

  /// Returns the name of a missing package that the backend needs, or "".
  virtual std::string missing_package(const std::string& backend) = 0;

  /// Writes the model file. Throws Error if the graph cannot be exported.
  virtual void write(const ExternalExport& node) = 0;

  /// Runs a model file without a C++ engine (backend "pt2") and returns its outputs.
  virtual std::vector<at::Tensor> run(const std::filesystem::path& file,
                                      const std::vector<at::Tensor>& inputs) = 0;
};

}  // namespace leapp::session
