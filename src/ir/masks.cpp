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

// The positions of all elements of a tensor of that shape, a row for each.
std::vector<std::int64_t> positions_in(const Shape& shape) {
  const std::int64_t count = element_count(shape);
  std::vector<std::int64_t> positions;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t stride = count;
    for (const std::int64_t size : shape) {
      stride /= size;
      positions.push_back(i / stride % size);
    }
  }
  return positions;
}

bool is_arange(const Graph& graph, ValueId id) {
  if (!graph.is_constant(id) || graph.type(id).dtype != DType::kInt64) return false;
  const Shape& shape = graph.type(id).shape;
  if (shape.size() != 1) return false;
  const auto* numbers = graph.blob(id).as<std::int64_t>();
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    if (numbers[i] != i) return false;
  }
  return true;
}

template <typename Condition>
bool any_value(const Op& op, Condition&& condition) {
  bool any = false;
  for (const Argument& argument : op.arguments) {
    for_each_value(argument, [&](ValueId id) { any = any || condition(id); });
  }
  return any;
}

class Spreader {
 public:
  Spreader(Graph& graph, Spread spread)
      : graph_(graph), spread_(spread), rows_(spread == Spread::kRows), selections_(graph) {}

  void run() {
    const std::vector<Op> ops = graph_.ops();
    for (Op op : ops) {
      keep_static(op);
      if (replace_one_hot(selections_, op)) {
        static_.insert(op.result());
        continue;
      }
      if (replace_put(selections_, op, spread_)) continue;
      if (replace_reduction(selections_, op, spread_)) continue;
      const bool specialised = rows_ && specialise(op);
      selections_.push(op);
      if (!specialised && !propagate(op) && reads_selection(op)) {
        for_each_result(op, [&](ValueId id) { selections_.add_opaque(id); });
      }
    }
    if (static_.empty() && selections_.empty()) return;
    graph_.set_ops(selections_.take_ops());
    remove_dead_code(graph_);
  }

 private:
  const Shape& shape_of(ValueId id) const { return graph_.type(id).shape; }

  bool reads_selection(const Op& op) const {
    return any_value(op, [&](ValueId id) { return !selections_.is_plain(id); });
  }

  // Marks the results of an operator as static if one of its inputs is a static selection.
  void keep_static(Op& op) {
    if (!any_value(op, [&](ValueId id) { return static_.count(id) > 0; })) return;
    if (reads_selection(op)) return;
    op.fixed_size = false;
    for_each_result(op, [&](ValueId id) { static_.insert(id); });
  }

  // Gives an operator that is specialised to the traced size selections of that size.
  bool specialise(Op& op) {
    if (!op.fixed_size) return false;
    const bool any = any_value(op, [&](ValueId id) { return selections_.find(id) != nullptr; });
    // Dimensions that broadcast: other sizes than the traced one work too.
    const bool broadcasts = is_pointwise(op.signature->name, true);
    const bool known = !any_value(op, [&](ValueId id) {
      const Selection* here = selections_.find(id);
      if (here == nullptr) return selections_.is_opaque(id);
      const std::int64_t count = element_count(shape_of(id));
      return count == 0 || (broadcasts && here->shaped && shape_of(id)[here->leading] == 1) ||
             here->column != Selection::kValues;
    });
    if (!any || !known) return false;
    for (Argument& argument : op.arguments) {
      for_each_ref(argument, [&](ValueRef& ref) {
        const Selection* here = selections_.find(ref.id);
        if (here == nullptr) return;
        const TensorType type = graph_.type(ref.id);
        ref.id = selections_.specialised(*here, type, op);
      });
    }
    return true;
  }

  // Records what the op selects, or computes from a selection; returns false for other operators.
  bool propagate(const Op& op) {
    const std::string name = op.signature->qualified_name();
    if (name == "aten::index.Tensor") return propagate_index(op);
    if (rows_ && propagate_search(op, name)) return true;
    const Selection* base = nullptr;
    const bool mixed = any_value(op, [&](ValueId id) {
      const Selection* here = selections_.find(id);
      if (here == nullptr) return selections_.is_opaque(id);
      const bool other_mask = base != nullptr && here->mask != base->mask;
      base = here;
      return other_mask;
    });
    if (base == nullptr || mixed) return false;
    if (propagate_pointwise(op, *base) || (rows_ && propagate_rows(op, *base))) return true;
    if (rows_ && propagate_squeeze(op, *base)) return true;
    if (op.signature->name != "aten::reshape" && op.signature->name != "aten::view") return false;
    const ValueId self = tensor_in(op.arguments.at(0));
    if (element_count(shape_of(op.result())) != element_count(shape_of(self))) return false;
    Selection reshaped = *base;
    reshaped.shaped = false;
    reshaped.column = Selection::kValues;
    selections_.add(op.result(), reshaped);
    return true;
  }

