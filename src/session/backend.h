// Valid values of export_with and backend_params.
#pragma once

#include <optional>
#include <string>

#include "leapp/trace/onnx_export.h"
#include "session/record/node.h"

namespace leapp::session {

enum class Backend { kNone, kTorchScript, kOnnx, kBridgedOnnx, kExportedProgram, kCpp };

/// The content of backend_params under the same names, with defaults. Parameters that only a front
/// end reads are not included.
struct BackendParams {
  std::int64_t opset_version = OnnxExportOptions().opset_version;
  std::optional<bool> optimize = {};  ///< nullopt: the backend's default
  bool external_data = false;         ///< write the weights of an ONNX model to a separate file
  std::optional<std::string> fallback = {};  ///< replacement for a node that cannot be C++: "onnx"
  std::string weights = "float32";  ///< format of weights in C++: "float32", "bf16" or "int8"
  std::optional<std::string> model_path = {};  ///< path of the user's own model
  std::string backend =
      {};  ///< backend of the model: "onnx" or "jit"; "" selects it by suffix, .onnx or .pt
  bool copy_original_model =
      true;  ///< copy it into the bundle; otherwise the bundle refers to its path
};

/// Returns the backend. Throws Error for an unknown backend or parameter (kValue), listing the
/// valid ones, and for a parameter of another type (kType).
Backend parse_backend(const std::optional<std::string>& export_with);
BackendParams parse_backend_params(Backend backend, const Metadata::Map& params);

/// Returns the parameters of a node whose annotation was already checked.
BackendParams params_of(const Node& node);

}  // namespace leapp::session
