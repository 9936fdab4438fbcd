// The file of a node's model, in the directory of the bundle.
#pragma once

#include <filesystem>
#include <string>

#include "ir/graph.h"
#include "rehearse/exported_node.h"
#include "session/backend.h"
#include "session/external_backend.h"

namespace leapp::compile {

using rehearse::ExportedNode;

/// Returns the format that a backend writes, by its name in the YAML: "jit", "onnx", "pt2" or
/// "cpp".
std::string format_of(session::Backend backend);

/// Writes the graph with the backend, and completes the model's description of its file.
/// `torch_version` goes into torch.export's programs; `external` writes formats that have no C++
/// implementation, and may be null.
void write_model(session::Backend backend, const ir::Graph& graph,
                 const std::filesystem::path& folder, const std::string& torch_version,
                 ExportedNode& node, session::ExternalBackend* external = nullptr);

}  // namespace leapp::compile
