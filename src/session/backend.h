// What export_with and backend_params may say.
#pragma once

#include <optional>
#include <string>

#include "leapp/leapp.h"

namespace leapp::session {

enum class Backend { kNone, kTorchScript, kOnnx, kBridgedOnnx, kExportedProgram, kCpp };

/// Throws Error(kValue) for a backend or a parameter nobody knows, naming the ones there are.
Backend parse_backend(const std::optional<std::string>& export_with);
void check_backend_params(Backend backend, const Metadata::Map& params);

/// The parameter's value when it is there and of that type; an Error(kType) when it is of another.
std::optional<bool> bool_param(const Metadata::Map& params, const std::string& key);
std::optional<std::int64_t> int_param(const Metadata::Map& params, const std::string& key);
std::optional<std::string> text_param(const Metadata::Map& params, const std::string& key);

}  // namespace leapp::session