  bool propagate_index(const Op& op) {
    const ValueId self = tensor_in(op.argument("self"));
    if (propagate_nested_index(op, self)) return true;
    const MaskedIndex index = selections_.masked_index(op);
    if (index.mask == kNoValue || !selections_.is_plain(self)) return false;
    const std::size_t masked = shape_of(index.mask).size();
    if (shape_of(op.result()).size() + masked != shape_of(self).size() + 1) return false;
    // arange(n)[mask] contains the positions at which the mask is true.
    const bool positions = rows_ && masked == 1 && is_arange(graph_, self);
    const int column = positions ? 0 : Selection::kValues;
    selections_.add(op.result(), {index.mask, self, index.leading, true, false, column});
    return true;
  }

  // x[m][n], where n is computed from elements that m selects.
  bool propagate_nested_index(const Op& op, ValueId self) {
    const auto* indices = std::get_if<std::vector<ValueRef>>(&op.argument("indices"));
    const Selection* outer = selections_.find(self);
    if (outer == nullptr || indices == nullptr || indices->size() != 1) return false;
    const Selection* inner = selections_.find(indices->front().id);
    if (inner == nullptr || inner->mask != outer->mask || !inner->shaped || !outer->shaped ||
        inner->leading + outer->leading > 0 || !selections_.trailing_of(*inner).empty() ||
        graph_.type(inner->full).dtype != DType::kBool) {
      return false;
    }
    const ValueId first = selections_.reshaped(outer->mask, {selections_.mask_size(*outer)}, op);
    const ValueId second = selections_.flattened(*inner, op);
    const ValueId both = selections_.append(and_signature(), {ValueRef{first}, ValueRef{second}},
                                            graph_.type(second), op);
    selections_.add(op.result(), {both, selections_.flattened(*outer, op)});
    return true;
  }

  // masked_select(), nonzero(), and index_select() at positions of nonzero().
  bool propagate_search(const Op& op, const std::string& name) {
    const ValueId self = op.arguments.empty() ? kNoValue : tensor_in(op.arguments[0]);
    if (!selections_.is_plain(self)) return false;
    if (name == "aten::index_select") {
      const MaskedIndex index = selections_.masked_index_along_dim(op);
      if (index.mask == kNoValue) return false;
      selections_.add(op.result(), {index.mask, self, index.leading});
      return true;
    }
    if (name == "aten::masked_select") {
      const ValueId mask = tensor_in(op.argument("mask"));
      if (!selections_.is_plain(mask) || graph_.is_constant(mask) ||
          shape_of(mask) != shape_of(self)) {
        return false;
      }
      selections_.add(op.result(), {mask, self});
      return true;
    }
    if (name != "aten::nonzero" && name != "aten::argwhere") return false;
    const Shape shape = shape_of(self);
    if (shape.empty() || element_count(shape) == 0) return false;
    ValueId mask = self;
    if (graph_.type(self).dtype != DType::kBool) {
      TensorType type = graph_.type(self);
      type.dtype = DType::kBool;
      mask = selections_.append(not_zero_signature(), {ValueRef{self}, std::int64_t{0}},
                                std::move(type), op);
    }
    const auto columns = static_cast<std::int64_t>(shape.size());
    const ValueId positions =
        selections_.integers(positions_in(shape), {element_count(shape), columns});
    selections_.add(op.result(), {mask, positions, 0, true, true, Selection::kPositions});
    return true;
  }

  // Handles nonzero(mask).squeeze(), which also drops the dimension of the positions if there is
  // only one.
  bool propagate_squeeze(const Op& op, const Selection& base) {
    if (op.signature->qualified_name() != "aten::squeeze") return false;
    const Shape& mask = shape_of(base.mask);
    if (base.column != Selection::kPositions || mask.size() != 1 || !base.shaped) return false;
    const ValueId positions = selections_.reshaped(base.full, mask, op);
    const bool whole = shape_of(op.result()).size() == 1;
    selections_.add(op.result(), {base.mask, positions, 0, whole, true, 0});
    return true;
  }

