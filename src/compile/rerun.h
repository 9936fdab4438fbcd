// Calls between nodes, run once more on other values of the outputs that they begin with, and
// written to a tape.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>

#include "session/record/between.h"

namespace leapp::compile {

/// A tensor and its variable.
struct Known {
  at::Tensor tensor;
  trace::VarId var = trace::kNoId;  ///< kNoId: a number, or nothing
};
using Sources = std::map<session::PortId, Known>;

/// What the route leads to from these values of outputs. What runs becomes calls of the node on the
/// tape, each call on the route once. Throws c10::Error where they do not fit the values. What is
/// written to is a copy: the sources stay as they are.
Known rerun(const session::Route& route, const Sources& sources, trace::Tape& tape,
            trace::NodeId node);

}  // namespace leapp::compile
