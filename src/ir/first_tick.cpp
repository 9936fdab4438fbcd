#include "ir/first_tick.h"

#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "base/check.h"
#include "ir/selection.h"

namespace leapp::ir {
namespace {

class Chooser {
 public:
  Chooser(Graph& rest, const Graph& first, ValueId flag)
      : rest_(rest), first_(first), flag_(flag), imported_(first.value_count(), kNoValue) {}

  // Returns a value that is `one` in the first tick and `other` in all later ones.
  ValueId choose(ValueId one, ValueId other) {
    if (one == kNoValue || other == kNoValue) {
      demand(one == other, "a value exists in one tick but not in another");
      return kNoValue;
    }
    const auto known = chosen_.find({one, other});
    if (known != chosen_.end()) return known->second;
    ValueId found = kNoValue;
    if (are_same(one, other)) {
      found = other;
    } else if (const auto* both = merged(one, other)) {
      found = *both;
    } else {
      found = select(imported(one), other);
    }
    chosen_[{one, other}] = found;
    return found;
  }

 private:
  const Op& producer(const Graph& graph, ValueId id) const {
    return graph.ops()[static_cast<std::size_t>(graph.value(id).index)];
  }

  // Inputs, and constants of the same bytes.
  bool are_same(ValueId one, ValueId other) const {
    const Value& a = first_.value(one);
    const Value& b = rest_.value(other);
    if (a.kind != b.kind || a.type != b.type) return false;
    if (a.kind == ValueKind::kInput) return a.index == b.index;
    if (a.kind != ValueKind::kConstant) return false;
    const Blob& left = first_.blob(one);
    const Blob& right = rest_.blob(other);
    return left.data == right.data ||
           std::memcmp(left.data.get(), right.data.get(), left.byte_size()) == 0;
  }

  // A result of an operator that runs in both ticks.
  const ValueId* merged(ValueId one, ValueId other) {
    if (first_.value(one).kind != ValueKind::kResult ||
        rest_.value(other).kind != ValueKind::kResult) {
      return nullptr;
    }
    const auto at = std::pair(first_.value(one).index, rest_.value(other).index);
    auto known = ops_.find(at);
    if (known == ops_.end()) known = ops_.emplace(at, merge(at.first, at.second)).first;
    if (!known->second) return nullptr;
    const Op& op = producer(first_, one);
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      for (std::size_t v = 0; v < op.results[r].values.size(); ++v) {
        if (op.results[r].values[v] != one) continue;
        return &(*known->second)[r].values[v];
      }
    }
    return nullptr;
  }

  std::optional<std::vector<Result>> merge(std::int32_t one, std::int32_t other) {
    const Op op = first_.ops()[static_cast<std::size_t>(one)];
    const Op counterpart = rest_.ops()[static_cast<std::size_t>(other)];
    if (!run_the_same(op, counterpart)) return std::nullopt;
    Op both = counterpart;
    for (std::size_t i = 0; i < both.arguments.size(); ++i) {
      if (auto* ref = std::get_if<ValueRef>(&both.arguments[i])) {
        ref->id = choose(std::get<ValueRef>(op.arguments[i]).id, ref->id);
      } else if (auto* refs = std::get_if<std::vector<ValueRef>>(&both.arguments[i])) {
        const auto& ones = std::get<std::vector<ValueRef>>(op.arguments[i]);
        for (std::size_t k = 0; k < refs->size(); ++k) {
          (*refs)[k].id = choose(ones[k].id, (*refs)[k].id);
        }
      }
    }
    if (both.arguments == counterpart.arguments) return counterpart.results;
    for (Result& result : both.results) {
      for (ValueId& id : result.values) {
        if (id != kNoValue) id = rest_.add_result(rest_.type(id));
      }
    }
    rest_.append(both);
    return both.results;
  }

