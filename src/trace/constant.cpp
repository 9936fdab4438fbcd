#include "trace/constant.h"

#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>

#include <map>
#include <set>
#include <string>

#include "trace/recording.h"

namespace leapp::trace {
namespace {

using Origin = Variable::Origin;

// Replays the calls that compute a constant.
class Evaluator {
 public:
  explicit Evaluator(const Tape& tape) : tape_(tape) {}

  at::Tensor value_of(VarId var) {
    const auto it = values_.find(var);
    if (it != values_.end()) return it->second;
    return values_[var] = copy_of(tape_.content(var));
  }

  /// Repeats the call. Returns false if that is impossible.
  bool run(const Call& call) {
    if (call.is_inferred_view()) return false;
    torch::jit::Stack stack;
    const auto& declared = call.op.schema().arguments();
    for (std::size_t i = 0; i < declared.size(); ++i) {
      const std::optional<c10::IValue> value = argument(tape_.args_of(call)[i], declared[i]);
      if (!value) return false;
      stack.push_back(*value);
    }
    call.op.callBoxed(&stack);
    std::size_t next = 0;
    const std::vector<at::Tensor> made = tensors_in(stack.data(), stack.size());
    for_each_result(tape_, call, [&](VarId var) {
      if (var != kNoId) values_[var] = made.at(next);
      ++next;
    });
    return true;
  }

 private:
  std::optional<c10::IValue> argument(const Arg& arg, const c10::Argument& declared) {
    if (arg.kind == Arg::Kind::kValue) return arg.value;
    if (arg.kind == Arg::Kind::kTensor) {
      return arg.var == kNoId ? c10::IValue() : c10::IValue(value_of(arg.var));
    }
    if (declared.type()->str().find('?') != std::string::npos) return std::nullopt;
    c10::List<at::Tensor> list;
    for (std::int32_t k = 0; k < arg.list_size; ++k) {
      const VarId item = tape_.list_item(arg.list_begin + k);
      if (item == kNoId) return std::nullopt;  // an index with gaps
      list.push_back(value_of(item));
    }
    return list;
  }

  const Tape& tape_;
  std::map<VarId, at::Tensor> values_;
};

}  // namespace

bool makes_constant(const c10::OperatorHandle& op) {
  static const std::set<std::string> names = {
      "aten::zeros_like", "aten::ones_like", "aten::full_like", "aten::empty_like",
      "aten::new_zeros",  "aten::new_ones",  "aten::new_full",  "aten::new_empty"};
  return names.count(op.schema().name()) > 0;
}

bool is_constant(const Tape& tape, VarId var) {
  const Variable& variable = tape.variable(var);
  if (variable.origin == Origin::kOutside) return true;
  if (variable.origin != Origin::kResult || variable.call < 0) return false;
  const Call& call = tape.call(variable.call);
  return call.node == kNoId || makes_constant(call.op);
}

at::Tensor evaluate(const Tape& tape, VarId var) {
  if (is_outside_or_fresh(tape, var)) return copy_of(tape.content(var));
  Evaluator evaluator(tape);
  for (const std::int32_t index : slice(tape, {var})) {
    if (!evaluator.run(tape.call(index))) return {};
  }
  return copy_of(evaluator.value_of(var));
}

bool same_type(const at::Tensor& a, const at::Tensor& b) {
  return a.defined() && b.defined() && a.scalar_type() == b.scalar_type() &&
         a.sizes() == b.sizes() && a.device() == b.device();
}

bool same_value(const at::Tensor& a, const at::Tensor& b) {
  if (!same_type(a, b)) return false;
  // A weight, which does not have to be read.
  const bool in_place = a.has_storage() && b.has_storage() && a.strides() == b.strides() &&
                        a.const_data_ptr() == b.const_data_ptr();
  const bool may_be_nan = a.is_floating_point() || a.is_complex();
  return in_place || at::equal(a, b) ||
         (may_be_nan && at::allclose(a, b, 0, 0, /*equal_nan=*/true));
}

}  // namespace leapp::trace
