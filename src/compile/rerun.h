// Runs calls between nodes again, on other values of the outputs that they begin with, and writes
// them to a tape.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <vector>

#include "session/record/between.h"

namespace leapp::compile {

/// A tensor and its variable.
struct Known {
  at::Tensor tensor;
  trace::VarId var = trace::kNoId;  ///< kNoId: a number, or no tensor
};
using Sources = std::map<session::PortId, Known>;

/// Runs an operator and adds it to the tape as a call of the node. `vars` are the variables of the
/// tensors in `arguments`, in order. Returns its tensors. Throws c10::Error if it fails.
std::vector<Known> record_call(const c10::OperatorHandle& op, torch::jit::Stack arguments,
                               const std::vector<trace::VarId>& vars, trace::FrameRef where,
                               trace::NodeId node, trace::Tape& tape);

/// Repeats the route on these outputs. The operators become calls of the node on the tape, each
/// call of the route once. Throws c10::Error if the values do not fit. Writes go to copies: the
/// sources do not change.
Known rerun(const session::Route& route, const Sources& sources, trace::Tape& tape,
            trace::NodeId node);

}  // namespace leapp::compile
