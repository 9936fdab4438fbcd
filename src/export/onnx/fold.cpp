#include "export/onnx/fold.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "export/onnx/blob.h"

namespace leapp::onnx_export {
namespace {

using Blobs = std::vector<const ir::Blob*>;
using Folded = std::shared_ptr<const ir::Blob>;

// Larger results of arithmetic are not folded, because the file would grow.
constexpr std::int64_t kMaxElements = 1 << 16;
// Moving elements of a weight (a transposition, for example) keeps its size; this is done for up to
// 64 M elements.
constexpr std::int64_t kMaxMoved = 1 << 26;
constexpr std::int64_t kMaxWidened = 64;

Folded share(ir::Blob blob) {
  return std::make_shared<const ir::Blob>(std::move(blob));
}

const onnx::Attribute::Value* find(const BuiltNode& node, std::string_view name) {
  for (const Attr& attribute : node.attributes) {
    if (attribute.name == name) return &attribute.value;
  }
  return nullptr;
}

std::int64_t int_attribute(const BuiltNode& node, std::string_view name, std::int64_t otherwise) {
  const auto* value = find(node, name);
  return value == nullptr ? otherwise : std::get<std::int64_t>(*value);
}

Shape strides_of(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Returns a blob of `shape` whose element at each position is the source's at offset + position *
/// steps.
ir::Blob gather_strided(const ir::Blob& source, const Shape& shape, const Shape& steps,
                        std::int64_t offset) {
  const std::size_t width = size_of(source.type.dtype);
  std::vector<std::byte> data(static_cast<std::size_t>(element_count(shape)) * width);
  const std::byte* from = source.data.get();
  std::byte* to = data.data();
  Shape position(shape.size(), 0);
  for (std::int64_t left = element_count(shape); left > 0; --left) {
    std::memcpy(to, from + offset * static_cast<std::int64_t>(width), width);
    to += width;
    for (std::size_t d = shape.size(); d-- > 0;) {
      offset += steps[d];
      if (++position[d] < shape[d]) break;
      offset -= steps[d] * shape[d];
      position[d] = 0;
    }
  }
  return make_blob(source.type.dtype, shape, data.data());
}

Shape broadcast_steps(const Shape& from, const Shape& to) {
  Shape steps(to.size(), 0);
  const Shape strides = strides_of(from);
  const std::size_t lead = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) steps[lead + i] = strides[i];
  }
  return steps;
}

Folded fold_reshape(const BuiltNode&, const Blobs& in, const Type& type) {
  ir::Blob blob = *in[0];
  blob.type.shape = type.shape;
  return share(std::move(blob));
}

Folded fold_cast(const BuiltNode&, const Blobs& in, const Type& type) {
  const DType from = in[0]->type.dtype;
  if (is_complex(from) || is_complex(type.dtype)) return nullptr;
  if (is_floating_point(from)) {
    const std::vector<double> values = to_doubles(*in[0]);
    // Casting such a value is undefined behaviour in C++, so the engine does it.
    const auto outside = [](double v) { return !(std::fabs(v) < 9.0e18); };
    if (!is_floating_point(type.dtype) && type.dtype != DType::kBool &&
        std::any_of(values.begin(), values.end(), outside)) {
      return nullptr;
    }
    return share(from_doubles(type.dtype, type.shape, values));
  }
  return share(from_ints(type.dtype, type.shape, to_ints(*in[0])));
}

Folded fold_transpose(const BuiltNode& node, const Blobs& in, const Type& type) {
  const auto* found = find(node, "perm");
  if (found == nullptr) return nullptr;
  const auto& perm = std::get<std::vector<std::int64_t>>(*found);
  const Shape strides = strides_of(in[0]->type.shape);
  Shape steps(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) {
    steps[i] = strides[static_cast<std::size_t>(perm[i])];
  }
  return share(gather_strided(*in[0], type.shape, steps, 0));
}

Folded fold_expand(const BuiltNode&, const Blobs& in, const Type& type) {
  if (element_count(type.shape) > kMaxElements) return nullptr;
  return share(
      gather_strided(*in[0], type.shape, broadcast_steps(in[0]->type.shape, type.shape), 0));
}

Folded fold_slice(const BuiltNode&, const Blobs& in, const Type& type) {
  if (in.size() != 5 || element_count(type.shape) == 0) return nullptr;
  const std::vector<std::int64_t> starts = to_ints(*in[1]);
  const std::vector<std::int64_t> axes = to_ints(*in[3]);
  const std::vector<std::int64_t> by = to_ints(*in[4]);
  Shape steps = strides_of(in[0]->type.shape);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const std::int64_t size = in[0]->type.shape[axis];
    const std::int64_t start = starts[i] < 0 ? starts[i] + size : std::min(starts[i], size - 1);
    offset += std::max<std::int64_t>(start, 0) * steps[axis];
    steps[axis] *= by[i];
  }
  return share(gather_strided(*in[0], type.shape, steps, offset));
}

