// Converts a recording to a pure graph.
//
// The recorded calls are replayed once on ATen's functional tensors: PyTorch's own
// functionalisation converts views and in-place writes to pure operators, which are then recorded.
// Values that depend on no input and no state are folded to constants. For large products that
// depend on an input, only the shapes are inferred, unless a later operator reads a value.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"
#include "trace/recording.h"

namespace leapp::trace {

struct PurifyOptions {
  /// Returns whether the exporter supports this operator. Called only for operators that neither
  /// write nor alias. Other operators are decomposed if they are PyTorch's composites; a custom
  /// operator is decomposed into the operators of its implementation.
  std::function<bool(const c10::OperatorHandle&)> keep;
  /// Returns a name for a tensor that becomes a constant, or "".
  std::function<std::string(const at::Tensor&)> name;
};

struct Purified {
  /// Inputs: every recorded port, then every slot. No outputs yet.
  ir::Graph graph;
  std::vector<ir::ValueId> outputs;  ///< of the recorded ports
  std::vector<ir::ValueId> before;   ///< of each slot
  std::vector<ir::ValueId> after;    ///< likewise; kNoValue if the pass only reads it

  /// A custom operator that was replaced by the operators of its implementation.
  struct Opened {
    std::string op;
    ir::SourceLocation where;
  };
  std::vector<Opened> opened;
};

/// Replays on `examples`, one tensor per recorded input. Throws Error(kExport) with the operator
/// and the user's line if a call cannot be made pure.
Purified purify(const Recording& recording, const std::vector<StateSlot>& slots,
                const std::vector<at::Tensor>& examples, const PurifyOptions& options);

}  // namespace leapp::trace
