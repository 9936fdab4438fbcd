#include "onnx/tensor_reader.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "onnx/message.h"

namespace leapp::onnx {
namespace {

template <typename T>
Bytes pack(const std::vector<T>& values) {
  return Bytes::copy_of(values.data(), values.size() * sizeof(T));
}

/// Converts int32_data, which stores one element of any type up to 32 bits per number.
Bytes narrow(const std::vector<std::int32_t>& values, std::size_t width) {
  std::string bytes;
  for (const std::int32_t value : values) {
    bytes.append(reinterpret_cast<const char*>(&value), width);
  }
  return Bytes::copy_of(bytes.data(), bytes.size());
}

std::uint64_t number_in(const std::string& value) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    damaged("an external weight has '" + value + "', which is not a number");
  }
  return number;
}

ExternalData external_from(const Properties& entries) {
  ExternalData external;
  for (const auto& [key, value] : entries) {
    if (key == "location") external.location = value;
    if (key == "offset") external.offset = number_in(value);
    if (key == "length") external.length = number_in(value);
  }
  return external;
}

Bytes share(const Bytes& file, data_view view) {
  const auto* first = reinterpret_cast<const std::byte*>(view.data());
  return {std::shared_ptr<const std::byte>(file.data, first), view.size()};
}

}  // namespace

void check_size(const Tensor& tensor) {
  const std::optional<DType> dtype = dtype_of(tensor.type);
  const std::optional<std::int64_t> count = checked_element_count(tensor.dims);
  if (!count) damaged("the weight '" + tensor.name + "' has an impossible shape");
  if (!tensor.strings.empty() && tensor.type != ElementType::kString) {
    damaged("the weight '" + tensor.name + "' of " + text_of(tensor.type) + " has strings");
  }
  if (!dtype || tensor.external) return;
  const auto expected = static_cast<std::uint64_t>(*count) * size_of(*dtype);
  if (expected != tensor.raw.size) {
    damaged("the weight '" + tensor.name + "' of shape " + to_string(tensor.dims) + " has " +
            std::to_string(tensor.raw.size) + " bytes instead of " + std::to_string(expected));
  }
}

Tensor read_tensor(pbf_reader in, const Bytes& file) {
  Tensor tensor;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int32_t> ints;
  std::vector<std::int64_t> longs;
  std::vector<std::uint64_t> unsigned_longs;
  Properties external;
  bool is_external = false;
  each_field(in, tensor.unread, [&] {
    if (is(in, field::tensor::kDataType, pbf_wire_type::varint)) {
      tensor.type = static_cast<ElementType>(in.get_int32());
    } else if (is(in, field::tensor::kRawData)) {
      tensor.raw = share(file, in.get_view());
    } else if (is(in, field::tensor::kStringData)) {
      tensor.strings.push_back(in.get_bytes());
    } else if (is(in, field::tensor::kDataLocation, pbf_wire_type::varint)) {
      is_external = in.get_int32() == field::tensor::kLocationExternal;
    } else {
      return int64s(in, field::tensor::kDims, tensor.dims) ||
             text(in, field::tensor::kName, tensor.name) ||
             text(in, field::tensor::kDocString, tensor.doc_string) ||
             property(in, field::tensor::kExternalData, external) ||
             int64s(in, field::tensor::kInt64Data, longs) ||
             numbers(
                 in, field::tensor::kFloatData, pbf_wire_type::fixed32, floats,
                 [&] { return in.get_float(); }, [&] { return in.get_packed_float(); }) ||
             numbers(
                 in, field::tensor::kDoubleData, pbf_wire_type::fixed64, doubles,
                 [&] { return in.get_double(); }, [&] { return in.get_packed_double(); }) ||
             numbers(
                 in, field::tensor::kInt32Data, pbf_wire_type::varint, ints,
                 [&] { return in.get_int32(); }, [&] { return in.get_packed_int32(); }) ||
             numbers(
                 in, field::tensor::kUInt64Data, pbf_wire_type::varint, unsigned_longs,
                 [&] { return in.get_uint64(); }, [&] { return in.get_packed_uint64(); });
    }
    return true;
  });
  if (is_external) tensor.external = external_from(external);
  if (!floats.empty()) tensor.raw = pack(floats);
  if (!doubles.empty()) tensor.raw = pack(doubles);
  if (!longs.empty()) tensor.raw = pack(longs);
  if (!ints.empty()) {
    const std::optional<DType> dtype = dtype_of(tensor.type);
    tensor.raw = narrow(ints, dtype ? std::min<std::size_t>(size_of(*dtype), 4) : 4);
  }
  if (!unsigned_longs.empty()) {
    const std::vector<std::uint32_t> halves(unsigned_longs.begin(), unsigned_longs.end());
    tensor.raw = tensor.type == ElementType::kUInt32 ? pack(halves) : pack(unsigned_longs);
  }
  check_size(tensor);
  return tensor;
}

}  // namespace leapp::onnx
