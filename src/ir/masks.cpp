#include "ir/masks.h"

#include <algorithm>
#include <set>

#include "ir/one_hot.h"
#include "ir/passes.h"
#include "ir/rows.h"
#include "ir/selected_puts.h"
#include "ir/selected_sums.h"
#include "ir/selection.h"

namespace leapp::ir {
namespace {

const std::shared_ptr<const Signature>& not_zero_signature() {
  static const auto known =
      signature_of("aten::ne", "Scalar", {{"self", "Tensor"}, {"other", "Scalar"}});
  return known;
}

const std::shared_ptr<const Signature>& and_signature() {
  static const auto known =
      signature_of("aten::logical_and", "", {{"self", "Tensor"}, {"other", "Tensor"}});
  return known;
}

// The places of all elements of a tensor of that shape, a row for each.
std::vector<std::int64_t> places_in(const Shape& shape) {
  const std::int64_t count = element_count(shape);
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t stride = count;
    for (const std::int64_t size : shape) {
      stride /= size;
      places.push_back(i / stride % size);
    }
  }
  return places;
}

class Spreader {
 public:
  Spreader(Graph& graph, Spread spread)
      : graph_(graph), spread_(spread), rows_(spread == Spread::kRows), selections_(graph) {}

  void run() {
    const std::vector<Op> ops = graph_.ops();
    for (const Op& given : ops) {
      Op op = given;
      settle(op);
      if (pick_one_each(selections_, op)) {
        settled_.insert(op.result());
        continue;
      }
      if (replace_put(selections_, op, spread_)) continue;
      if (replace_reduction(selections_, op, spread_)) continue;
      const bool taken = rows_ && take_as_many(op);
      selections_.push(op);
      if (!taken && !follow(op)) note_what_is_made(op);
    }
    if (settled_.empty() && !selections_.any()) return;
    graph_.set_ops(selections_.take_ops());
    remove_dead_code(graph_);
  }

 private:
  const Shape& shape_of(ValueId id) const { return graph_.type(id).shape; }

  template <typename Condition>
  static bool any_value(const Op& op, Condition&& condition) {
    bool any = false;
    for (const Argument& argument : op.arguments) {
      for_each_value(argument, [&](ValueId id) { any = any || condition(id); });
    }
    return any;
  }

  bool touches_selection(const Op& op) const {
    return any_value(op, [&](ValueId id) { return !selections_.is_plain(id); });
  }

  // Whatever else is made of a selection may be as large as that.
  void note_what_is_made(const Op& op) {
    if (!touches_selection(op)) return;
    for (const Result& result : op.results) {
      for (const ValueId id : result.values) selections_.note_unknown(id);
    }
  }

  // What is made of selections that always have one element for each row has a size as well.
  void settle(Op& op) {
    if (!any_value(op, [&](ValueId id) { return settled_.count(id) > 0; })) return;
    if (touches_selection(op)) return;
    op.fixed_size = false;
    for (const Result& result : op.results) {
      settled_.insert(result.values.begin(), result.values.end());
    }
  }

  // An operator that works with as many as there are now is given that many.
  bool take_as_many(Op& op) {
    if (!op.fixed_size) return false;
    const bool any = any_value(op, [&](ValueId id) { return selections_.find(id) != nullptr; });
    // One element is repeated where there are more of the others: then it is not the only number.
    const bool repeats = is_pointwise(op.signature->name, true);
    const bool known = !any_value(op, [&](ValueId id) {
      const Selection* here = selections_.find(id);
      if (here == nullptr) return selections_.is_unknown(id);
      const std::int64_t count = element_count(shape_of(id));
      return count == 0 || (repeats && here->shaped && shape_of(id)[here->before] == 1) ||
             here->column != Selection::kValues;
    });
    if (!any || !known) return false;
    const auto take = [&](ValueRef& ref) {
      const Selection* found = selections_.find(ref.id);
      if (found == nullptr) return;
      const Selection here = *found;
      ref.id = selections_.taken(here, graph_.type(ref.id), op);
    };
    for (Argument& argument : op.arguments) {
      if (auto* ref = std::get_if<ValueRef>(&argument)) take(*ref);
      if (auto* list = std::get_if<std::vector<ValueRef>>(&argument)) {
        std::for_each(list->begin(), list->end(), take);
      }
    }
    return true;
  }

