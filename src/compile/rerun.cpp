#include "compile/rerun.h"

#include "trace/functional.h"
#include "trace/op_traits.h"
#include "trace/wrapped_number.h"

namespace leapp::compile {

Rerun::Known Rerun::value_of(const session::Route& route) {
  if (!route.call) return known_.at(route.port);
  const auto done = results_.find(route.call.get());
  if (done != results_.end()) return done->second.at(route.result);
  return results_.emplace(route.call.get(), run(*route.call)).first->second.at(route.result);
}

std::vector<Rerun::Known> Rerun::run(const session::BetweenCall& call) {
  std::vector<Known> tensors;
  for (const std::optional<session::Route>& route : call.routes) {
    tensors.push_back(route ? value_of(*route) : Known{});
  }
  if (trace::traits_of(call.op).mutates) tensors.front() = copy_of(tensors.front(), call);
  std::vector<c10::IValue> stack;
  auto next = tensors.begin();
  for (const c10::IValue& argument : call.arguments) {
    stack.push_back(trace::map_tensors(argument, [&](const at::Tensor& constant) {
      if (!next->tensor.defined()) *next = constant_of(constant);
      return (next++)->tensor;
    }));
  }
  return record(call.op, call.where, std::move(stack), tensors);
}

Rerun::Known Rerun::constant_of(const at::Tensor& tensor) {
  const bool is_value = tape_ == nullptr || !tensor.defined() || trace::is_wrapped_number(tensor);
  return {tensor, is_value ? trace::kNobody : tape_->add_outside(tensor, true)};
}

Rerun::Known Rerun::copy_of(const Known& known, const session::BetweenCall& call) {
  static const auto clone = c10::Dispatcher::singleton().findSchemaOrThrow("aten::clone", "");
  return record(clone, call.where, {known.tensor, c10::IValue()}, {known}).front();
}

std::vector<Rerun::Known> Rerun::record(const c10::OperatorHandle& op, trace::FrameRef where,
                                        std::vector<c10::IValue> stack,
                                        const std::vector<Known>& tensors) {
  if (tape_ != nullptr) add_call(op, where, stack, tensors);
  op.callBoxed(&stack);
  std::vector<Known> results;
  for (const c10::IValue& result : stack) {
    if (tape_ != nullptr) tape_->add_result(result);
    trace::for_each_tensor(result, [&](const at::Tensor& tensor) {
      results.push_back({tensor, tape_ == nullptr ? trace::kNobody : *tape_->find(tensor)});
    });
  }
  return results;
}

void Rerun::add_call(const c10::OperatorHandle& op, trace::FrameRef where,
                     const std::vector<c10::IValue>& stack, const std::vector<Known>& tensors) {
  tape_->begin_call(op, where, node_);
  auto next = tensors.begin();
  for (const c10::IValue& argument : stack) {
    std::vector<trace::VarId> vars;
    trace::map_tensors(argument, [&](const at::Tensor& tensor) {
      vars.push_back((next++)->var);
      return tensor;
    });
    if (argument.isTensorList() || argument.isOptionalTensorList()) {
      tape_->add_tensor_list(vars);
    } else if (vars.empty() || vars.front() == trace::kNobody) {
      tape_->add_value(argument);
    } else {
      tape_->add_tensor(vars.front());
    }
  }
  if (trace::traits_of(op).mutates) tape_->note_write(tensors.front().var, node_);
}

}  // namespace leapp::compile
