#include "session/backend.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "base/check.h"
#include "base/join.h"
#include "leapp/onnx_export.h"

namespace leapp::session {
namespace {

const std::map<std::string, Backend>& backends() {
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
  return known;
}

template <typename T>
std::optional<T> param(const Metadata::Map& params, const std::string& key, const char* type) {
  for (const auto& [name, value] : params) {
    if (name != key || std::holds_alternative<std::monostate>(value.value)) continue;
    const T* found = std::get_if<T>(&value.value);
    require(found != nullptr, Code::kWrongType,
            "backend parameter '" + key + "' must be " + std::string(type));
    return *found;
  }
  return std::nullopt;
}

}  // namespace

Backend parse_backend(const std::optional<std::string>& export_with) {
  if (!export_with) return Backend::kNone;
  const auto it = backends().find(*export_with);
  if (it != backends().end()) return it->second;
  throw Error(Code::kUnknownBackend, "export_with='" + *export_with +
                                         "' is no backend. There are " +
                                         join_quoted(std::views::keys(backends())) +
                                         ", and None for a node without a model.");
}

void check_backend_params(Backend backend, const Metadata::Map& params) {
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
  if (params.empty()) return;  // as of most nodes
  for (const auto& [name, value] : params) {
    require(known.at(backend).count(name) > 0, Code::kUnknownBackend,
            "backend parameter '" + name + "' is unknown to this backend. It takes " +
                join_quoted(known.at(backend)) + ".");
  }
  // Of the right type here, where the caller's line is known.
  const std::int64_t opset = int_param(params, "opset_version").value_or(kMaxOnnxOpset);
  require(backend != Backend::kOnnx || (opset >= kMinOnnxOpset && opset <= kMaxOnnxOpset),
          Code::kWrongValue,
          "opset_version is " + std::to_string(opset) + ", and LEAPP writes opset " +
              std::to_string(kMinOnnxOpset) + " to " + std::to_string(kMaxOnnxOpset));
  for (const char* flag : {"optimize", "external_data", "copy_original_model"}) {
    bool_param(params, flag);
  }
  for (const char* text : {"model_path", "backend", "fallback", "weights"})
    text_param(params, text);
  const std::string fallback = text_param(params, "fallback").value_or("onnx");
  require(fallback == "onnx", Code::kWrongValue,
          "fallback='" + fallback + "': a node that cannot be C++ may become 'onnx', or nothing");
  const std::string weights = text_param(params, "weights").value_or("float32");
  require(weights == "float32" || weights == "bf16" || weights == "int8", Code::kWrongValue,
          "weights='" + weights + "': weights are kept as 'float32', 'bf16' or 'int8'");
}

std::optional<bool> bool_param(const Metadata::Map& params, const std::string& key) {
  return param<bool>(params, key, "True or False");
}

std::optional<std::int64_t> int_param(const Metadata::Map& params, const std::string& key) {
  return param<std::int64_t>(params, key, "an integer");
}

std::optional<std::string> text_param(const Metadata::Map& params, const std::string& key) {
  return param<std::string>(params, key, "a string");
}

}  // namespace leapp::session
