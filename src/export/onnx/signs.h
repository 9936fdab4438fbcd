// Checks whether a graph's outputs depend on undefined signs.
//
// Singular vectors and eigenvectors may change sign in pairs: column i of U together with row i of
// V^T, or an eigenvector with itself. LAPACK and other algorithms choose different signs. If signs
// cancel, as in U V^T or V f(w) V^T, the choice does not matter. This code follows the signs
// through the graph; it assumes that unknown operators depend on them.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace leapp::onnx_export {

/// A matrix of vectors with free signs.
struct FreeVectors {
  enum class Axis { kColumns, kRows };
  ir::ValueId value = ir::kNoValue;
  Axis axis = Axis::kColumns;  ///< the vectors are its columns, otherwise its rows
};

/// Returns whether the outputs are the same for all signs of vector 0, 1, .., if all matrices in
/// `vectors` use the same signs.
bool signs_cancel(const ir::Graph& graph, const std::vector<FreeVectors>& vectors);

}  // namespace leapp::onnx_export