Folded fold_concat(const BuiltNode& node, const Blobs& in, const Type& type) {
  const auto axis = static_cast<std::size_t>(int_attribute(node, "axis", 0));
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= type.shape[d];
  std::vector<std::byte> data;
  data.reserve(static_cast<std::size_t>(element_count(type.shape)) * size_of(type.dtype));
  for (std::int64_t i = 0; i < outer; ++i) {
    for (const ir::Blob* blob : in) {
      const std::size_t bytes = blob->byte_size() / static_cast<std::size_t>(outer);
      const std::byte* from = blob->data.get() + static_cast<std::size_t>(i) * bytes;
      data.insert(data.end(), from, from + bytes);
    }
  }
  return share(make_blob(type.dtype, type.shape, data.data()));
}

template <typename T>
std::vector<T> numbers(const ir::Blob& blob, const Shape& shape) {
  const ir::Blob spread =
      blob.type.shape == shape
          ? blob
          : gather_strided(blob, shape, broadcast_steps(blob.type.shape, shape), 0);
  if constexpr (std::is_same_v<T, double>) {
    return to_doubles(spread);
  } else {
    return to_ints(spread);
  }
}

using Binary = std::function<double(double, double)>;
using IntBinary = std::function<std::optional<std::int64_t>(std::int64_t, std::int64_t)>;

struct BinaryRow {
  Binary on_doubles;
  IntBinary on_ints;
};

