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

Shape replace_dim(const Shape& shape, std::size_t dim, const Shape& by) {
  const auto at = shape.begin() + static_cast<std::ptrdiff_t>(dim);
  Shape replaced(shape.begin(), at);
  replaced.insert(replaced.end(), by.begin(), by.end());
  replaced.insert(replaced.end(), at + 1, shape.end());
  return replaced;
}

const Selection* Selections::find(ValueId id) const {
  const auto it = selections_.find(id);
  return it == selections_.end() ? nullptr : &it->second;
}

bool Selections::is_plain(ValueId id) const {
  return id != kNoValue && find(id) == nullptr && !is_opaque(id);
}

MaskedIndex Selections::masked_index(const Op& op) const {
  const auto* indices = std::get_if<std::vector<ValueRef>>(&op.argument("indices"));
  const ValueId self = tensor_in(op.argument("self"));
  if (indices == nullptr || self == kNoValue) return {};
  const auto is_given = [](ValueRef ref) { return ref.id != kNoValue; };
  const auto begin = std::find_if(indices->begin(), indices->end(), is_given);
  const auto end = std::find_if_not(begin, indices->end(), is_given);
  if (begin == end || std::any_of(end, indices->end(), is_given)) return {};
  const auto leading = static_cast<std::size_t>(begin - indices->begin());
  const auto count = static_cast<std::size_t>(end - begin);
  const Selection* positions = find(begin->id);
  if (positions == nullptr) {
    const bool is_mask = count == 1 && !graph_.is_constant(begin->id) && !is_opaque(begin->id) &&
                         graph_.type(begin->id).dtype == DType::kBool;
    return is_mask ? MaskedIndex{begin->id, leading} : MaskedIndex{};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Selection* column = find(begin[static_cast<std::ptrdiff_t>(i)].id);
    const bool same = column != nullptr && column->mask == positions->mask &&
                      column->column == static_cast<int>(i);
    if (!same) return {};
  }
  const Shape& mask = shape_of(positions->mask);
  const Shape& shape = shape_of(self);
  const bool fits =
      count == mask.size() && shape.size() >= leading + count &&
      std::equal(mask.begin(), mask.end(), shape.begin() + static_cast<std::ptrdiff_t>(leading));
  return fits ? MaskedIndex{positions->mask, leading} : MaskedIndex{};
}

MaskedIndex Selections::masked_index_along_dim(const Op& op) const {
  const ValueId self = tensor_in(op.argument("self"));
  const Selection* positions = find(tensor_in(op.argument("index")));
  const auto* given = std::get_if<std::int64_t>(&op.argument("dim"));
  if (self == kNoValue || positions == nullptr || positions->column != 0 || given == nullptr) {
    return {};
  }
  const Shape& shape = shape_of(self);
  const auto dim = static_cast<std::size_t>(
      *given < 0 ? *given + static_cast<std::int64_t>(shape.size()) : *given);
  const Shape& mask = shape_of(positions->mask);
  const bool fits = mask.size() == 1 && dim < shape.size() && mask[0] == shape[dim];
  return fits ? MaskedIndex{positions->mask, dim} : MaskedIndex{};
}

Shape Selections::trailing_of(const Selection& selection) const {
  const Shape& full = shape_of(selection.full);
  const std::size_t covered =
      selection.leading + (selection.flat ? 1 : shape_of(selection.mask).size());
  return {full.begin() + static_cast<std::ptrdiff_t>(covered), full.end()};
}

std::int64_t Selections::mask_size(const Selection& selection) const {
  return element_count(shape_of(selection.mask));
}

ValueId Selections::append(const std::shared_ptr<const Signature>& signature,
                           std::vector<Argument> arguments, TensorType type, const Op& like) {
  const ValueId result = graph_.add_result(std::move(type));
  push({signature, std::move(arguments), {{false, {result}}}, like.source, like.module_path});
  return result;
}

void Selections::replace(const Op& op, const std::shared_ptr<const Signature>& signature,
                         std::vector<Argument> arguments) {
  push({signature, std::move(arguments), op.results, op.source, op.module_path});
}

ValueId Selections::reshaped(ValueId value, const Shape& shape, const Op& like) {
  if (shape_of(value) == shape) return value;
  TensorType type = graph_.type(value);
  type.shape = shape;
  return append(reshape_signature(), {ValueRef{value}, shape}, std::move(type), like);
}

ValueId Selections::broadcast_mask(const Selection& selection, std::size_t trailing,
                                   const Op& like) {
  Shape shape = selection.flat ? Shape{mask_size(selection)} : shape_of(selection.mask);
  shape.insert(shape.end(), trailing, 1);
  return reshaped(selection.mask, shape, like);
}

Shape Selections::with_mask_as(const Selection& selection, const Shape& mask) const {
  const Shape& full = shape_of(selection.full);
  Shape shape(full.begin(), full.begin() + static_cast<std::ptrdiff_t>(selection.leading));
  shape.insert(shape.end(), mask.begin(), mask.end());
  const Shape trailing = trailing_of(selection);
  shape.insert(shape.end(), trailing.begin(), trailing.end());
  return shape;
}

ValueId Selections::flattened(const Selection& selection, const Op& like) {
  if (selection.flat) return selection.full;
  return reshaped(selection.full, with_mask_as(selection, {mask_size(selection)}), like);
}

ValueId Selections::unflattened(const Selection& selection, const Op& like) {
  if (!selection.flat) return selection.full;
  return reshaped(selection.full, with_mask_as(selection, shape_of(selection.mask)), like);
}

ValueId Selections::filled(const Selection& selection, double value, const Op& like) {
  const TensorType type = graph_.type(selection.full);
  const ValueId mask = broadcast_mask(selection, trailing_of(selection).size(), like);
  return append(where_signature(),
                {ValueRef{mask}, ValueRef{selection.full}, ValueRef{scalar(type.dtype, value)}},
                type, like);
}

ValueId Selections::specialised(const Selection& selection, const TensorType& type,
                                const Op& like) {
  const ValueId full = flattened(selection, like);
  const std::int64_t all = mask_size(selection);
  const std::int64_t each = element_count(shape_of(full)) / all;
  const std::int64_t count = element_count(type.shape) / each;
  const ValueId mask = reshaped(selection.mask, {all}, like);
  const ValueId positions =
      append(nonzero_signature(), {ValueRef{mask}}, {DType::kInt64, {count, 1}, type.device}, like);
  ops_.back().fixed_size = true;
  TensorType chosen = graph_.type(full);
  chosen.shape[selection.leading] = count;
  const ValueId rows = append(index_select_signature(),
                              {ValueRef{full}, static_cast<std::int64_t>(selection.leading),
                               ValueRef{reshaped(positions, {count}, like)}},
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
