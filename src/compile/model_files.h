// The file of a node's model, in the folder of the bundle.
#pragma once

#include <filesystem>
#include <string>

#include "compile/compiled_node.h"
#include "ir/graph.h"
#include "session/backend.h"

namespace leapp::compile {

/// What a backend writes, as the YAML calls it: "jit", "onnx", "pt2" or "cpp".
std::string format_of(session::Backend backend);

/// A file of the bundle, as its YAML states it.
FileEntry entry_of(const std::filesystem::path& file);

/// Writes the graph with the backend, and fills in what the model says of its file.
/// `torch_version` goes into torch.export's programs.
void write_model(session::Backend backend, const ir::Graph& graph,
                 const std::filesystem::path& folder, const std::string& torch_version,
                 CompiledNode& compiled);

}  // namespace leapp::compile
