#include "session/backend.h"

#include <map>
#include <ranges>
#include <set>

#include "base/check.h"
#include "base/join.h"

namespace leapp::session {
namespace {

constexpr const char* kFlag = "True or False";
constexpr const char* kText = "a string";

// Null means the default.
template <typename T>
void read(const Metadata::Map& params, const std::string& key, const char* type, auto& into) {
  for (const auto& [name, value] : params) {
    if (name != key || std::holds_alternative<std::monostate>(value.value)) continue;
    const T* found = std::get_if<T>(&value.value);
    require(found != nullptr, Code::kWrongType,
            "backend parameter '" + key + "' must be " + std::string(type));
    into = *found;
  }
}

}  // namespace

Backend parse_backend(const std::optional<std::string>& export_with) {
  static const std::map<std::string, Backend> known = {
      {"jit", Backend::kTorchScript},
      {"jit-script", Backend::kTorchScript},
      {"jit-trace", Backend::kTorchScript},
      {"onnx", Backend::kOnnx},
      {"onnx-dynamo", Backend::kBridgedOnnx},
      {"onnx-torchscript", Backend::kBridgedOnnx},
      {"pt2", Backend::kExportedProgram},
      {"exported-program", Backend::kExportedProgram},
      {"cpp", Backend::kCpp},
  };
  if (!export_with) return Backend::kNone;
  const auto it = known.find(*export_with);
  if (it != known.end()) return it->second;
  throw Error(Code::kUnknownBackend,
              "export_with='" + *export_with + "' is not a backend. Choose from " +
                  join_quoted(std::views::keys(known)) + ", and None for a node without a model.");
}

BackendParams parse_backend_params(Backend backend, const Metadata::Map& params) {
  static const std::set<std::string> onnx = {"opset_version", "report",    "verify",
                                             "optimize",      "prescript", "skip_validation",
                                             "external_data"};
  static const std::map<Backend, std::set<std::string>> known = {
      {Backend::kTorchScript, {"optimize"}},
      {Backend::kOnnx, onnx},
      {Backend::kBridgedOnnx, onnx},
      {Backend::kExportedProgram, {}},
      {Backend::kCpp, {"fallback", "weights"}},
      {Backend::kNone, {"model_path", "backend", "copy_original_model", "device"}},
  };
  BackendParams parsed;
  if (params.empty()) return parsed;  // as for most nodes
  for (const auto& [name, value] : params) {
    require(known.at(backend).count(name) > 0, Code::kUnknownBackend,
            "backend parameter '" + name + "' is unknown to this backend. It takes " +
                join_quoted(known.at(backend)) + ".");
  }
  read<std::int64_t>(params, "opset_version", "an integer", parsed.opset_version);
  const std::int64_t opset = parsed.opset_version;
  require(backend != Backend::kOnnx || (opset >= kMinOnnxOpset && opset <= kMaxOnnxOpset),
          Code::kWrongValue,
          "opset_version is " + std::to_string(opset) + ", and LEAPP writes opset " +
              std::to_string(kMinOnnxOpset) + " to " + std::to_string(kMaxOnnxOpset));
  read<bool>(params, "optimize", kFlag, parsed.optimize);
  read<bool>(params, "external_data", kFlag, parsed.external_data);
  read<bool>(params, "copy_original_model", kFlag, parsed.copy_original_model);
  read<std::string>(params, "model_path", kText, parsed.model_path);
  read<std::string>(params, "backend", kText, parsed.backend);
  read<std::string>(params, "fallback", kText, parsed.fallback);
  read<std::string>(params, "weights", kText, parsed.weights);
  const std::string fallback = parsed.fallback.value_or("onnx");
  require(fallback == "onnx", Code::kWrongValue,
          "fallback='" + fallback + "': a node that cannot be C++ may become 'onnx', or nothing");
  const std::string& weights = parsed.weights;
  require(weights == "float32" || weights == "bf16" || weights == "int8", Code::kWrongValue,
          "weights='" + weights + "': weights are kept as 'float32', 'bf16' or 'int8'");
  return parsed;
}

BackendParams params_of(const Node& node) {
  return parse_backend_params(parse_backend(node.export_with), node.backend_params);
}

}  // namespace leapp::session
