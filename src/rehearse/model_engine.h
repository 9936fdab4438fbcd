// The engine that runs a node's model during validation.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "leapp/engine.h"
#include "leapp/error.h"
#include "leapp/trace/diagnostic.h"
#include "rehearse/exported_node.h"

namespace leapp::rehearse {

/// Returns why a model cannot be run here; empty if it can.
std::string why_not_run(const Model& model, bool has_external);

/// Returns whether the weights are used from the files, because copying them costs more than slower
/// ticks. Smaller exports run exactly as on the robot.
bool have_many_weights(const std::vector<ExportedNode>& nodes, const std::filesystem::path& folder);

/// Returns the engine of a model file. Throws Error if it cannot be loaded.
std::unique_ptr<Engine> engine_of(const ExportedNode& node, const std::filesystem::path& file,
                                  bool in_place, Trust trust);

/// Reports that a robot loads the model only with trust, in the loader's words.
Diagnostic needs_trust(const std::string& node, const std::filesystem::path& folder,
                       const Error& refusal);

}  // namespace leapp::rehearse
