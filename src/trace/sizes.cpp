#include "trace/sizes.h"

#include <algorithm>

#include "trace/op_traits.h"

namespace leapp::trace {
namespace {

// Returns the number of dimensions of y[indices].
std::int64_t indexed_rank(const at::Tensor& self, const c10::IValue& indices) {
  std::int64_t covered = 0;
  std::int64_t common = 0;
  for (const c10::IValue& item : indices.toListRef()) {
    if (!item.isTensor() || !item.toTensor().defined()) continue;
    const at::Tensor& index = item.toTensor();
    covered += is_mask(index) ? index.dim() : 1;
    common = std::max(common, is_mask(index) ? 1 : index.dim());
  }
  return self.dim() - covered + common;
}

}  // namespace

void SizeQuestion::answer(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  const auto returns = static_cast<std::ptrdiff_t>(op.schema().returns().size());
  returned_.assign(stack.end() - returns, stack.end());
  trial_ = try_other_sizes(op, arguments_, dynamic_, returned_);
  arguments_.clear();
}

bool SizeQuestion::note(Tape& tape) const {
  const std::vector<at::Tensor> returned = tensors_in(returned_.data(), returned_.size());
  bool any = false;
  for (std::size_t i = 0; i < returned.size(); ++i) {
    if (trial_.results[i] == 0 || !returned[i].defined()) continue;
    const auto var = tape.find(returned[i]);
    if (!var) continue;
    tape.variable(*var).dynamic = trial_.results[i];
    any = true;
  }
  return any;
}

std::optional<SizeQuestion> ask_sizes(Tape& tape, const c10::OperatorHandle& op,
                                      const c10::IValue* arguments,
                                      const std::function<bool(const at::Tensor&)>& is_state) {
  torch::jit::Stack given(arguments, arguments + op.schema().arguments().size());
  std::vector<DynamicDims> dynamic = dynamic_dims_of_arguments(
      op, given,
      [&](const at::Tensor& tensor) {
        const auto var = tape.find(tensor);
        return var ? tape.variable(*var).dynamic : 0;
      },
      [&](const at::Tensor& tensor) {
        const auto var = tape.find(tensor);
        return (var && tape.variable(*var).node != kNoId) || is_state(tensor);
      });
  if (dynamic.empty()) return std::nullopt;
  return SizeQuestion(std::move(given), std::move(dynamic));
}

bool writes_by_index(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  return name == "aten::index_put_" || name == "aten::index_put";
}

VarId before_squeeze(Tape& tape, const c10::IValue* arguments, VarId values) {
  static const c10::OperatorName view("aten::view", "");
  if (values == kNoId || tape.variable(values).call < 0) return values;
  Call& maker = tape.calls()[static_cast<std::size_t>(tape.variable(values).call)];
  if (maker.op.operator_name() != view) return values;
  const VarId source = tape.args_of(maker)[0].var;
  const at::Tensor before = source == kNoId ? at::Tensor() : tape.tensor(source);
  if (!before.defined()) return values;
  const auto sizes = arguments[2].toTensor().sizes();
  const std::int64_t lost = before.dim() - static_cast<std::int64_t>(sizes.size());
  if (lost <= 0 || before.dim() > indexed_rank(arguments[0].toTensor(), arguments[1])) {
    return values;
  }
  const auto all = before.sizes();
  const auto rest = all.begin() + lost;
  const bool ones = std::all_of(all.begin(), rest, [](std::int64_t size) { return size == 1; });
  if (!ones || !std::equal(rest, all.end(), sizes.begin(), sizes.end())) return values;
  maker.bypassed = &maker == &tape.calls().back();
  return source;
}

}  // namespace leapp::trace
