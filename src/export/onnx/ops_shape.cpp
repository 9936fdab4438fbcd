#include <algorithm>
#include <numeric>
#include <string>

#include "base/check.h"
#include "export/onnx/kernels.h"
#include "export/onnx/layout.h"
#include "export/onnx/ops.h"

namespace leapp::onnx_export {
namespace {

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// Runs a node that only moves elements, in a type for which it has a kernel.
template <typename Emit>
Value moved(std::string_view op_type, Value x, Emit&& emit) {
  const std::optional<DType> compute = kernel_type(op_type, x.dtype());
  require(
      compute.has_value(), Code::kNoOnnx,
      "ONNX Runtime has no " + std::string(op_type) + " for " + std::string(name_of(x.dtype())));
  return cast(emit(cast(x, *compute)), x.dtype());
}

/// Returns a slice of a concatenation as the parts that it covers; undefined for anything else. A
/// value that is shifted through a history buffer then does not pass through the whole buffer.
Value slice_of_parts(Value x, std::int64_t dim, std::int64_t start, std::int64_t end) {
  Builder& builder = x.builder();
  const BuiltNode* node = builder.producer(x);
  if (node == nullptr || !node->is("Concat") ||
      std::get<std::int64_t>(node->attributes[0].value) != dim) {
    return {};
  }
  std::vector<Value> covered;
  std::int64_t offset = 0;
  for (const std::int32_t id : node->inputs) {
    const Value part(&builder, id);
    const std::int64_t first = std::max(start, offset);
    const std::int64_t last = std::min(end, offset + part.size(dim));
    if (first < last) covered.push_back(slice(part, dim, first - offset, last - offset));
    offset += part.size(dim);
  }
  return concat(covered, dim);
}

/// Returns whether a type must be cast: the runtime moves every type, but does not add half
/// precision.
DType scatter_type(DType dtype, std::string_view reduction) {
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  return half && reduction != "none" ? DType::kFloat32 : dtype;
}

}  // namespace

std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) {
  const std::int64_t limit = std::max<std::int64_t>(rank, 1);
  demand(dim >= -limit && dim < limit, "a dimension out of range");
  return dim < 0 ? dim + limit : dim;
}

Dims wrap_dims(std::span<const std::int64_t> dims, std::int64_t rank) {
  Dims wrapped;
  for (const std::int64_t dim : dims) {
    const std::int64_t one = wrap_dim(dim, rank);
    if (rank > 0) wrapped.push_back(one);
  }
  return wrapped;
}