  // Notes what the op selects, or makes of a selection; false where it is something else.
  bool follow(const Op& op) {
    const std::string name = op.signature->qualified_name();
    if (name == "aten::index.Tensor") return follow_index(op);
    if (rows_ && follow_search(op, name)) return true;
    const Selection* of = nullptr;
    bool known = true;
    for (const Argument& argument : op.arguments) {
      for_each_value(argument, [&](ValueId id) {
        known = known && !selections_.is_unknown(id);
        const Selection* here = selections_.find(id);
        if (here == nullptr) return;
        known = known && (of == nullptr || here->mask == of->mask);
        of = here;
      });
    }
    if (of == nullptr || !known) return false;
    const Selection base = *of;
    if (follow_elements(op, base) || (rows_ && follow_rows(op, base))) return true;
    if (rows_ && base.column == Selection::kPlaces && follow_only_place(op, base)) return true;
    if (op.signature->name != "aten::reshape" && op.signature->name != "aten::view") return false;
    const ValueId self = tensor_in(op.arguments.at(0));
    if (element_count(shape_of(op.result())) != element_count(shape_of(self))) return false;
    Selection other = base;
    other.shaped = false;
    other.column = Selection::kValues;
    selections_.note(op.result(), other);
    return true;
  }

  bool follow_index(const Op& op) {
    const ValueId self = tensor_in(op.argument("self"));
    if (follow_nested(op, self)) return true;
    const MaskedPlace place = selections_.place_of(op);
    if (place.mask == kNoValue || !selections_.is_plain(self)) return false;
    const std::size_t masked = shape_of(place.mask).size();
    if (shape_of(op.result()).size() + masked != shape_of(self).size() + 1) return false;
    // The places themselves, where it selects from 0, 1, 2, ..
    const int column = rows_ && masked == 1 && counts_up(self) ? 0 : Selection::kValues;
    selections_.note(op.result(), {place.mask, self, place.before, true, false, column});
    return true;
  }

  // x[m][n], with n made of what m selects.
  bool follow_nested(const Op& op, ValueId self) {
    const auto* indices = std::get_if<std::vector<ValueRef>>(&op.argument("indices"));
    const Selection* outer = selections_.find(self);
    if (outer == nullptr || indices == nullptr || indices->size() != 1) return false;
    const Selection* inner = selections_.find(indices->front().id);
    if (inner == nullptr || inner->mask != outer->mask || !inner->shaped || !outer->shaped ||
        inner->before + outer->before > 0 || !selections_.rest_of(*inner).empty() ||
        graph_.type(inner->full).dtype != DType::kBool) {
      return false;
    }
    const Selection of = *outer;
    const Selection by = *inner;
    const ValueId first = selections_.reshaped(of.mask, {element_count(shape_of(of.mask))}, op);
    const ValueId second = selections_.flattened(by, op);
    const ValueId both = selections_.append(and_signature(), {ValueRef{first}, ValueRef{second}},
                                            graph_.type(second), op);
    selections_.note(op.result(), {both, selections_.flattened(of, op)});
    return true;
  }

  bool counts_up(ValueId id) const {
    if (!graph_.is_constant(id) || graph_.type(id).dtype != DType::kInt64) return false;
    if (shape_of(id).size() != 1) return false;
    const auto* numbers = graph_.blob(id).as<std::int64_t>();
    for (std::int64_t i = 0; i < shape_of(id)[0]; ++i) {
      if (numbers[i] != i) return false;
    }
    return true;
  }

