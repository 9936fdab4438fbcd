#include "session/alignment.h"

#include <algorithm>
#include <set>
#include <string>

#include "trace/recording.h"

namespace leapp::session {

namespace {

// TorchScript's executor puts these in once it has seen a function run, and PyTorch's indexing
// those that are passed over where it selects a single element.
bool changes_nothing(const trace::Call& call) {
  if (call.passed_over) return true;
  static const c10::OperatorName detach("aten::detach", "");
  static const c10::OperatorName alias("aten::alias", "");
  return call.op.operator_name() == detach || call.op.operator_name() == alias;
}

// Which calls of a list depend on no node's values: what they make is the same in every pass.
std::vector<bool> find_constant_calls(const CallList& list) {
  using Origin = trace::Variable::Origin;
  const trace::Tape& tape = list.tape;
  std::vector<bool> constant(tape.variable_count(), false);
  std::vector<bool> written(tape.store_count(), false);  // by a call that does depend on them
  const auto is_constant = [&](trace::VarId var) {
    const trace::Variable& variable = tape.variable(var);
    if (variable.store != trace::kNobody && written[static_cast<std::size_t>(variable.store)]) {
      return false;
    }
    return variable.origin == Origin::kOutside || constant[static_cast<std::size_t>(var)];
  };
  std::vector<bool> found;
  for (const std::int32_t index : list.calls) {
    const trace::Call& call = tape.calls()[static_cast<std::size_t>(index)];
    bool depends = false;
    trace::for_each_variable(tape, call, [&](trace::VarId var) { depends |= !is_constant(var); });
    depends = depends && call.node != trace::kNobody && !makes_constant(call.op);
    found.push_back(!depends);
    const trace::CallResult* results = tape.results_of(call);
    for (std::size_t i = 0; i < call.op.schema().returns().size(); ++i) {
      const auto mark = [&](trace::VarId var) {
        if (var == trace::kNobody) return;
        if (!depends) constant[static_cast<std::size_t>(var)] = true;
        // A result in memory that was there before has been written to, or shows what was.
        const auto store = tape.variable(var).store;
        if (depends && store != trace::kNobody) written[static_cast<std::size_t>(store)] = true;
      };
      if (!results[i].is_tensor) continue;
      if (!results[i].is_list) mark(results[i].var);
      for (std::int32_t k = 0; k < results[i].list_size; ++k) {
        mark(tape.list_item(results[i].list_begin + k));
      }
    }
  }
  return found;
}

}  // namespace

bool makes_constant(const c10::OperatorHandle& op) {
  static const std::set<std::string> names = {
      "aten::zeros_like", "aten::ones_like", "aten::full_like", "aten::empty_like",
      "aten::new_zeros",  "aten::new_ones",  "aten::new_full",  "aten::new_empty"};
  return names.count(op.schema().name()) > 0;
}

Alignment align(const CallList& first, const CallList& again) {
  Alignment found;
  const auto call_at = [](const CallList& list, std::size_t i) -> const trace::Call* {
    return i < list.calls.size() ? &list.tape.calls()[static_cast<std::size_t>(list.calls[i])]
                                 : nullptr;
  };
  const auto op_at = [](const CallList& list, std::int32_t i) -> const c10::OperatorHandle& {
    return list.tape.calls()[static_cast<std::size_t>(i)].op;
  };
  // As a rule a pass runs what the first one ran, and there is nothing to find out.
  if (std::equal(
          first.calls.begin(), first.calls.end(), again.calls.begin(), again.calls.end(),
          [&](std::int32_t a, std::int32_t b) { return op_at(first, a) == op_at(again, b); })) {
    for (std::size_t i = 0; i < first.calls.size(); ++i) {
      found.pairs.emplace_back(first.calls[i], again.calls[i]);
    }
    return found;
  }
  const std::vector<bool> first_constant = find_constant_calls(first);
  const std::vector<bool> again_constant = find_constant_calls(again);
  const auto may_be_missing = [](const trace::Call* call, const std::vector<bool>& constant,
                                 std::size_t i) {
    return call != nullptr && (constant[i] || changes_nothing(*call));
  };
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < first.calls.size() || j < again.calls.size()) {
    const trace::Call* a = call_at(first, i);
    const trace::Call* b = call_at(again, j);
    if (a != nullptr && b != nullptr && first_constant[i] == again_constant[j] &&
        a->op.operator_name() == b->op.operator_name()) {
      found.pairs.emplace_back(first.calls[i++], again.calls[j++]);
    } else if (may_be_missing(a, first_constant, i)) {
      ++i;
    } else if (may_be_missing(b, again_constant, j)) {
      ++j;
    } else {
      found.difference = {a == nullptr ? -1 : first.calls[i], b == nullptr ? -1 : again.calls[j]};
      return found;
    }
  }
  return found;
}

}  // namespace leapp::session
