// Several ONNX models as one: joined along their wires, and run by one session.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/engine.h"
#include "leapp/visibility.h"
#include "onnx/model.h"

namespace leapp {

/// Size up to which models are merged, together. Large models gain nothing: reading their weights
/// takes milliseconds, starting a node a microsecond. They would also be in memory more than once
/// during the merge.
inline constexpr std::uintmax_t kMaxMergedBytes = std::uintmax_t{32} << 20;

/// Reads the models and joins them. Throws Error(kValue) if they cannot be one graph.
LEAPP_EXPORT onnx::Model read_merged_onnx(const Bundle& part, const std::vector<ModelFile>& files,
                                          const Model& signature);

/// Returns the MergedEngineFactory of the backend "onnx".
LEAPP_EXPORT std::unique_ptr<Engine> load_merged_onnx(const Bundle& part,
                                                      const std::vector<LoadedNode>& nodes,
                                                      const Model& signature,
                                                      const EngineOptions& options);

}  // namespace leapp
