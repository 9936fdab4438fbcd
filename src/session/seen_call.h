// One call of an operator, as the recorder sees it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <span>

#include "session/record/between.h"
#include "trace/op_traits.h"
#include "trace/source.h"

namespace leapp::session {

/// Refers to the stack, whose top is the arguments before the operator runs and the results
/// afterwards.
struct SeenCall {
  const trace::OpTraits& traits;
  const c10::OperatorHandle& op;  ///< the variant that is recorded
  const torch::jit::Stack& stack;
  trace::FrameRef frame = {};

  std::span<const c10::IValue> arguments() const {
    return std::span(stack).last(traits.writes.size());
  }
  std::span<const c10::IValue> results() const {
    return std::span(stack).last(op.schema().returns().size());
  }
  Detour detour() const { return {op.schema().name(), frame}; }
};

}  // namespace leapp::session