  // masked_select(), nonzero(), and index_select() at the places that were found.
  bool follow_search(const Op& op, const std::string& name) {
    const ValueId self = op.arguments.empty() ? kNoValue : tensor_in(op.arguments[0]);
    if (!selections_.is_plain(self)) return false;
    if (name == "aten::index_select") {
      const MaskedPlace place = selections_.place_along(op);
      if (place.mask == kNoValue) return false;
      selections_.note(op.result(), {place.mask, self, place.before});
      return true;
    }
    if (name == "aten::masked_select") {
      const ValueId mask = tensor_in(op.argument("mask"));
      if (!selections_.is_plain(mask) || graph_.is_constant(mask) ||
          shape_of(mask) != shape_of(self)) {
        return false;
      }
      selections_.note(op.result(), {mask, self});
      return true;
    }
    if (name != "aten::nonzero" && name != "aten::argwhere") return false;
    const Shape& shape = shape_of(self);
    if (shape.empty() || element_count(shape) == 0) return false;
    ValueId mask = self;
    if (graph_.type(self).dtype != DType::kBool) {
      TensorType type = graph_.type(self);
      type.dtype = DType::kBool;
      mask = selections_.append(not_zero_signature(), {ValueRef{self}, std::int64_t{0}},
                                std::move(type), op);
    }
    const auto columns = static_cast<std::int64_t>(shape.size());
    const ValueId places =
        selections_.integers(places_in(shape_of(self)), {element_count(shape), columns});
    selections_.note(op.result(), {mask, places, 0, true, true, Selection::kPlaces});
    return true;
  }

  // squeeze() without a dimension: drops that of the places too where there is one.
  bool follow_only_place(const Op& op, const Selection& base) {
    if (op.signature->qualified_name() != "aten::squeeze") return false;
    const Shape& mask = shape_of(base.mask);
    if (mask.size() != 1 || !base.shaped) return false;
    const ValueId places = selections_.reshaped(base.full, mask, op);
    const bool whole = shape_of(op.result()).size() == 1;
    selections_.note(op.result(), {base.mask, places, 0, whole, true, 0});
    return true;
  }

  // What works element by element.
  bool follow_elements(const Op& op, const Selection& base) {
    if (op.results.size() != 1 || op.results[0].is_list) return false;
    const TensorType& type = graph_.type(op.result());
    if (!base.shaped || !is_pointwise(op.signature->name, is_float(type.dtype))) return false;
    const std::size_t behind = selections_.rest_of(base).size();
    if (type.shape.size() < behind + 1) return false;
    const std::size_t before = type.shape.size() - behind - 1;
    bool flat = false;
    for (const Argument& argument : op.arguments) {
      if (std::holds_alternative<std::vector<ValueRef>>(argument)) return false;
      const ValueId id = tensor_in(argument);
      const Selection* here = selections_.find(id);
      if (here != nullptr) {
        if (!here->shaped || selections_.rest_of(*here).size() != behind) return false;
        flat = flat || here->flat;
      } else if (id != kNoValue && !is_same_for_all(id, behind)) {
        return false;
      }
    }
    std::vector<Argument> arguments = op.arguments;
    for (Argument& argument : arguments) {
      auto* ref = std::get_if<ValueRef>(&argument);
      if (ref == nullptr || ref->id == kNoValue) continue;
      if (const Selection* other = selections_.find(ref->id)) {
        const Selection here = *other;
        ref->id = flat ? selections_.flattened(here, op) : here.full;
      } else if (!flat && shape_of(ref->id).size() > behind) {  // one dimension for the mask's
        const Shape given = shape_of(ref->id);
        const auto at = given.end() - static_cast<std::ptrdiff_t>(behind);
        Shape wide(given.begin(), at);
        wide.insert(wide.end(), shape_of(base.mask).size() - 1, 1);
        wide.insert(wide.end(), at, given.end());
        ref->id = selections_.reshaped(ref->id, wide, op);
      }
    }
    TensorType wide = type;
    Shape masked = shape_of(base.mask);
    if (flat) masked = {element_count(masked)};
    const auto at = type.shape.begin() + static_cast<std::ptrdiff_t>(before);
    wide.shape.assign(type.shape.begin(), at);
    wide.shape.insert(wide.shape.end(), masked.begin(), masked.end());
    wide.shape.insert(wide.shape.end(), at + 1, type.shape.end());
    const bool copies = op.signature->name == "aten::_to_copy" || op.signature->name == "aten::to";
    const int column = copies && type.dtype == DType::kInt32 ? base.column : Selection::kValues;
    const ValueId all = selections_.append(op.signature, std::move(arguments), std::move(wide), op);
    selections_.note(op.result(), {base.mask, all, before, true, flat, column});
    return true;
  }

