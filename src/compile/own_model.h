// A model that the user brings along (export_with=None): checked against the ports that its node
// declares, and brought into the bundle with every file it needs.
#pragma once

#include <filesystem>

#include "leapp/bundle.h"

namespace leapp::compile {

/// Fills `model.backend`, `model.file` and `model.external_data` for the .onnx or .pt file
/// `source`. With `copy` the files go to `folder` under the node's name, external data under its
/// own; otherwise the bundle refers to where they are. Throws an Error that names the node and the
/// file: kNotFound where one is missing, kValue where it is no model or its ports differ in name,
/// number, type or shape.
void take_own_model(const std::filesystem::path& source, bool copy,
                    const std::filesystem::path& folder, Model& model);

/// Only the checks: the file is there, and of a kind that an engine runs. Returns the backend.
std::string backend_of_own_model(const std::filesystem::path& source, const std::string& node);

}  // namespace leapp::compile