Dims all_dims(std::int64_t rank) {
  Dims dims(at(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Shape broadcast(const Shape& a, const Shape& b) {
  Shape wide = a.size() >= b.size() ? a : b;
  const Shape& narrow = a.size() >= b.size() ? b : a;
  const std::size_t lead = wide.size() - narrow.size();
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    std::int64_t& size = wide[lead + i];
    demand(size == narrow[i] || size == 1 || narrow[i] == 1, "shapes that do not broadcast");
    if (size == 1) size = narrow[i];
  }
  return wide;
}

Value reshape(Value x, Shape shape) {
  if (x.shape() == shape) return x;
  demand(element_count(shape) == x.count(), "a reshape that changes the number of elements");
  Builder& builder = x.builder();
  // Of two consecutive reshapes only the last one matters.
  if (const BuiltNode* node = builder.producer(x); node != nullptr && node->is("Reshape")) {
    return reshape(Value(&builder, node->inputs[0]), std::move(shape));
  }
  Attrs attributes;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    attributes.push_back({"allowzero", std::int64_t{1}});
  }
  const Value target = int_vector(builder, shape);
  return builder.emit("Reshape", {x, target}, std::move(attributes), {x.dtype(), std::move(shape)});
}

Value unsqueeze(Value x, std::int64_t dim) {
  Shape shape = x.shape();
  shape.insert(shape.begin() + wrap_dim(dim, x.rank() + 1), 1);
  return reshape(x, std::move(shape));
}

Value squeeze(Value x, std::int64_t dim) {
  Shape shape = x.shape();
  shape.erase(shape.begin() + wrap_dim(dim, x.rank()));
  return reshape(x, std::move(shape));
}

Value with_rank(Value x, std::int64_t rank) {
  Shape shape = x.shape();
  if (x.rank() < rank) shape.insert(shape.begin(), at(rank - x.rank()), 1);
  return reshape(x, std::move(shape));
}

Value permute(Value x, Dims dims) {
  dims = wrap_dims(dims, x.rank());
  Builder& builder = x.builder();
  Shape shape(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) shape[i] = x.shape()[at(dims[i])];
  // Moving dimensions of size one moves no element.
  Dims moving;
  for (const std::int64_t dim : dims) {
    if (x.size(dim) != 1) moving.push_back(dim);
  }
  if (std::is_sorted(moving.begin(), moving.end()) || x.count() == 0) {
    return reshape(x, std::move(shape));
  }
  if (const BuiltNode* node = builder.producer(x); node != nullptr && node->is("Transpose")) {
    const auto& former = std::get<std::vector<std::int64_t>>(node->attributes[0].value);
    Dims merged(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) merged[i] = former[at(dims[i])];
    return permute(Value(&builder, node->inputs[0]), std::move(merged));
  }
  return builder.emit("Transpose", {x}, {{"perm", std::move(dims)}}, {x.dtype(), std::move(shape)});
}

Value transpose(Value x, std::int64_t a, std::int64_t b) {
  Dims dims = all_dims(x.rank());
  if (x.rank() < 2) return x;
  std::swap(dims[at(wrap_dim(a, x.rank()))], dims[at(wrap_dim(b, x.rank()))]);
  return permute(x, std::move(dims));
}

Value expand(Value x, Shape shape) {
  if (x.shape() == shape) return x;
  if (element_count(shape) == x.count()) return reshape(x, std::move(shape));
  return moved("Expand", x, [&](Value operand) {
    const Value target = int_vector(x.builder(), shape);
    return x.builder().emit("Expand", {operand, target}, {}, {operand.dtype(), shape});
  });
}

Value slice(Value x, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
  dim = wrap_dim(dim, x.rank());
  const std::int64_t size = x.size(dim);
  Shape shape = x.shape();
  std::int64_t length = 0;
  if (step > 0) {
    if (start < 0) start += size;
    if (end < 0) end += size;
    start = std::clamp<std::int64_t>(start, 0, size);
    end = std::clamp<std::int64_t>(end, start, size);
    length = (end - start + step - 1) / step;
  } else {
    length = start > end ? (start - end - step - 1) / -step : 0;
    if (end < 0) end = -size - 1;  // ONNX: before the first element
  }
  if (step > 0 && length == size) return x;
  shape[at(dim)] = length;
  Builder& builder = x.builder();
  if (step == 1 && length > 0) {
    const Value parts = slice_of_parts(x, dim, start, end);
    if (parts.defined()) return parts;
  }
  const auto one = [&](std::int64_t value) { return int_vector(builder, std::span(&value, 1)); };
  return builder.emit("Slice", {x, one(start), one(end), one(dim), one(step)}, {},
                      {x.dtype(), std::move(shape)});
}

Value select(Value x, std::int64_t dim, std::int64_t index) {
  dim = wrap_dim(dim, x.rank());
  if (index < 0) index += x.size(dim);
  if (const Value last = last_step(x, dim, index); last.defined()) return last;
  if (const BuiltNode* node = x.builder().producer(x); node != nullptr && node->is("Transpose")) {
    // Read before the rest is moved.
    const auto& former = std::get<std::vector<std::int64_t>>(node->attributes[0].value);
    const std::int64_t source = former[at(dim)];
    Dims rest;
    for (const std::int64_t d : former) {
      if (d != source) rest.push_back(d > source ? d - 1 : d);
    }
    return permute(select(Value(&x.builder(), node->inputs[0]), source, index), std::move(rest));
  }
  return squeeze(slice(x, dim, index, index + 1), dim);
}

Value flip(Value x, std::span<const std::int64_t> dims) {
  for (const std::int64_t dim : wrap_dims(dims, x.rank())) {
    if (x.size(dim) > 1) x = slice(x, dim, x.size(dim) - 1, -1, -1);
  }
  return x;
}

Value concat(std::span<const Value> parts, std::int64_t dim) {
  demand(!parts.empty(), "a concatenation of nothing");
  const std::int64_t axis = wrap_dim(dim, parts[0].rank());
  Shape shape = parts[0].shape();
  shape[at(axis)] = 0;
  std::vector<Value> used;
  for (const Value& part : parts) {
    demand(part.dtype() == parts[0].dtype(), "a concatenation of different element types");
    shape[at(axis)] += part.size(axis);
    if (part.size(axis) > 0) used.push_back(part);
  }
  if (used.empty()) return parts[0];
  if (used.size() == 1) return used[0];
  return parts[0].builder().emit("Concat", used, {{"axis", axis}},
                                 {parts[0].dtype(), std::move(shape)});
}

Value concat(std::initializer_list<Value> parts, std::int64_t dim) {
  return concat(std::span(parts.begin(), parts.size()), dim);
}

Value stack(std::span<const Value> parts, std::int64_t dim) {
  std::vector<Value> raised;
  for (const Value& part : parts) raised.push_back(unsqueeze(part, dim));
  return concat(raised, wrap_dim(dim, parts[0].rank() + 1));
}

std::vector<Value> split(Value x, std::span<const std::int64_t> sizes, std::int64_t dim) {
  const std::int64_t axis = wrap_dim(dim, x.rank());
  if (sizes.size() == 1) return {x};
  std::vector<Type> types;
  for (const std::int64_t size : sizes) {
    types.push_back({x.dtype(), x.shape()});
    types.back().shape[at(axis)] = size;
  }
  return x.builder().emit_many("Split", {x, int_vector(x.builder(), sizes)}, {{"axis", axis}},
                               std::move(types));
}

Value pad_constant(Value x, const Dims& before, const Dims& after, double value) {
  Shape shape = x.shape();
  Dims pads = before;
  bool changes = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    shape[i] += before[i] + after[i];
    pads.push_back(after[i]);
    changes = changes || before[i] != 0 || after[i] != 0;
  }
  if (!changes) return x;
  return moved("Pad", x, [&](Value operand) {
    return x.builder().emit("Pad",
                            {operand, int_vector(x.builder(), pads), scalar_like(operand, value)},
                            {}, {operand.dtype(), shape});
  });
}

