// Calls between nodes, run once more: on other values of the outputs that they begin with.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <vector>

#include "session/record/between.h"

namespace leapp::compile {

class Rerun {
 public:
  /// A tensor, and its variable where a tape is written.
  struct Known {
    at::Tensor tensor;
    trace::VarId var = trace::kNobody;
  };
  using Sources = std::map<session::PortId, Known>;

  explicit Rerun(Sources sources) : known_(std::move(sources)) {}
  /// Writes what runs to the tape, which must outlive it, as calls of the node.
  Rerun(Sources sources, trace::Tape& tape, trace::NodeId node)
      : known_(std::move(sources)), tape_(&tape), node_(node) {}

  /// What the route leads to; each call on it runs once. Throws c10::Error where they do not fit
  /// the values. What is written to is a copy: the sources stay as they are.
  Known value_of(const session::Route& route);

 private:
  std::vector<Known> run(const session::BetweenCall& call);
  Known constant_of(const at::Tensor& tensor);
  Known copy_of(const Known& known, const session::BetweenCall& call);
  std::vector<Known> record(const c10::OperatorHandle& op, trace::FrameRef where,
                            std::vector<c10::IValue> stack, const std::vector<Known>& tensors);
  void add_call(const c10::OperatorHandle& op, trace::FrameRef where,
                const std::vector<c10::IValue>& stack, const std::vector<Known>& tensors);

  Sources known_;
  std::map<const session::BetweenCall*, std::vector<Known>> results_;
  trace::Tape* tape_ = nullptr;
  trace::NodeId node_ = trace::kNobody;
};

}  // namespace leapp::compile