  // A pointwise operator is applied to all elements.
  bool propagate_pointwise(const Op& op, const Selection& base) {
    if (op.results.size() != 1 || op.results[0].is_list) return false;
    TensorType type = graph_.type(op.result());
    if (!base.shaped || !is_pointwise(op.signature->name, is_float(type.dtype))) return false;
    const std::size_t trailing = selections_.trailing_of(base).size();
    if (type.shape.size() < trailing + 1) return false;
    bool flat = false;
    for (const Argument& argument : op.arguments) {
      if (std::holds_alternative<std::vector<ValueRef>>(argument)) return false;
      const ValueId id = tensor_in(argument);
      if (const Selection* here = selections_.find(id)) {
        if (!here->shaped || selections_.trailing_of(*here).size() != trailing) return false;
        flat = flat || here->flat;
      } else if (id != kNoValue && !is_uniform(id, trailing)) {
        return false;
      }
    }
    const Shape mask = flat ? Shape{selections_.mask_size(base)} : shape_of(base.mask);
    std::vector<Argument> arguments = op.arguments;
    for (Argument& argument : arguments) {
      auto* ref = std::get_if<ValueRef>(&argument);
      if (ref == nullptr || ref->id == kNoValue) continue;
      const std::size_t rank = shape_of(ref->id).size();
      if (const Selection* here = selections_.find(ref->id)) {
        ref->id = flat ? selections_.flattened(*here, op) : here->full;
      } else if (rank > trailing) {
        const Shape ones(mask.size(), 1);
        const Shape wide = replace_dim(shape_of(ref->id), rank - trailing - 1, ones);
        ref->id = selections_.reshaped(ref->id, wide, op);
      }
    }
    const std::size_t leading = type.shape.size() - trailing - 1;
    type.shape = replace_dim(type.shape, leading, mask);
    const bool copies = op.signature->name == "aten::_to_copy" || op.signature->name == "aten::to";
    const int column = copies && type.dtype == DType::kInt32 ? base.column : Selection::kValues;
    const ValueId all = selections_.append(op.signature, std::move(arguments), std::move(type), op);
    selections_.add(op.result(), {base.mask, all, leading, true, flat, column});
    return true;
  }

  // Returns whether a tensor that is not a selection contributes the same value to every element.
  bool is_uniform(ValueId id, std::size_t trailing) const {
    const Shape& shape = shape_of(id);
    if (shape.size() <= trailing) return true;
    if (element_count(shape) == 1 && shape.size() <= 1) return true;
    return rows_ && shape[shape.size() - 1 - trailing] == 1;
  }

  // A row-wise operator is applied to all rows.
  bool propagate_rows(const Op& op, const Selection& base) {
    const auto is_selected = [&](ValueId id) { return selections_.find(id) != nullptr; };
    if (!is_rowwise(graph_, op, is_selected)) return false;
    int column = Selection::kValues;
    const bool elsewhere = any_value(op, [&](ValueId id) {
      const Selection* here = selections_.find(id);
      if (here != nullptr) column = here->column;
      return here != nullptr && (!here->shaped || here->leading > 0);
    });
    bool scalar = false;
    for_each_result(op, [&](ValueId id) { scalar = scalar || shape_of(id).empty(); });
    if (elsewhere || scalar) return false;
    Op all = op;
    all.fixed_size = false;
    for (Argument& argument : all.arguments) {
      for_each_ref(argument, [&](ValueRef& ref) {
        if (const Selection* here = selections_.find(ref.id)) {
          ref.id = selections_.flattened(*here, op);
        }
      });
    }
    for (Result& result : all.results) {
      for (std::size_t i = 0; i < result.values.size(); ++i) {
        const ValueId id = result.values[i];
        if (id == kNoValue) continue;
        TensorType type = graph_.type(id);
        type.shape[0] = selections_.mask_size(base);
        result.values[i] = graph_.add_result(std::move(type));
        const int made = column_of(op, base, column, i);
        selections_.add(id, {base.mask, result.values[i], 0, true, true, made});
      }
    }
    selections_.push(std::move(all));
    return true;
  }

  // The column of the positions that a result is.
  int column_of(const Op& op, const Selection& base, int from, std::size_t item) const {
    static const std::set<std::string> joins_dims = {"aten::squeeze", "aten::flatten",
                                                     "aten::reshape", "aten::view"};
    if (from != Selection::kPositions) return Selection::kValues;
    const std::string& name = op.signature->name;
    const auto columns = static_cast<std::int64_t>(shape_of(base.mask).size());
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
  std::set<ValueId>
      static_;  // selections whose size depends on no value, and values computed from them
};

}  // namespace

void spread_selections(Graph& graph, Spread spread) {
  Spreader(graph, spread).run();
}

}  // namespace leapp::ir
