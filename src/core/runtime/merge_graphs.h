// Joins ONNX graphs along the wires of a pipeline: several models become one.
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
/// parts that this library does not read and so could not rename.
std::string why_not_mergeable(const onnx::Model& model);

/// Returns whether two models ask for the same operator sets.
bool same_opsets(const onnx::Model& a, const onnx::Model& b);

/// Returns the graph that computes all of them, in order. Its inputs and outputs are those of
/// `signature`, called "node/port"; inputs of a source that are not among them are fed by the wires
/// in `bundle`. All sources must be mergeable and of the same operator sets.
LEAPP_EXPORT onnx::Model merge_graphs(const Bundle& bundle, const std::vector<MergeSource>& sources,
                                      const Model& signature);

/// Gives values of the whole graph other names, those of its inputs and outputs among them. Names
/// that are not listed stay; a new name must not be in use.
LEAPP_EXPORT void rename_values(onnx::Graph& graph,
                                const std::unordered_map<std::string, std::string>& names);

}  // namespace leapp
