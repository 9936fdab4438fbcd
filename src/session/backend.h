// What export_with and backend_params may say.
#pragma once

#include <optional>
#include <string>

#include "leapp/trace/onnx_export.h"
#include "session/record/node.h"

namespace leapp::session {

enum class Backend { kNone, kTorchScript, kOnnx, kBridgedOnnx, kExportedProgram, kCpp };

/// What backend_params say by the same names, and what holds where they say nothing. Those that
/// only a front end reads are not among them.
struct BackendParams {
  std::int64_t opset_version = OnnxExportOptions().opset_version;
  std::optional<bool> optimize = {};           ///< nullopt: as the backend does by itself
  bool external_data = false;                  ///< weights beside an ONNX model
  std::optional<std::string> fallback = {};    ///< what a node becomes that cannot be C++: "onnx"
  std::string weights = "float32";             ///< how C++ keeps them: or "bf16", or "int8"
  std::optional<std::string> model_path = {};  ///< of a model that the user brings along
  std::string backend = {};         ///< its: "onnx" or "jit"; "" goes by its ending, .onnx or .pt
  bool copy_original_model = true;  ///< into the bundle; else that refers to where its files are
};

/// Throws Error for a backend or a parameter nobody knows (kValue), naming the ones there are, and
/// for a parameter of another type (kType).
Backend parse_backend(const std::optional<std::string>& export_with);
BackendParams parse_backend_params(Backend backend, const Metadata::Map& params);

/// Those of a node, whose annotation was checked.
BackendParams params_of(const Node& node);

}  // namespace leapp::session
