// Small tapes for tests: runs operators and records them, in order.
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
  /// Adds an input of node 0.
  VarId input(const at::Tensor& tensor) { return tape->add_input(tensor, 0); }

  /// Runs an operator with one result, without lists of tensors, and records it.
  at::Tensor call(const char* name, const char* overload, torch::jit::Stack stack) {
    const auto op = find_op(name, overload);
    const OpTraits& traits = traits_of(op);
    std::vector<Arg> arguments;
    std::vector<VarId> written;
    NodeId node = kNoId;  // nodes whose values it reads
    for (std::size_t i = 0; i < stack.size(); ++i) {
      arguments.push_back(tape->argument_of(stack[i], [&](const at::Tensor& tensor) {
        const VarId var = tape->use(tensor);
        node = std::max(node, tape->variable(var).node);
        if (traits.writes[i]) {
          captures.before_write(tensor);
          written.push_back(var);
        }
        return var;
      }));
    }
    op.callBoxed(&stack);
    tape->append(op, {}, node, arguments, written, stack);
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