Value tile(Value x, const Dims& repeats) {
  Shape shape = x.shape();
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] *= repeats[i];
  if (shape == x.shape()) return x;
  return moved("Tile", x, [&](Value operand) {
    return x.builder().emit("Tile", {operand, int_vector(x.builder(), repeats)}, {},
                            {operand.dtype(), shape});
  });
}

Value gather(Value x, Value index, std::int64_t dim) {
  const std::int64_t axis = wrap_dim(dim, x.rank());
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), index.shape().begin(), index.shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  return x.builder().emit("Gather", {x, index}, {{"axis", axis}}, {x.dtype(), std::move(shape)});
}

Value gather_elements(Value x, Value index, std::int64_t dim) {
  const std::int64_t axis = wrap_dim(dim, x.rank());
  return x.builder().emit("GatherElements", {x, index}, {{"axis", axis}},
                          {x.dtype(), index.shape()});
}

Value gather_nd(Value x, Value index, std::int64_t batch_dims) {
  Shape shape(index.shape().begin(), index.shape().end() - 1);
  shape.insert(shape.end(), x.shape().begin() + batch_dims + index.size(-1), x.shape().end());
  return x.builder().emit("GatherND", {x, index}, {{"batch_dims", batch_dims}},
                          {x.dtype(), std::move(shape)});
}

Value scatter_elements(Value x, Value index, Value updates, std::int64_t dim,
                       std::string_view reduction) {
  const std::int64_t axis = wrap_dim(dim, x.rank());
  Attrs attributes = {{"axis", axis}};
  if (reduction != "none") attributes.push_back({"reduction", std::string(reduction)});
  const DType compute = scatter_type(x.dtype(), reduction);
  const Value written =
      x.builder().emit("ScatterElements", {cast(x, compute), index, cast(updates, compute)},
                       std::move(attributes), {compute, x.shape()});
  return cast(written, x.dtype());
}

Value scatter_nd(Value x, Value index, Value updates, std::string_view reduction) {
  Attrs attributes;
  if (reduction != "none") attributes.push_back({"reduction", std::string(reduction)});
  const DType compute = scatter_type(x.dtype(), reduction);
  const Value written =
      x.builder().emit("ScatterND", {cast(x, compute), index, cast(updates, compute)},
                       std::move(attributes), {compute, x.shape()});
  return cast(written, x.dtype());
}

}  // namespace leapp::onnx_export
