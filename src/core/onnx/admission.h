// What a model file may be like before ONNX Runtime sees it.
//
// ONNX Runtime recurses over functions that call functions, and copies a function's body into every
// caller: 166 kB can overflow its stack, and less than 10 kB can ask for more nodes than there is
// memory. So the structure of a file is read first, one pass over its bytes that takes no memory to
// speak of, and bounded. docs/explanation/security.md lists the limits.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "leapp/visibility.h"

namespace leapp::onnx {

/// Limits of one file. The defaults are far above what exporters write.
struct Admission {
  /// Nodes, with those of subgraphs, and with the body of each function counted at every call.
  std::uint64_t max_nodes = 250'000;
  /// Functions of the file's own.
  std::uint64_t max_functions = 1'000;
  /// maximum depth of functions that call functions
  std::uint64_t max_function_depth = 64;
  /// maximum depth of graphs inside nodes (If, Loop, Scan)
  std::uint64_t max_graph_depth = 32;
  /// Inputs, outputs, weights, attributes and value infos of all graphs together.
  std::uint64_t max_entries = 2'000'000;
  /// Bytes that weights and constants say they have, dense or sparse, all together.
  std::uint64_t max_weight_bytes = std::uint64_t{32} << 30;
  /// allowed domains of operators, in addition to ONNX's own and those of functions in the file
  std::set<std::string, std::less<>> domains = default_domains();

  /// Returns "com.microsoft", "ai.onnx.ml" and those of allow_onnx_domain().
  LEAPP_EXPORT static std::set<std::string, std::less<>> default_domains();
};

/// Throws Error(LP617), which says what is too much and which limit it exceeds, unless the model
/// may be given to ONNX Runtime. `name` stands for the file in the message.
LEAPP_EXPORT void require_admissible(std::span<const std::byte> bytes, const std::string& name,
                                     const Admission& limits = {});

}  // namespace leapp::onnx
