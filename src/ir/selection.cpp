#include "ir/selection.h"

#include <algorithm>
#include <cstring>

namespace leapp::ir {
namespace {

const std::shared_ptr<const Signature>& reshape_signature() {
  static const auto known =
      signature_of("aten::reshape", "", {{"self", "Tensor"}, {"shape", "int[]"}});
  return known;
}

const std::shared_ptr<const Signature>& nonzero_signature() {
  static const auto known = signature_of("aten::nonzero", "", {{"self", "Tensor"}});
  return known;
}

}  // namespace

const std::shared_ptr<const Signature>& where_signature() {
  static const auto known = signature_of(
      "aten::where", "self", {{"condition", "Tensor"}, {"self", "Tensor"}, {"other", "Tensor"}});
  return known;
}

const std::shared_ptr<const Signature>& add_signature() {
  static const auto known = signature_of(
      "aten::add", "Tensor", {{"self", "Tensor"}, {"other", "Tensor"}, {"alpha", "Scalar"}});
  return known;
}

const std::shared_ptr<const Signature>& index_select_signature() {
  static const auto known = signature_of("aten::index_select", "",
                                         {{"self", "Tensor"}, {"dim", "int"}, {"index", "Tensor"}});
  return known;
}

std::shared_ptr<const Signature> signature_of(const char* name, const char* overload,
                                              std::vector<Signature::Parameter> parameters) {
  return std::make_shared<const Signature>(
      Signature{name, overload, std::move(parameters), {"Tensor"}});
}

ValueId tensor_in(const Argument& argument) {
  const auto* ref = std::get_if<ValueRef>(&argument);
  return ref == nullptr ? kNoValue : ref->id;
}

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64;
}

const Selection* Selections::find(ValueId id) const {
  const auto it = found_.find(id);
  return it == found_.end() ? nullptr : &it->second;
}

bool Selections::is_plain(ValueId id) const {
  return id != kNoValue && find(id) == nullptr && !is_unknown(id);
}

MaskedPlace Selections::place_of(const Op& op) const {
  const auto* indices = std::get_if<std::vector<ValueRef>>(&op.argument("indices"));
  const ValueId self = tensor_in(op.argument("self"));
  if (indices == nullptr || self == kNoValue) return {};
  const auto given = [&](std::size_t i) {
    return i < indices->size() && (*indices)[i].id != kNoValue;
  };
  std::size_t first = 0;
  while (first < indices->size() && !given(first)) ++first;
  std::size_t end = first;
  while (given(end)) ++end;
  for (std::size_t i = end; i < indices->size(); ++i) {
    if (given(i)) return {};
  }
  if (end == first) return {};
  const ValueId index = (*indices)[first].id;
  const Selection* places = find(index);
  if (places == nullptr) {
    const bool mask = end == first + 1 && !graph_.is_constant(index) && !is_unknown(index) &&
                      graph_.type(index).dtype == DType::kBool;
    return mask ? MaskedPlace{index, first} : MaskedPlace{};
  }
  for (std::size_t i = first; i < end; ++i) {
    const Selection* along = find((*indices)[i].id);
    const bool same = along != nullptr && along->mask == places->mask &&
                      along->column == static_cast<int>(i - first);
    if (!same) return {};
  }
  const Shape& mask = shape_of(places->mask);
  const Shape& shape = shape_of(self);
  const bool fits =
      end - first == mask.size() && shape.size() >= end &&
      std::equal(mask.begin(), mask.end(), shape.begin() + static_cast<std::ptrdiff_t>(first));
  return fits ? MaskedPlace{places->mask, first} : MaskedPlace{};
}

MaskedPlace Selections::place_along(const Op& op) const {
  const ValueId self = tensor_in(op.argument("self"));
  const Selection* places = find(tensor_in(op.argument("index")));
  const auto* given = std::get_if<std::int64_t>(&op.argument("dim"));
  if (self == kNoValue || places == nullptr || places->column != 0 || given == nullptr) return {};
  const Shape& shape = shape_of(self);
  const auto dim = static_cast<std::size_t>(
      *given < 0 ? *given + static_cast<std::int64_t>(shape.size()) : *given);
  const Shape& mask = shape_of(places->mask);
  const bool fits = mask.size() == 1 && dim < shape.size() && mask[0] == shape[dim];
  return fits ? MaskedPlace{places->mask, dim} : MaskedPlace{};
}

