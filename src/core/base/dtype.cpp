#include "leapp/dtype.h"

#include <array>

#include "base/check.h"

namespace leapp {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array kRows = {
    Row{DType::kBool, "bool", 1},
    Row{DType::kUInt8, "uint8", 1},
    Row{DType::kInt8, "int8", 1},
    Row{DType::kUInt16, "uint16", 2},
    Row{DType::kInt16, "int16", 2},
    Row{DType::kUInt32, "uint32", 4},
    Row{DType::kInt32, "int32", 4},
    Row{DType::kUInt64, "uint64", 8},
    Row{DType::kInt64, "int64", 8},
    Row{DType::kFloat8E4M3FN, "float8_e4m3fn", 1},
    Row{DType::kFloat8E5M2, "float8_e5m2", 1},
    Row{DType::kFloat16, "float16", 2},
    Row{DType::kBFloat16, "bfloat16", 2},
    Row{DType::kFloat32, "float32", 4},
    Row{DType::kFloat64, "float64", 8},
    Row{DType::kComplex64, "complex64", 8},
    Row{DType::kComplex128, "complex128", 16},
};

constexpr bool rows_follow_the_enum() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].dtype != static_cast<DType>(i)) return false;
  }
  return true;
}
static_assert(rows_follow_the_enum(), "kRows is indexed by DType");

const Row& row(DType dtype) noexcept {
  return kRows[static_cast<std::size_t>(dtype)];
}

}  // namespace

std::string_view name_of(DType dtype) noexcept {
  return row(dtype).name;
}

std::optional<DType> dtype_from_name(std::string_view name) noexcept {
  for (const Row& candidate : kRows) {
    if (candidate.name == name) return candidate.dtype;
  }
  return std::nullopt;
}

std::size_t size_of(DType dtype) noexcept {
  return row(dtype).bytes;
}

bool is_floating_point(DType dtype) noexcept {
  return dtype >= DType::kFloat8E4M3FN && dtype <= DType::kFloat64;
}

bool is_complex(DType dtype) noexcept {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}

bool is_integer(DType dtype) noexcept {
  return dtype >= DType::kUInt8 && dtype <= DType::kInt64;
}

std::optional<std::int64_t> checked_element_count(const Shape& shape) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

std::size_t checked_byte_size(DType dtype, const Shape& shape) {
  const std::optional<std::int64_t> count = checked_element_count(shape);
  std::int64_t bytes = 0;
  require(
      count && !__builtin_mul_overflow(*count, static_cast<std::int64_t>(size_of(dtype)), &bytes),
      Code::kWrongValue, "a tensor cannot have the shape " + to_string(shape));
  return static_cast<std::size_t>(bytes);
}

std::int64_t element_count(const Shape& shape) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

}  // namespace leapp
