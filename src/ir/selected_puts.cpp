#include "ir/selected_puts.h"

#include <algorithm>

namespace leapp::ir {
namespace {

// One write: value, positions, and whether the value is added to the old one.
struct Put {
  ValueId self = kNoValue;
  ValueId values = kNoValue;
  MaskedIndex index;
  bool adds = false;
  bool by_index =
      true;  // the mask covers whole dimensions; otherwise it broadcasts to the elements
};

bool is_false(const Op& op, const char* parameter) {
  return !op.has(parameter) || op.argument(parameter) == Argument(false);
}

bool is_one(const Op& op, const char* parameter) {
  return op.argument(parameter) == Argument(std::int64_t{1}) ||
         op.argument(parameter) == Argument(1.0);
}

Put put_of(const Selections& selections, const Op& op) {
  const std::string name = op.signature->qualified_name();
  if (name == "aten::index_put") {
    return {tensor_in(op.argument("self")), tensor_in(op.argument("values")),
            selections.masked_index(op), !is_false(op, "accumulate")};
  }
  if (name == "aten::masked_scatter") {
    const ValueId mask = tensor_in(op.argument("mask"));
    return {tensor_in(op.argument("self")), tensor_in(op.argument("source")), {mask}, false, false};
  }
  if (name == "aten::index_copy" || (name == "aten::index_add" && is_one(op, "alpha"))) {
    return {tensor_in(op.argument("self")), tensor_in(op.argument("source")),
            selections.masked_index_along_dim(op), name == "aten::index_add"};
  }
  return {};
}

// Returns whether the selection's values, spread over all elements, fit the written tensor.
bool fits(const Selections& selections, const Selection& values, const Put& put, bool rows) {
  const Shape& self = selections.shape_of(put.self);
  const Shape& mask = selections.shape_of(values.mask);
  const Shape trailing = selections.trailing_of(values);
  if (!put.by_index && (!trailing.empty() || values.leading > 0)) return false;
  // A reshaped selection may only be written back to the tensor that it was selected from.
  if (!values.shaped && (values.flat || values.leading != put.index.leading)) return false;
  if (values.leading > put.index.leading) return false;
  const std::size_t end = put.index.leading + mask.size();
  if (self.size() != end + trailing.size()) return false;
  const auto covered = self.begin() + static_cast<std::ptrdiff_t>(put.index.leading);
  if (!std::equal(mask.begin(), mask.end(), covered)) return false;
  return std::equal(trailing.begin(), trailing.end(),
                    self.begin() + static_cast<std::ptrdiff_t>(end),
                    [&](std::int64_t size, std::int64_t wanted) {
                      return size == wanted || (rows && size == 1);
                    });
}

// self[mask] = values of the same mask.
bool put_selected(Selections& selections, const Op& op, const Put& put, bool rows) {
  Selection values = *selections.find(put.values);
  const DType dtype = selections.graph().type(put.self).dtype;
  if (dtype != selections.graph().type(values.full).dtype) return false;
  if (put.adds && (!rows || !is_float(dtype))) return false;
  if (!fits(selections, values, put, rows)) return false;
  values.full = selections.unflattened(values, op);
  values.flat = false;
  if (put.adds) {
    const ValueId term = selections.filled(values, 0.0, op);
    selections.replace(op, add_signature(), {ValueRef{put.self}, ValueRef{term}, std::int64_t{1}});
    return true;
  }
  const ValueId mask = selections.broadcast_mask(values, selections.trailing_of(values).size(), op);
  selections.replace(op, where_signature(),
                     {ValueRef{mask}, ValueRef{values.full}, ValueRef{put.self}});
  return true;
}

// self[positions] = the same value for each.
bool put_uniform(Selections& selections, const Op& op, const Put& put) {
  const auto* given =
      op.has("indices") ? std::get_if<std::vector<ValueRef>>(&op.argument("indices")) : nullptr;
  if (given == nullptr || given->at(put.index.leading).id == put.index.mask) return false;
  std::vector<ValueRef> indices(put.index.leading, ValueRef{kNoValue});
  indices.push_back({put.index.mask});
  std::vector<Argument> arguments = op.arguments;
  arguments.at(static_cast<std::size_t>(op.signature->find("indices"))) = std::move(indices);
  selections.replace(op, op.signature, std::move(arguments));
  return true;
}

// index_fill() at positions that nonzero() found.
bool fill(Selections& selections, const Op& op) {
  const auto [index, leading] = selections.masked_index_along_dim(op);
  const ValueId self = tensor_in(op.argument("self"));
  if (index == kNoValue || !selections.is_plain(self)) return false;
  const TensorType type = selections.graph().type(self);
  ValueId value = tensor_in(op.argument("value"));
  if (value == kNoValue) {
    const Argument& number = op.argument("value");
    const auto* whole = std::get_if<std::int64_t>(&number);
    const auto* real = std::get_if<double>(&number);
    const bool has_type = is_float(type.dtype) ? whole != nullptr || real != nullptr
                                               : type.dtype == DType::kInt64 && whole != nullptr;
    if (!has_type) return false;
    value = selections.scalar(type.dtype, real != nullptr ? *real : static_cast<double>(*whole));
  } else if (!selections.is_plain(value) || selections.graph().type(value).dtype != type.dtype) {
    return false;
  }
  const std::size_t trailing = type.shape.size() - leading - 1;
  const ValueId mask = selections.broadcast_mask({.mask = index}, trailing, op);
  selections.replace(op, where_signature(), {ValueRef{mask}, ValueRef{value}, ValueRef{self}});
  return true;
}

}  // namespace

bool replace_put(Selections& selections, const Op& op, Spread spread) {
  const bool rows = spread == Spread::kRows;
  if (rows && op.signature->name == "aten::index_fill") return fill(selections, op);
  const Put put = put_of(selections, op);
  if (put.self == kNoValue || put.index.mask == kNoValue || !selections.is_plain(put.self)) {
    return false;
  }
  if (!put.by_index && !rows) return false;
  const Selection* values = selections.find(put.values);
  if (values != nullptr) {
    return values->mask == put.index.mask && put_selected(selections, op, put, rows);
  }
  return rows && selections.is_plain(put.values) && put_uniform(selections, op, put);
}

}  // namespace leapp::ir
