#include "export/onnx/blob.h"

#include <complex>
#include <memory>
#include <type_traits>

#include "base/check.h"
#include "base/element_type.h"
#include "onnx/model.h"

namespace leapp::onnx_export {
namespace {

[[noreturn]] void refuse() {
  demand(false, "a constant of this element type cannot be read as numbers");
  __builtin_unreachable();
}

template <typename T>
constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<From, Bool>) {
    return convert<To>(static_cast<std::uint8_t>(value.bits != 0));
  } else if constexpr (kIsSmallFloat<From>) {
    return static_cast<To>(widen(value));
  } else if constexpr (kIsSmallFloat<To>) {
    return narrow<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Bool>) {
    return Bool{value != 0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return static_cast<To>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<To>(value);
  }
}

template <typename To>
std::vector<To> read(const ir::Blob& blob) {
  std::vector<To> values(static_cast<std::size_t>(element_count(blob.type.shape)));
  with_element_type(blob.type.dtype, [&]<typename From>(From) {
    if constexpr (kIsComplex<From>) {
      refuse();
    } else {
      const From* data = blob.as<From>();
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = convert<To>(data[i]);
    }
  });
  return values;
}

template <typename From>
ir::Blob write(DType dtype, Shape shape, std::span<const From> values) {
  ir::Blob blob;
  with_element_type(dtype, [&]<typename To>(To) {
    if constexpr (kIsComplex<To>) {
      refuse();
    } else {
      std::unique_ptr<To[]> data(new To[values.size()]);
      for (std::size_t i = 0; i < values.size(); ++i) data[i] = convert<To>(values[i]);
      blob = make_blob(dtype, std::move(shape), data.get());
    }
  });
  return blob;
}

}  // namespace

ir::Blob make_blob(DType dtype, Shape shape, const void* data) {
  ir::Blob blob;
  blob.type = {dtype, std::move(shape), "cpu"};
  const onnx::Bytes bytes = onnx::Bytes::copy_of(data, blob.byte_size());
  blob.data = bytes.data;
  return blob;
}

std::vector<double> to_doubles(const ir::Blob& blob) {
  return read<double>(blob);
}

std::vector<std::int64_t> to_ints(const ir::Blob& blob) {
  return read<std::int64_t>(blob);
}

ir::Blob from_doubles(DType dtype, Shape shape, std::span<const double> values) {
  return write(dtype, std::move(shape), values);
}

ir::Blob from_ints(DType dtype, Shape shape, std::span<const std::int64_t> values) {
  return write(dtype, std::move(shape), values);
}

}  // namespace leapp::onnx_export
