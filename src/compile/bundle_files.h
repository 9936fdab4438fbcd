// The files of a bundle except its models: description and initial values.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "leapp/leapp.h"
#include "rehearse/exported_node.h"
#include "state/ticks.h"

namespace leapp::compile {

using rehearse::ExportedNode;

/// Returns the bundle of the nodes, without initial values.
Bundle describe_bundle(const std::vector<ExportedNode>& nodes, const CompileOptions& options);

/// Returns a warning that names the ports whose element names begin with a dimension without names,
/// which some readers of bundles do not support; nullopt if there is none.
std::optional<Diagnostic> find_unnamed_axes(const Bundle& bundle);

/// Writes the initial values of feedback inputs, and of inputs that are read before their source
/// first runs, if there are any.
void write_initial_values(const std::vector<ExportedNode>& nodes, const std::filesystem::path& file,
                          Bundle& bundle, const state::Ticks& ticks = {});

/// Reads a written bundle in the same way as its users. Throws Error if that fails.
void read_back(const std::filesystem::path& yaml);

}  // namespace leapp::compile
