// The file of a node's model, in the folder of the bundle.
#pragma once

#include <filesystem>
#include <string>

#include "ir/graph.h"
#include "rehearse/exported_node.h"
#include "session/backend.h"

namespace leapp::compile {

using rehearse::ExportedNode;

/// What a backend writes, as the YAML calls it: "jit", "onnx", "pt2" or "cpp".
std::string format_of(session::Backend backend);

/// Writes the graph with the backend, and fills in what the model says of its file.
/// `torch_version` goes into torch.export's programs.
void write_model(session::Backend backend, const ir::Graph& graph,
                 const std::filesystem::path& folder, const std::string& torch_version,
                 ExportedNode& node);

}  // namespace leapp::compile