  bool fit(ValueId one, ValueId other) const {
    if (one == kNoValue || other == kNoValue) return one == other;
    return first_.type(one) == rest_.type(other);
  }

  // Returns whether two operations are equal except for the values of their tensors.
  bool run_the_same(const Op& op, const Op& counterpart) const {
    if (op.signature->qualified_name() != counterpart.signature->qualified_name()) return false;
    if (op.fixed_size || counterpart.fixed_size) return false;
    for (std::size_t i = 0; i < op.arguments.size(); ++i) {
      const Argument& a = op.arguments[i];
      const Argument& b = counterpart.arguments[i];
      if (a.index() != b.index()) return false;
      if (const auto* ref = std::get_if<ValueRef>(&a)) {
        if (!fit(ref->id, std::get<ValueRef>(b).id)) return false;
      } else if (const auto* refs = std::get_if<std::vector<ValueRef>>(&a)) {
        const auto& others = std::get<std::vector<ValueRef>>(b);
        if (refs->size() != others.size()) return false;
        for (std::size_t k = 0; k < refs->size(); ++k) {
          if (!fit((*refs)[k].id, others[k].id)) return false;
        }
      } else if (a != b) {
        return false;
      }
    }
    for (std::size_t r = 0; r < op.results.size(); ++r) {
      if (op.results[r].values.size() != counterpart.results[r].values.size()) return false;
      for (std::size_t v = 0; v < op.results[r].values.size(); ++v) {
        if (!fit(op.results[r].values[v], counterpart.results[r].values[v])) return false;
      }
    }
    return true;
  }

  // Copies a value of the first tick into `rest_`, with everything that it depends on.
  ValueId imported(ValueId id) {
    if (id == kNoValue) return id;
    ValueId& known = imported_[static_cast<std::size_t>(id)];
    if (known != kNoValue) return known;
    const Value& value = first_.value(id);
    if (value.kind == ValueKind::kInput) {
      return known = rest_.inputs()[static_cast<std::size_t>(value.index)];
    }
    if (value.kind == ValueKind::kConstant) {
      return known = rest_.add_constant(value.name, first_.blob(id));
    }
    Op op = producer(first_, id);
    for (Argument& argument : op.arguments) {
      for_each_ref(argument, [&](ValueRef& ref) { ref.id = imported(ref.id); });
    }
    for (Result& result : op.results) {
      for (ValueId& made : result.values) {
        if (made == kNoValue) continue;
        const ValueId now = rest_.add_result(first_.type(made));
        imported_[static_cast<std::size_t>(made)] = now;
        made = now;
      }
    }
    rest_.append(std::move(op));
    return imported_[static_cast<std::size_t>(id)];
  }

  ValueId select(ValueId one, ValueId other) {
    demand(rest_.type(one) == rest_.type(other), "a value has a different type in the first tick");
    Op op;
    op.signature = where_signature();
    op.arguments = {ValueRef{flag_}, ValueRef{one}, ValueRef{other}};
    const ValueId result = rest_.add_result(rest_.type(other));
    op.results = {{false, {result}}};
    if (rest_.value(other).kind == ValueKind::kResult) op.source = producer(rest_, other).source;
    rest_.append(std::move(op));
    return result;
  }

  Graph& rest_;
  const Graph& first_;
  ValueId flag_;
  std::vector<ValueId> imported_;  // values of the first tick, in `rest_`
  std::map<TickPair, ValueId> chosen_;
  std::map<std::pair<std::int32_t, std::int32_t>, std::optional<std::vector<Result>>> ops_;
};

}  // namespace

std::vector<ValueId> choose_by_tick(Graph& rest, const Graph& first, ValueId flag,
                                    const std::vector<TickPair>& pairs) {
  Chooser chooser(rest, first, flag);
  std::vector<ValueId> found;
  for (const auto& [one, other] : pairs) found.push_back(chooser.choose(one, other));
  return found;
}

}  // namespace leapp::ir