Shape Selections::rest_of(const Selection& selection) const {
  const Shape& full = shape_of(selection.full);
  const std::size_t covered =
      selection.before + (selection.flat ? 1 : shape_of(selection.mask).size());
  return {full.begin() + static_cast<std::ptrdiff_t>(covered), full.end()};
}

ValueId Selections::append(const std::shared_ptr<const Signature>& signature,
                           std::vector<Argument> arguments, TensorType type, const Op& like) {
  const ValueId result = graph_.add_result(std::move(type));
  push({signature, std::move(arguments), {{false, {result}}}, like.source, like.module_path});
  return result;
}

ValueId Selections::reshaped(ValueId value, const Shape& shape, const Op& like) {
  if (shape_of(value) == shape) return value;
  TensorType type = graph_.type(value);
  type.shape = shape;
  return append(reshape_signature(), {ValueRef{value}, shape}, std::move(type), like);
}

ValueId Selections::spread_mask(const Selection& selection, std::size_t behind, const Op& like) {
  Shape shape = shape_of(selection.mask);
  if (selection.flat) shape = {element_count(shape)};
  shape.insert(shape.end(), behind, 1);
  return reshaped(selection.mask, shape, like);
}

Shape Selections::with_mask_as(const Selection& selection, const Shape& mask) const {
  const Shape& full = shape_of(selection.full);
  Shape shape(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(selection.before));
  shape.insert(shape.end(), mask.begin(), mask.end());
  const Shape rest = rest_of(selection);
  shape.insert(shape.end(), rest.begin(), rest.end());
  return shape;
}

ValueId Selections::flattened(const Selection& selection, const Op& like) {
  if (selection.flat) return selection.full;
  const Shape all = {element_count(shape_of(selection.mask))};
  return reshaped(selection.full, with_mask_as(selection, all), like);
}

ValueId Selections::unflattened(const Selection& selection, const Op& like) {
  if (!selection.flat) return selection.full;
  return reshaped(selection.full, with_mask_as(selection, shape_of(selection.mask)), like);
}

ValueId Selections::filled(const Selection& selection, double value, const Op& like) {
  const TensorType type = graph_.type(selection.full);
  const ValueId mask = spread_mask(selection, rest_of(selection).size(), like);
  return append(where_signature(),
                {ValueRef{mask}, ValueRef{selection.full}, ValueRef{scalar(type.dtype, value)}},
                type, like);
}

ValueId Selections::taken(const Selection& selection, const TensorType& type, const Op& like) {
  const ValueId full = flattened(selection, like);
  const std::int64_t all = element_count(shape_of(selection.mask));
  const std::int64_t each = element_count(shape_of(full)) / all;
  const std::int64_t count = element_count(type.shape) / each;
  const ValueId mask = reshaped(selection.mask, {all}, like);
  const ValueId places =
      append(nonzero_signature(), {ValueRef{mask}}, {DType::kInt64, {count, 1}, type.device}, like);
  made_.back().fixed_size = true;
  TensorType chosen = graph_.type(full);
  chosen.shape[selection.before] = count;
  const ValueId rows = append(index_select_signature(),
                              {ValueRef{full}, static_cast<std::int64_t>(selection.before),
                               ValueRef{reshaped(places, {count}, like)}},
                              std::move(chosen), like);
  return reshaped(rows, type.shape, like);
}

ValueId Selections::scalar(DType dtype, double value) {
  auto bytes = std::make_shared<std::vector<std::byte>>(16);
  const auto write = [&](auto number) { std::memcpy(bytes->data(), &number, sizeof(number)); };
  if (dtype == DType::kFloat32) write(static_cast<float>(value));
  if (dtype == DType::kFloat64) write(value);
  if (dtype == DType::kBool) write(value != 0);
  if (dtype == DType::kInt64) write(static_cast<std::int64_t>(value));
  if (dtype == DType::kInt32) write(static_cast<std::int32_t>(value));
  std::shared_ptr<const std::byte> data(bytes, bytes->data());
  return graph_.add_constant("", {std::move(data), {dtype, {}, "cpu"}});
}

ValueId Selections::integers(std::vector<std::int64_t> values, Shape shape) {
  auto kept = std::make_shared<std::vector<std::int64_t>>(std::move(values));
  std::shared_ptr<const std::byte> data(kept, reinterpret_cast<const std::byte*>(kept->data()));
  return graph_.add_constant("", {std::move(data), {DType::kInt64, std::move(shape), "cpu"}});
}

}  // namespace leapp::ir
