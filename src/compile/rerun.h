// Calls between nodes, run once more on other values of the outputs that they begin with, and
// written to a tape.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <map>
#include <vector>

#include "session/record/between.h"

namespace leapp::compile {

class Rerun {
 public:
  /// A tensor and its variable.
  struct Known {
    at::Tensor tensor;
    trace::VarId var = trace::kNobody;  ///< kNobody: a number, or nothing
  };
  using Sources = std::map<session::PortId, Known>;

  /// What runs becomes calls of the node on the tape, which must outlive it.
  Rerun(Sources sources, trace::Tape& tape, trace::NodeId node)
      : sources_(std::move(sources)), tape_(tape), node_(node) {}

  /// What the route leads to; each call on it runs once. Throws c10::Error where they do not fit
  /// the values. What is written to is a copy: the sources stay as they are.
  Known value_of(const session::Route& route);

 private:
  std::vector<Known> run(const session::BetweenCall& call);
  std::vector<Known> record(const c10::OperatorHandle& op, trace::FrameRef where,
                            torch::jit::Stack stack, const std::vector<trace::VarId>& vars);

  Sources sources_;
  std::map<const session::BetweenCall*, std::vector<Known>> results_;
  trace::Tape& tape_;
  trace::NodeId node_;
};

}  // namespace leapp::compile
