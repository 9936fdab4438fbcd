#include "ir/op_arguments.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numeric>

#include "base/check.h"
#include "ir/promote.h"

namespace leapp::ir {
namespace {

std::string shown(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", number);
  return text.data();
}

// Returns the integer value of a number, if it has one.
std::optional<std::int64_t> whole(double number) {
  constexpr double kLimit = 0x1p63;
  if (std::trunc(number) != number || number < -kLimit || number >= kLimit) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::int64_t from_front(std::int64_t dim, std::int64_t rank) {
  return dim < 0 ? dim + std::max<std::int64_t>(rank, 1) : dim;
}

}  // namespace

void OpArguments::refuse(std::string_view parameter, const std::string& what) const {
  refuse("its argument '" + std::string(parameter) + "' is " + what);
  __builtin_unreachable();  // g++ 12 does not recognise that a virtual function does not return
}

bool OpArguments::is_none(std::string_view parameter) const {
  if (!op_.has(parameter)) return true;
  const Argument& held = op_.argument(parameter);
  if (const auto* ref = std::get_if<ValueRef>(&held)) return ref->id == kNoValue;
  return std::holds_alternative<std::monostate>(held);
}

bool OpArguments::is_tensor(std::string_view parameter) const {
  return !is_none(parameter) && std::holds_alternative<ValueRef>(op_.argument(parameter));
}

ValueId OpArguments::value_of(std::string_view parameter) const {
  if (is_none(parameter)) return kNoValue;
  const auto* ref = std::get_if<ValueRef>(&op_.argument(parameter));
  if (ref == nullptr) refuse(parameter, "not a tensor");
  return ref->id;
}

std::vector<ValueId> OpArguments::values_of(std::string_view parameter) const {
  const auto* refs = std::get_if<std::vector<ValueRef>>(&op_.argument(parameter));
  if (refs == nullptr) refuse(parameter, "not a list of tensors");
  std::vector<ValueId> values;
  for (const ValueRef ref : *refs) values.push_back(ref.id);
  return values;
}

std::int64_t OpArguments::integer(std::string_view parameter) const {
  const Argument& held = op_.argument(parameter);
  if (const auto* value = std::get_if<std::int64_t>(&held)) return *value;
  if (const auto* value = std::get_if<bool>(&held)) return *value ? 1 : 0;
  if (const auto* value = std::get_if<double>(&held)) {
    if (const std::optional<std::int64_t> found = whole(*value)) return *found;
    refuse(parameter, shown(*value) + ", not an integer");
  }
  refuse(parameter, "not an integer");
}

std::int64_t OpArguments::integer(std::string_view parameter, std::int64_t if_none) const {
  return is_none(parameter) ? if_none : integer(parameter);
}

double OpArguments::number(std::string_view parameter) const {
  const Argument& held = op_.argument(parameter);
  if (const auto* value = std::get_if<double>(&held)) return *value;
  if (std::holds_alternative<std::complex<double>>(held)) refuse(parameter, "complex");
  return static_cast<double>(integer(parameter));
}

double OpArguments::number(std::string_view parameter, double if_none) const {
  return is_none(parameter) ? if_none : number(parameter);
}

bool OpArguments::flag(std::string_view parameter) const {
  return !is_none(parameter) && integer(parameter) != 0;
}

std::string OpArguments::text(std::string_view parameter) const {
  if (is_none(parameter)) return "";
  const auto* text = std::get_if<std::string>(&op_.argument(parameter));
  if (text == nullptr) refuse(parameter, "not a string");
  return *text;
}

// An empty list has no item type, so an empty list of another type is read as empty.
std::vector<std::int64_t> OpArguments::ints(std::string_view parameter) const {
  if (is_none(parameter)) return {};
  const Argument& held = op_.argument(parameter);
  if (const auto* one = std::get_if<std::int64_t>(&held)) return {*one};
  const auto* list = std::get_if<std::vector<std::int64_t>>(&held);
  return list == nullptr ? std::vector<std::int64_t>() : *list;
}

std::vector<double> OpArguments::numbers(std::string_view parameter) const {
  if (is_none(parameter)) return {};
  if (const auto* list = std::get_if<std::vector<double>>(&op_.argument(parameter))) return *list;
  const std::vector<std::int64_t> whole_ones = ints(parameter);
  return {whole_ones.begin(), whole_ones.end()};
}

std::vector<bool> OpArguments::flags(std::string_view parameter) const {
  if (is_none(parameter)) return {};
  const auto* list = std::get_if<std::vector<bool>>(&op_.argument(parameter));
  return list == nullptr ? std::vector<bool>() : *list;
}

std::optional<DType> OpArguments::dtype(std::string_view parameter) const {
  if (is_none(parameter)) return std::nullopt;
  const auto* dtype = std::get_if<DType>(&op_.argument(parameter));
  if (dtype == nullptr) refuse(parameter, "not an element type");
  return *dtype;
}

std::int64_t OpArguments::dim(std::string_view parameter, std::int64_t rank) const {
  return from_front(integer(parameter), rank);
}

std::vector<std::int64_t> OpArguments::dims(std::string_view parameter, std::int64_t rank) const {
  if (rank == 0) return {};
  std::vector<std::int64_t> dims = ints(parameter);
  for (std::int64_t& dim : dims) dim = from_front(dim, rank);
  if (dims.empty()) {
    dims.resize(static_cast<std::size_t>(rank));
    std::iota(dims.begin(), dims.end(), 0);
  }
  return dims;
}

DType OpArguments::scalar_type(std::string_view parameter) const {
  const Argument& held = op_.argument(parameter);
  if (std::holds_alternative<bool>(held)) return DType::kBool;
  if (std::holds_alternative<std::int64_t>(held)) return DType::kInt64;
  if (std::holds_alternative<double>(held)) return DType::kFloat64;
  if (!std::holds_alternative<std::complex<double>>(held)) refuse(parameter, "not a number");
  return DType::kComplex128;
}

DType OpArguments::promoted(std::span<const std::string_view> parameters) const {
  std::vector<PromotionOperand> operands;
  for (const std::string_view parameter : parameters) {
    if (!is_tensor(parameter)) {
      operands.push_back({scalar_type(parameter), OperandKind::kNumber});
      continue;
    }
    const TensorType& type = graph_.type(value_of(parameter));
    operands.push_back(
        {type.dtype, type.shape.empty() ? OperandKind::kZeroDim : OperandKind::kTensor});
  }
  return result_type(operands);
}

}  // namespace leapp::ir
