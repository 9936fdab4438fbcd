// Writes a pure graph as a TorchScript file.
//
// The file loads in plain torch.jit.load and torch::jit::load, without LEAPP: weights are
// attributes, inputs keep their names, the result is a tensor, or a tuple of them if there are
// several outputs or none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "leapp/visibility.h"

namespace leapp::torchscript {

struct Options {
  /// Freeze the module and run PyTorch's inference optimisations before writing.
  bool optimize = false;
};

/// Throws Error(kExport) with the operator and the user's line if the graph cannot be written.
LEAPP_EXPORT void write(const ir::Graph& graph, const std::filesystem::path& file,
                        const Options& options);

/// A parameter of a module's forward(), after self.
struct Parameter {
  std::string name;
  bool needed = true;  ///< it has no default
};

/// Returns the parameters of forward() in a TorchScript file, or nothing if it has no forward().
/// Throws c10::Error if the file contains no module.
std::optional<std::vector<Parameter>> parameters_of(const std::filesystem::path& file);

}  // namespace leapp::torchscript