std::int64_t wrap(std::uint64_t bits) {
  return static_cast<std::int64_t>(bits);
}
std::uint64_t bits(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

// For + - * / and sqrt, a double result rounded once more is the exact float result.
const std::unordered_map<std::string_view, BinaryRow>& binary_table() {
  using I = std::int64_t;
  static const std::unordered_map<std::string_view, BinaryRow> kTable = {
      {"Add", {std::plus<>(), [](I a, I b) { return wrap(bits(a) + bits(b)); }}},
      {"Sub", {std::minus<>(), [](I a, I b) { return wrap(bits(a) - bits(b)); }}},
      {"Mul", {std::multiplies<>(), [](I a, I b) { return wrap(bits(a) * bits(b)); }}},
      {"Div",
       {std::divides<>(),
        [](I a, I b) -> std::optional<I> {
          if (b == 0 || b == -1) return std::nullopt;
          return a / b;
        }}},
      {"Equal", {std::equal_to<>(), [](I a, I b) { return I{a == b}; }}},
      {"Less", {std::less<>(), [](I a, I b) { return I{a < b}; }}},
      {"Greater", {std::greater<>(), [](I a, I b) { return I{a > b}; }}},
      {"LessOrEqual", {std::less_equal<>(), [](I a, I b) { return I{a <= b}; }}},
      {"GreaterOrEqual", {std::greater_equal<>(), [](I a, I b) { return I{a >= b}; }}},
      {"And", {nullptr, [](I a, I b) { return I{a != 0 && b != 0}; }}},
      {"Or", {nullptr, [](I a, I b) { return I{a != 0 || b != 0}; }}},
  };
  return kTable;
}

const std::unordered_map<std::string_view, double (*)(double)>& unary_table() {
  static const std::unordered_map<std::string_view, double (*)(double)> kTable = {
      {"Neg", [](double x) { return -x; }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Reciprocal", [](double x) { return 1.0 / x; }},
      {"Abs", [](double x) { return std::fabs(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
  };
  return kTable;
}

Folded fold_binary(const BinaryRow& row, const Blobs& in, const Type& type) {
  const DType from = in[0]->type.dtype;
  if (is_floating_point(from)) {
    if (!row.on_doubles) return nullptr;
    std::vector<double> a = numbers<double>(*in[0], type.shape);
    const std::vector<double> b = numbers<double>(*in[1], type.shape);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = row.on_doubles(a[i], b[i]);
    return share(from_doubles(type.dtype, type.shape, a));
  }
  if (from == DType::kUInt64) return nullptr;
  std::vector<std::int64_t> a = numbers<std::int64_t>(*in[0], type.shape);
  const std::vector<std::int64_t> b = numbers<std::int64_t>(*in[1], type.shape);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::optional<std::int64_t> value = row.on_ints(a[i], b[i]);
    if (!value) return nullptr;
    a[i] = *value;
  }
  return share(from_ints(type.dtype, type.shape, a));
}

Folded fold_not(const BuiltNode&, const Blobs& in, const Type& type) {
  std::vector<std::int64_t> values = to_ints(*in[0]);
  for (std::int64_t& value : values) value = value == 0 ? 1 : 0;
  return share(from_ints(type.dtype, type.shape, values));
}

Folded fold_arithmetic(const BuiltNode& node, const Blobs& in, const Type& type) {
  if (element_count(type.shape) > kMaxElements) return nullptr;
  if (const auto row = binary_table().find(node.op_type);
      row != binary_table().end() && in.size() == 2) {
    return fold_binary(row->second, in, type);
  }
  if (const auto row = unary_table().find(node.op_type);
      row != unary_table().end() && is_floating_point(type.dtype)) {
    std::vector<double> values = to_doubles(*in[0]);
    for (double& value : values) value = row->second(value);
    return share(from_doubles(type.dtype, type.shape, values));
  }
  return nullptr;
}

using Folder = Folded (*)(const BuiltNode&, const Blobs&, const Type&);

const std::unordered_map<std::string_view, Folder>& movers() {
  static const std::unordered_map<std::string_view, Folder> kTable = {
      {"Reshape", fold_reshape}, {"Cast", fold_cast},   {"Transpose", fold_transpose},
      {"Expand", fold_expand},   {"Slice", fold_slice}, {"Concat", fold_concat},
      {"Not", fold_not},
  };
  return kTable;
}

/// Returns whether a cast widens a half-precision weight, which stays so in the file; engines
/// convert it once, while loading.
bool widens_weights(const BuiltNode& node, const Blobs& in) {
  if (node.op_type != "Cast") return false;
  const DType dtype = in[0]->type.dtype;
  return (dtype == DType::kFloat16 || dtype == DType::kBFloat16) &&
         element_count(in[0]->type.shape) > kMaxWidened;
}

bool is_exotic(DType dtype) {
  return is_complex(dtype) || dtype == DType::kFloat8E4M3FN || dtype == DType::kFloat8E5M2;
}

}  // namespace

Folded fold(const Builder& builder, const BuiltNode& node, const Type& type) {
  if (node.inputs.empty() || element_count(type.shape) > kMaxMoved) return nullptr;
  Blobs in;
  for (const std::int32_t id : node.inputs) {
    if (id < 0) return nullptr;
    const BuiltValue& value = builder.value(id);
    if (value.constant == nullptr || is_exotic(value.type.dtype)) return nullptr;
    in.push_back(value.constant.get());
  }
  if (is_exotic(type.dtype) || widens_weights(node, in)) return nullptr;
  if (const auto mover = movers().find(node.op_type); mover != movers().end()) {
    return mover->second(node, in, type);
  }
  return fold_arithmetic(node, in, type);
}

}  // namespace leapp::onnx_export
