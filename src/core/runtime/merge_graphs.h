// Joins ONNX graphs along the wires of a pipeline into one graph.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/visibility.h"
#include "onnx/model.h"

namespace leapp {

/// One model to be merged, with the node it belongs to.
struct MergeSource {
  const Model* node = nullptr;
  const onnx::Model* model = nullptr;
};

/// Returns why a model cannot be merged with others, or an empty string: it has local functions, or
/// parts that this library does not read and therefore cannot rename.
std::string why_not_mergeable(const onnx::Model& model);

/// Returns whether two models use the same operator sets.
bool same_opsets(const onnx::Model& a, const onnx::Model& b);

/// Returns a graph that computes all models, in order. Its inputs and outputs are those of
/// `signature`, named "node/port"; the wires in `bundle` feed all other inputs of a source. All
/// sources must be mergeable and have the same operator sets.
LEAPP_EXPORT onnx::Model merge_graphs(const Bundle& bundle, const std::vector<MergeSource>& sources,
                                      const Model& signature);

/// Renames values of the whole graph, including inputs and outputs. Names that are not listed stay;
/// a new name must not be in use.
LEAPP_EXPORT void rename_values(onnx::Graph& graph,
                                const std::unordered_map<std::string, std::string>& names);

}  // namespace leapp
