// From a recording to a pure graph.
//
// The recorded calls are replayed once on ATen's functional tensors: PyTorch's own
// functionalisation turns views and in-place writes into pure operators, and those are what is
// recorded the second time. Whatever depends on no input and no state is computed here and becomes
// a constant.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"
#include "trace/recording.h"

namespace leapp::trace {

struct PurifyOptions {
  /// Whether the exporter takes this operator whole. Only asked for operators that neither write
  /// nor share memory. What it refuses comes apart as far as PyTorch's composites go.
  std::function<bool(const c10::OperatorHandle&)> keep;
  /// A name for a tensor that becomes a constant, or "".
  std::function<std::string(const at::Tensor&)> name;
};

struct Purified {
  ir::Graph graph;                  ///< inputs: used ports, then kept states; outputs likewise
  std::vector<std::size_t> inputs;  ///< indices of Recording::inputs that reach an output
  std::vector<std::size_t> states;  ///< indices of Recording::states that really are state
};

/// Replays on `examples`, one tensor per recorded input. Throws Error(kExport) naming the operator
/// and the user's line where a call cannot be made pure.
Purified purify(const Recording& recording, const std::vector<at::Tensor>& examples,
                const PurifyOptions& options);

}  // namespace leapp::trace
