#include "trace/alignment.h"

#include <algorithm>
#include <set>
#include <string>

#include "trace/argument.h"
#include "trace/constant.h"
#include "trace/recording.h"

namespace leapp::trace {

namespace {

// TorchScript's executor inserts these after it has seen a function run, and PyTorch's indexing
// inserts some that it omits when it selects a single element.
bool changes_nothing(const Call& call) {
  if (call.bypassed) return true;
  static const c10::OperatorName detach("aten::detach", "");
  static const c10::OperatorName alias("aten::alias", "");
  return call.op.operator_name() == detach || call.op.operator_name() == alias;
}

// Finds the calls of a list that depend on no node's values, so their results are the same in every
// pass.
std::vector<bool> find_constant_calls(const CallList& list) {
  using Origin = Variable::Origin;
  const Tape& tape = list.tape;
  std::vector<bool> constant(tape.variable_count(), false);
  std::vector<bool> written(tape.store_count(), false);  // made by a call that does depend on them
  const auto is_constant_here = [&](VarId var) {
    const Variable& variable = tape.variable(var);
    if (variable.store != kNoId && written[static_cast<std::size_t>(variable.store)]) {
      return false;
    }
    return variable.origin == Origin::kOutside || constant[static_cast<std::size_t>(var)];
  };
  std::vector<bool> found;
  for (const std::int32_t index : list.calls) {
    const Call& call = tape.call(index);
    bool depends = false;
    for_each_variable(tape, call, [&](VarId var) { depends |= !is_constant_here(var); });
    depends = depends && call.node != kNoId && !makes_constant(call.op);
    found.push_back(!depends);
    for_each_result(tape, call, [&](VarId var) {
      if (var == kNoId) return;
      if (!depends) constant[static_cast<std::size_t>(var)] = true;
      // A result in memory that existed before was written to, or shows the earlier content.
      const auto store = tape.variable(var).store;
      if (depends && store != kNoId) written[static_cast<std::size_t>(store)] = true;
    });
  }
  return found;
}

// Returns whether two calls of one operator use the same numbers and the same external tensors.
bool have_same_constants(const Tape& first, const Call& was, const Tape& again, const Call& is) {
  const auto memory_at = [](const Tape& tape, VarId var) {
    const bool outside = var != kNoId && tape.variable(var).origin == Variable::Origin::kOutside;
    return outside ? memory_of(tape.variable(var).held) : nullptr;
  };
  for (std::size_t k = 0; k < was.op.schema().arguments().size(); ++k) {
    const Arg& a = first.args_of(was)[k];
    const Arg& b = again.args_of(is)[k];
    if (a.kind != b.kind || a.list_size != b.list_size) return false;
    if (a.kind == Arg::Kind::kValue && !same_argument(a.value, b.value)) return false;
    if (a.kind == Arg::Kind::kTensor && memory_at(first, a.var) != memory_at(again, b.var)) {
      return false;
    }
  }
  return true;
}

class Aligner {
 public:
  Aligner(const CallList& first, const CallList& again) : first_(first), again_(again) {}

  Alignment run(bool past_differences) {
    // Normally a pass runs the same calls as the first one, and no search is needed.
    if (std::equal(first_.calls.begin(), first_.calls.end(), again_.calls.begin(),
                   again_.calls.end(), [&](std::int32_t a, std::int32_t b) {
                     return first_.tape.call(a).op == again_.tape.call(b).op;
                   })) {
      for (std::size_t k = 0; k < first_.calls.size(); ++k) {
        found_.pairs.emplace_back(first_.calls[k], again_.calls[k]);
      }
      return std::move(found_);
    }
    first_constant_ = find_constant_calls(first_);
    again_constant_ = find_constant_calls(again_);
    while (i_ < first_.calls.size() || j_ < again_.calls.size()) {
      if (fit(i_, j_)) {
        found_.pairs.emplace_back(first_.calls[i_++], again_.calls[j_++]);
      } else if (is_ours(first_, first_constant_, i_)) {
        ++i_;
      } else if (is_ours(again_, again_constant_, j_)) {
        ++j_;
      } else if (may_be_missing(first_, first_constant_, i_)) {
        ++i_;
      } else if (may_be_missing(again_, again_constant_, j_)) {
        ++j_;
      } else {
        note_difference();
        if (!past_differences) break;
        meet_again();
      }
    }
    return std::move(found_);
  }

