#include "ir/selected_puts.h"

#include <algorithm>

namespace leapp::ir {
namespace {

// One write: what, where to, and whether it is added to what is there.
struct Put {
  ValueId self = kNoValue;
  ValueId values = kNoValue;
  MaskedPlace place;
  bool adds = false;
  bool by_index = true;  // the mask covers whole dimensions; else it is spread over elements
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
  Put put;
  if (name == "aten::index_put") {
    put = {tensor_in(op.argument("self")), tensor_in(op.argument("values")),
           selections.place_of(op), !is_false(op, "accumulate")};
  } else if (name == "aten::masked_scatter") {
    const ValueId mask = tensor_in(op.argument("mask"));
    put = {tensor_in(op.argument("self")), tensor_in(op.argument("source")), {mask}, false, false};
  } else if (name == "aten::index_copy" || (name == "aten::index_add" && is_one(op, "alpha"))) {
    put = {tensor_in(op.argument("self")), tensor_in(op.argument("source")),
           selections.place_along(op), name == "aten::index_add"};
  }
  return put;
}

// self[mask] = values of the same mask.
bool put_selected(Selections& selections, const Op& op, const Put& put, bool rows) {
  const Selection values = *selections.find(put.values);
  const DType dtype = selections.graph().type(put.self).dtype;
  if (dtype != selections.graph().type(values.full).dtype) return false;
  if (put.adds && (!rows || !is_float(dtype))) return false;
  const Shape& wanted = selections.shape_of(put.self);
  const Shape& mask = selections.shape_of(values.mask);
  const Shape rest = selections.rest_of(values);
  if (!put.by_index && (!rest.empty() || values.before > 0)) return false;
  // What was put into another shape is put back as it was, if that is what it was selected from.
  if (!values.shaped && (values.flat || values.before != put.place.before)) return false;
  if (values.before > put.place.before) return false;
  const std::size_t end = put.place.before + mask.size();
  if (wanted.size() != end + rest.size()) return false;
  const auto covered = wanted.begin() + static_cast<std::ptrdiff_t>(put.place.before);
  if (!std::equal(mask.begin(), mask.end(), covered)) return false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] != wanted[end + i] && (rest[i] != 1 || !rows)) return false;
  }
  Selection apart = values;
  apart.full = selections.unflattened(values, op);
  apart.flat = false;
  if (put.adds) {
    const ValueId term = selections.filled(apart, 0.0, op);
    selections.push({add_signature(),
                     {ValueRef{put.self}, ValueRef{term}, std::int64_t{1}},
                     op.results,
                     op.source,
                     op.module_path});
    return true;
  }
  const ValueId by = selections.spread_mask(apart, rest.size(), op);
  selections.push({where_signature(),
                   {ValueRef{by}, ValueRef{apart.full}, ValueRef{put.self}},
                   op.results,
                   op.source,
                   op.module_path});
  return true;
}

// self[places] = the same for each.
bool put_same(Selections& selections, const Op& op, const Put& put) {
  const auto* given =
      op.has("indices") ? std::get_if<std::vector<ValueRef>>(&op.argument("indices")) : nullptr;
  if (given == nullptr || given->at(put.place.before).id == put.place.mask) return false;
  std::vector<ValueRef> indices(put.place.before, ValueRef{kNoValue});
  indices.push_back({put.place.mask});
  std::vector<Argument> arguments = op.arguments;
  arguments.at(static_cast<std::size_t>(op.signature->find("indices"))) = std::move(indices);
  selections.push({op.signature, std::move(arguments), op.results, op.source, op.module_path});
  return true;
}

// index_fill() at places that were found.
bool fill(Selections& selections, const Op& op) {
  const MaskedPlace place = selections.place_along(op);
  const ValueId self = tensor_in(op.argument("self"));
  if (place.mask == kNoValue || !selections.is_plain(self)) return false;
  const TensorType type = selections.graph().type(self);
  ValueId value = tensor_in(op.argument("value"));
  if (value == kNoValue) {
    const Argument& number = op.argument("value");
    const auto* whole = std::get_if<std::int64_t>(&number);
    const auto* real = std::get_if<double>(&number);
    const bool fits = is_float(type.dtype) ? whole != nullptr || real != nullptr
                                           : type.dtype == DType::kInt64 && whole != nullptr;
    if (!fits) return false;
    value = selections.scalar(type.dtype, real != nullptr ? *real : static_cast<double>(*whole));
  } else if (!selections.is_plain(value) || selections.graph().type(value).dtype != type.dtype) {
    return false;
  }
  const std::size_t behind = type.shape.size() - place.before - 1;
  const ValueId mask = selections.spread_mask({.mask = place.mask}, behind, op);
  selections.push({where_signature(),
                   {ValueRef{mask}, ValueRef{value}, ValueRef{self}},
                   op.results,
                   op.source,
                   op.module_path});
  return true;
}

}  // namespace

bool replace_put(Selections& selections, const Op& op, Spread spread) {
  const bool rows = spread == Spread::kRows;
  if (rows && op.signature->name == "aten::index_fill") return fill(selections, op);
  const Put put = put_of(selections, op);
  if (put.self == kNoValue || put.place.mask == kNoValue || !selections.is_plain(put.self)) {
    return false;
  }
  if (!put.by_index && !rows) return false;
  const Selection* values = selections.find(put.values);
  if (values != nullptr) {
    return values->mask == put.place.mask && put_selected(selections, op, put, rows);
  }
  return rows && selections.is_plain(put.values) && put_same(selections, op, put);
}

}  // namespace leapp::ir