  // Whether a tensor that is no selection gives each selected element the same.
  bool is_same_for_all(ValueId id, std::size_t behind) const {
    const Shape& given = shape_of(id);
    if (given.size() <= behind) return true;
    if (element_count(given) == 1 && given.size() <= 1) return true;
    return rows_ && given[given.size() - 1 - behind] == 1;
  }

  // What works row by row.
  bool follow_rows(const Op& op, const Selection& base) {
    const auto is_selected = [&](ValueId id) { return selections_.find(id) != nullptr; };
    if (!works_by_rows(graph_, op, is_selected)) return false;
    int column = Selection::kValues;
    const bool first = !any_value(op, [&](ValueId id) {
      const Selection* here = selections_.find(id);
      if (here != nullptr) column = here->column;
      return here != nullptr && (!here->shaped || here->before > 0);
    });
    if (!first) return false;
    for (const Result& result : op.results) {
      for (const ValueId id : result.values) {
        if (id != kNoValue && shape_of(id).empty()) return false;
      }
    }
    std::vector<Argument> arguments = op.arguments;
    const auto widen = [&](ValueRef& ref) {
      if (!is_selected(ref.id)) return;
      const Selection here = *selections_.find(ref.id);
      ref.id = selections_.flattened(here, op);
    };
    for (Argument& argument : arguments) {
      if (auto* ref = std::get_if<ValueRef>(&argument)) widen(*ref);
      if (auto* list = std::get_if<std::vector<ValueRef>>(&argument)) {
        std::for_each(list->begin(), list->end(), widen);
      }
    }
    const std::int64_t count = element_count(shape_of(base.mask));
    std::vector<Result> results;
    for (const Result& result : op.results) {
      results.push_back({result.is_list, {}});
      for (std::size_t i = 0; i < result.values.size(); ++i) {
        const ValueId id = result.values[i];
        if (id == kNoValue) {
          results.back().values.push_back(kNoValue);
          continue;
        }
        TensorType wide = graph_.type(id);
        wide.shape[0] = count;
        const ValueId all = graph_.add_result(std::move(wide));
        results.back().values.push_back(all);
        selections_.note(id, {base.mask, all, 0, true, true, column_of(op, base, column, i)});
      }
    }
    selections_.push(
        {op.signature, std::move(arguments), std::move(results), op.source, op.module_path});
    return true;
  }

  // Which column of the places a result is.
  int column_of(const Op& op, const Selection& base, int from, std::size_t item) const {
    static const std::set<std::string> joins_dims = {"aten::squeeze", "aten::flatten",
                                                     "aten::reshape", "aten::view"};
    const std::string& name = op.signature->name;
    const auto columns = static_cast<std::int64_t>(shape_of(base.mask).size());
    if (from == Selection::kValues) return from;
    if (from != Selection::kPlaces) return Selection::kValues;
    if (name == "aten::unbind") return static_cast<int>(item);
    if (name == "aten::select") {
      const auto* index = std::get_if<std::int64_t>(&op.argument("index"));
      if (index != nullptr) return static_cast<int>(*index < 0 ? *index + columns : *index);
    }
    const bool only_one = columns == 1 && shape_of(op.result()).size() == 1;
    return only_one && joins_dims.count(name) > 0 ? 0 : Selection::kValues;
  }

  Graph& graph_;
  Spread spread_;
  bool rows_;
  Selections selections_;
  std::set<ValueId> settled_;  // made of what has one element for each row
};

}  // namespace

void spread_selections(Graph& graph, Spread spread) {
  Spreader(graph, spread).run();
}

}  // namespace leapp::ir
