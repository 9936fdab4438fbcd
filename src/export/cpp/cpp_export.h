// Writes a pure graph as one C++ source and a file of weights. Torch-free.
//
// The source is self-contained C++20 (leapp/cpp_model.h says what it offers): no library, no heap,
// no exceptions, no threads, every shape a constant. The same graph gives the same bytes. An
// operation that cannot be said is an Error that names it, the user's line and what to try. Calls
// are independent of each other and may run in several threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "export/cpp/weight_format.h"
#include "ir/graph.h"

namespace leapp::cpp_export {

struct CppSource {
  std::string source;
  std::string weights;  ///< the bytes of the file of weights; may be empty
};

/// Generates the source. `node` is the name in the table.
CppSource generate(const ir::Graph& graph, const std::string& node,
                   WeightFormat weights = WeightFormat::kFloat32);

/// Returns whether code can be generated for an operator such as "aten::linear". Composite
/// operators with code should reach the exporter whole, all others decomposed.
bool can_generate(std::string_view qualified_name);

/// Returns the qualified names of all operators that there is code for, sorted.
std::vector<std::string> generated_ops();

}  // namespace leapp::cpp_export
