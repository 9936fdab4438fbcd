// From a recording to a pure graph.
//
// The recorded calls are replayed once on ATen's functional tensors: PyTorch's own
// functionalisation turns views and in-place writes into pure operators, and those are what is
// recorded the second time. Whatever depends on no input and no state is folded to a
// constant. Large products that depend on an input only have their shapes inferred, unless a value
// is read after them.
#pragma once

#include <functional>
#include <vector>

#include "ir/graph.h"
#include "trace/recording.h"

namespace leapp::trace {

struct PurifyOptions {
  /// True if the exporter takes this operator whole. Only asked for operators that neither write
  /// nor alias. What it refuses is decomposed as far as PyTorch's composites go; an operator of the
  /// user's own, into what its implementation runs.
  std::function<bool(const c10::OperatorHandle&)> keep;
  /// Returns a name for a tensor that becomes a constant, or "".
  std::function<std::string(const at::Tensor&)> name;
};

struct Purified {
  /// Inputs: every recorded port, then every slot. No outputs yet.
  ir::Graph graph;
  std::vector<ir::ValueId> outputs;  ///< of the recorded ports
  std::vector<ir::ValueId> before;   ///< of each slot
  std::vector<ir::ValueId> after;    ///< likewise; kNoValue where the pass only reads it

  /// An operator of the user's own in whose place its implementation's operators stand.
  struct Opened {
    std::string op;
    ir::SourceLocation where;
  };
  std::vector<Opened> opened;
};

/// Replays on `examples`, one tensor per recorded input. Throws Error(kExport) naming the operator
/// and the user's line where a call cannot be made pure.
Purified purify(const Recording& recording, const std::vector<StateSlot>& slots,
                const std::vector<at::Tensor>& examples, const PurifyOptions& options);

}  // namespace leapp::trace
