// A node that gets no graph of ours, and the model that the user brings along for it
// (export_with=None): checked against the ports that the node declares, and brought into the bundle
// with every file it needs.
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "rehearse/exported_node.h"
#include "session/backend.h"

namespace leapp::compile {

using rehearse::ExportedNode;
using session::BackendParams;
using session::Node;

/// The node with its ports as they were annotated.
ExportedNode describe_only(const Node& node);

/// The inputs that nothing it puts out or keeps depends on, as its first pass shows; none where
/// that was not recorded.
std::set<std::string> unused_inputs(const Node& node);

/// Fills `model.backend`, `model.file` and `model.external_data`. Copies go to `folder` under the
/// node's name, external data under its own. Inputs in `unused` that the file does not take are
/// dropped. Throws an Error that names the node and the file: kNotFound where one is missing,
/// kValue where it is no model or its ports differ in name, number, type or shape.
void take_own_model(const BackendParams& params, const std::filesystem::path& folder,
                    const std::set<std::string>& unused, Model& model);

/// Only the checks: the file is there, and of a kind that an engine runs. Returns the backend.
std::string backend_of(const BackendParams& params, const std::string& node);

}  // namespace leapp::compile
