// A node with a user's model instead of an exported graph (export_with=None): the model is checked
// against the declared ports and copied into the bundle with all its files.
#pragma once

#include <filesystem>
#include <set>
#include <span>
#include <string>

#include "rehearse/exported_node.h"
#include "session/backend.h"

namespace leapp::compile {

using rehearse::ExportedNode;
using session::BackendParams;
using session::Node;

/// Returns the node with its ports as they were annotated.
ExportedNode describe_only(const Node& node);

/// Returns the inputs on which no output or state of the first pass depends; none if that pass was
/// not recorded.
std::set<std::string> unused_inputs(const Node& node);

/// Fills `model.backend`, `model.file` and `model.external_data`. Copies are written to `folder`
/// under the node's name, external data under its own name. Inputs in `unused` that the file does
/// not have are dropped. Throws an Error that names the node and the file: kNotFound if a file is
/// missing, kValue if it is not a model or its ports differ in name, number, type or shape.
void take_own_model(const BackendParams& params, const std::filesystem::path& folder,
                    const std::set<std::string>& unused, Model& model);

/// Returns a node without a graph of its own: with the user's model, if it has one. `nodes`
/// contains all nodes. Adds a warning to `findings` if the bundle cannot run. Throws what
/// take_own_model() throws. A dry run copies nothing.
ExportedNode compile_own(const Node& node, std::span<const Node* const> nodes,
                         const std::filesystem::path& folder, bool dry_run,
                         state::Findings& findings);

/// Checks that the file exists and that an engine can run it. Returns the backend.
std::string backend_of(const BackendParams& params, const std::string& node);

}  // namespace leapp::compile
