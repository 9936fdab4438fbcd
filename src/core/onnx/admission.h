// Limits for a model file before ONNX Runtime reads it.
//
// ONNX Runtime recurses over functions that call functions, and copies a function's body into every
// caller: 166 kB can overflow its stack, and less than 10 kB can ask for more nodes than there is
// memory. Therefore LEAPP first reads the structure of a file, in one pass that uses almost no
// memory, and checks its limits. docs/explanation/security.md lists the limits.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "leapp/visibility.h"

namespace leapp::onnx {

/// Limits of one file. The defaults are far above what exporters write.
struct Admission {
  /// Nodes, including those of subgraphs; the body of each function counts at every call.
  std::uint64_t max_nodes = 250'000;
  /// Functions that the file defines.
  std::uint64_t max_functions = 1'000;
  /// maximum depth of functions that call functions
  std::uint64_t max_function_depth = 64;
  /// maximum depth of graphs inside nodes (If, Loop, Scan)
  std::uint64_t max_graph_depth = 32;
  /// Inputs, outputs, weights, attributes and value infos of all graphs together.
  std::uint64_t max_entries = 2'000'000;
  /// Declared bytes of all weights and constants, dense or sparse.
  std::uint64_t max_weight_bytes = std::uint64_t{32} << 30;
  /// allowed domains of operators, in addition to ONNX's own and those of functions in the file
  std::set<std::string, std::less<>> domains = default_domains();

  /// Returns "com.microsoft", "ai.onnx.ml" and the domains of allow_onnx_domain().
  LEAPP_EXPORT static std::set<std::string, std::less<>> default_domains();
};

/// Throws Error(LP617), which names the exceeded limit, unless ONNX Runtime may read the model.
/// `name` stands for the file in the message.
LEAPP_EXPORT void require_admissible(std::span<const std::byte> bytes, const std::string& name,
                                     const Admission& limits = {});

}  // namespace leapp::onnx
