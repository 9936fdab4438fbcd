// Small tapes for tests: operators that run and are recorded, in order.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "trace/op_traits.h"
#include "trace/tape.h"

namespace leapp::trace::testing {

inline c10::OperatorHandle find_op(const char* name, const char* overload) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
}

class TapeWriter {
 public:
  /// An input of node 0.
  VarId input(const at::Tensor& tensor) { return tape->add_input(tensor, 0); }

  /// Runs an operator with one result, without lists of tensors, and records it.
  at::Tensor call(const char* name, const char* overload, torch::jit::Stack stack) {
    const auto op = find_op(name, overload);
    const OpTraits& traits = traits_of(op);
    std::vector<VarId> vars;
    std::vector<VarId> written;
    NodeId node = kNobody;  // whose values it works on
    for (std::size_t i = 0; i < stack.size(); ++i) {
      vars.push_back(stack[i].isTensor() ? tape->use(stack[i].toTensor()) : kNobody);
      if (vars.back() != kNobody) node = std::max(node, tape->variable(vars.back()).node);
      if (!traits.writes[i]) continue;
      captures.before_write(stack[i].toTensor());
      written.push_back(vars.back());
    }
    tape->begin_call(op, {}, node);
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (vars[i] == kNobody) {
        tape->add_value(stack[i]);
      } else {
        tape->add_tensor(vars[i]);
      }
    }
    op.callBoxed(&stack);
    for (const VarId var : written) tape->note_write(var, node);
    tape->add_result(stack.back());
    return stack.back().toTensor();
  }

  at::Tensor mul(const at::Tensor& a, const at::Tensor& b) {
    return call("aten::mul", "Tensor", {a, b});
  }
  void add_in_place(const at::Tensor& a, const at::Tensor& b) {
    call("aten::add_", "Tensor", {a, b, 1});
  }
  void zero(const at::Tensor& a) { call("aten::zero_", "", {a}); }

  VarId var(const at::Tensor& tensor) const { return *tape->find(tensor); }

  CaptureTable captures;
  std::shared_ptr<Tape> tape = std::make_shared<Tape>(captures);
};

}  // namespace leapp::trace::testing
