// Writes a pure graph as an ONNX model. Torch-free.
//
// The model computes the same as PyTorch. An operation that ONNX cannot express exactly is an Error
// of kind kExport, which names the operation, the user's line and an alternative. Models of opset
// 17 to 23 pass onnx.checker. Calls are independent of each other and may run in several threads.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

namespace ir {
class Graph;
}

inline constexpr int kMinOnnxOpset = 17;
inline constexpr int kMaxOnnxOpset = 23;

struct OnnxExportOptions {
  int opset_version = 20;
  bool optimize = true;        ///< fuse nodes before writing; does not change results
  bool external_data = false;  ///< weights in {path}.data, even if they fit into the model file
  std::string graph_name = "leapp";
};

struct OnnxExport {
  /// Names of the ports in the file, in the graph's order. ONNX has one namespace for both sides:
  /// a name that the graph uses on both becomes {name}_in and {name}_out.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  /// The model first, then its external data, with their checksums for the bundle.
  std::vector<FileEntry> files;
};

/// Converts the graph and writes it to `path`. Weights go from the graph's memory to the file
/// without a copy.
LEAPP_EXPORT OnnxExport export_onnx(const ir::Graph& graph, const std::filesystem::path& path,
                                    const OnnxExportOptions& options = {});

/// Converts the graph to a model in memory, weights inline.
LEAPP_EXPORT std::string to_onnx(const ir::Graph& graph, const OnnxExportOptions& options = {});

/// Returns whether there is a converter for an operator such as "aten::linear". Pass composite
/// operators with a converter to the exporter as they are, and others decomposed.
LEAPP_EXPORT bool can_convert_to_onnx(std::string_view qualified_name);

/// Returns the qualified names of all operators that have a converter, sorted.
LEAPP_EXPORT std::vector<std::string> onnx_convertible_ops();

}  // namespace leapp