 private:
  static const Call* call_at(const CallList& list, std::size_t i) {
    return i < list.calls.size() ? &list.tape.call(list.calls[i]) : nullptr;
  }

  bool fit(std::size_t i, std::size_t j) const {
    const Call* a = call_at(first_, i);
    const Call* b = call_at(again_, j);
    if (a == nullptr || b == nullptr || first_constant_[i] != again_constant_[j]) return false;
    if (a->op.operator_name() != b->op.operator_name()) return false;
    // The same operator at another line of the program may do something different.
    return a->frame == b->frame || have_same_constants(first_.tape, *a, again_.tape, *b);
  }

  // An alias that only one of the passes has is not an operator, and says nothing about the
  // following ones.
  static bool is_ours(const CallList& list, const std::vector<bool>& constant, std::size_t i) {
    const Call* call = call_at(list, i);
    return call != nullptr && constant[i] && call->is_inferred_alias();
  }

  static bool may_be_missing(const CallList& list, const std::vector<bool>& constant,
                             std::size_t i) {
    const Call* call = call_at(list, i);
    return call != nullptr && (constant[i] || changes_nothing(*call));
  }

  void note_difference() {
    if (found_.difference) return;
    found_.difference = {i_ < first_.calls.size() ? first_.calls[i_] : -1,
                         j_ < again_.calls.size() ? again_.calls[j_] : -1};
  }

  // Skips as few calls as possible until two consecutive operators are equal, or both lists end.
  void meet_again() {
    const auto meet = [&](std::size_t i, std::size_t j) {
      const bool ends = i >= first_.calls.size() && j >= again_.calls.size();
      const bool next_ends = i + 1 == first_.calls.size() && j + 1 == again_.calls.size();
      return ends || (fit(i, j) && (next_ends || fit(i + 1, j + 1)));
    };
    constexpr std::size_t kMostSkipped = 64;
    for (std::size_t skipped = 1; skipped <= kMostSkipped; ++skipped) {
      for (std::size_t of_first = 0; of_first <= skipped; ++of_first) {
        const std::size_t i = i_ + of_first;
        const std::size_t j = j_ + skipped - of_first;
        if (i > first_.calls.size() || j > again_.calls.size() || !meet(i, j)) continue;
        go_to(i, j);
        return;
      }
    }
    go_to(first_.calls.size(), again_.calls.size());
  }

  void go_to(std::size_t i, std::size_t j) {
    for (; j_ < j; ++j_) found_.added.push_back(again_.calls[j_]);
    i_ = i;
  }

  const CallList& first_;
  const CallList& again_;
  std::vector<bool> first_constant_;
  std::vector<bool> again_constant_;
  std::size_t i_ = 0;
  std::size_t j_ = 0;
  Alignment found_;
};

}  // namespace

Alignment align(const CallList& first, const CallList& again) {
  return Aligner(first, again).run(false);
}

Alignment align_past_differences(const CallList& first, const CallList& again) {
  return Aligner(first, again).run(true);
}

std::optional<std::int32_t> find_added_call(const Tape& again, const Alignment& aligned) {
  if (aligned.added.empty()) return std::nullopt;
  std::set<VarId> used;
  for (const auto& [_, index] : aligned.pairs) {
    for_each_variable(again, again.call(index), [&](VarId var) { used.insert(var); });
  }
  for (const std::int32_t index : aligned.added) {
    bool counts = false;
    for_each_result(again, again.call(index), [&](VarId var) {
      if (var == kNoId) return;
      counts |= used.count(var) > 0 || again.variable(var).survives;
    });
    if (counts) return index;
  }
  return std::nullopt;
}

void pair_results(const Tape& first, const Call& was, const Tape& again, const Call& is,
                  std::vector<VarId>& as_first) {
  std::vector<VarId> there;
  for_each_result(first, was, [&](VarId var) { there.push_back(var); });
  std::size_t next = 0;
  for_each_result(again, is, [&](VarId var) {
    const VarId old = next < there.size() ? there[next] : kNoId;
    if (old != kNoId && var != kNoId) as_first[static_cast<std::size_t>(var)] = old;
    ++next;
  });
}

}  // namespace leapp::trace
