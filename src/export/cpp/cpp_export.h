// Writes a pure graph as one C++ source and a file of weights. Torch-free.
//
// The source is self-contained C++20 with the interface of leapp/cpp_model.h: no library, no heap,
// no exceptions, no threads, and constant shapes. The same graph gives the same bytes. An
// unsupported operation is an Error that names it, the user's line and an alternative. Calls are
// independent of each other and may run in several threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/cpp/weight_format.h"
#include "ir/graph.h"

namespace leapp::cpp_export {

struct CppSource {
  std::string source;
  std::string weights;  ///< content of the weight file; may be empty
};

/// Generates the source. `node` is the name in the table.
CppSource generate(const ir::Graph& graph, const std::string& node,
                   WeightFormat weights = WeightFormat::kFloat32);

/// Returns whether code can be generated for an operator such as "aten::linear". Pass composite
/// operators with code to the exporter as they are, and all others decomposed.
bool can_generate(std::string_view qualified_name);

/// Returns the qualified names of all supported operators, sorted.
std::vector<std::string> generated_ops();

}  // namespace leapp::cpp_export
