#include "session/alignment.h"

#include <set>
#include <string>

namespace leapp::session {

namespace {

// TorchScript's executor puts these in once it has seen a function run.
bool changes_nothing(const trace::Call& call) {
  static const c10::OperatorName detach("aten::detach", "");
  static const c10::OperatorName alias("aten::alias", "");
  return call.op.operator_name() == detach || call.op.operator_name() == alias;
}

bool may_be_missing(const trace::Call* call) {
  return call != nullptr &&
         (call->node == trace::kNobody || changes_nothing(*call) || makes_constant(call->op));
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
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < first.calls.size() || j < again.calls.size()) {
    const trace::Call* a = call_at(first, i);
    const trace::Call* b = call_at(again, j);
    if (a != nullptr && b != nullptr &&
        (a->node == trace::kNobody) == (b->node == trace::kNobody) &&
        a->op.operator_name() == b->op.operator_name()) {
      found.pairs.emplace_back(first.calls[i++], again.calls[j++]);
    } else if (may_be_missing(a)) {
      ++i;
    } else if (may_be_missing(b)) {
      ++j;
    } else {
      found.difference = {a == nullptr ? -1 : first.calls[i], b == nullptr ? -1 : again.calls[j]};
      return found;
    }
  }
  return found;
}

}  // namespace leapp::session
