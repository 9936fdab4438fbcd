// Writing elements by index: the result is a copy in which some elements are replaced or added to.
#include <algorithm>
#include <cmath>

#include "export/onnx/indexing.h"
#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Replaces the positions `start`, `start` + `step`, .. along `dim` by the slices of `source`.
Value write_slice(Value x, Value source, std::int64_t dim, std::int64_t start, std::int64_t step) {
  const std::int64_t size = x.size(dim);
  const std::int64_t count = source.size(dim);
  if (count == 0) return x;
  if (count == size) return source;
  if (step == 1) {
    std::vector<Value> parts;
    if (start > 0) parts.push_back(slice(x, dim, 0, start));
    parts.push_back(source);
    if (start + count < size) parts.push_back(slice(x, dim, start + count, size));
    return concat(parts, dim);
  }
  Dims from(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) from[static_cast<std::size_t>(i)] = i;
  for (std::int64_t i = 0; i < count; ++i) {
    from[static_cast<std::size_t>(start + i * step)] = size + i;
  }
  return gather(concat({x, source}, dim), int_vector(x.builder(), from), dim);
}

Value convert_slice_scatter(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  const std::int64_t size = x.size(dim);
  std::int64_t start = context.integer("start", 0);
  if (start < 0) start = std::max<std::int64_t>(start + size, 0);
  const std::int64_t step = context.integer("step");
  constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  const Shape region = slice(x, dim, start, context.integer("end", kEnd), step).shape();
  const Value source = expand(cast(context.tensor("src"), x.dtype()), region);
  return write_slice(x, source, dim, std::min(start, size), step);
}

Value convert_select_scatter(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  std::int64_t index = context.integer("index");
  if (index < 0) index += x.size(dim);
  return write_slice(x, unsqueeze(cast(context.tensor("src"), x.dtype()), dim), dim, index, 1);
}

Value convert_diagonal_scatter(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t a = wrap_dim(context.integer("dim1"), x.rank());
  const std::int64_t b = wrap_dim(context.integer("dim2"), x.rank());
  Dims order;
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    if (d != a && d != b) order.push_back(d);
  }
  order.push_back(a);
  order.push_back(b);
  const Value moved = permute(x, order);
  const std::int64_t rows = x.size(a);
  const std::int64_t columns = x.size(b);
  Shape flat(moved.shape().begin(), moved.shape().end() - 2);
  flat.push_back(rows * columns);
  Dims from(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::int64_t>(i);
  const std::int64_t offset = context.integer("offset");
  std::int64_t next = rows * columns;
  for (std::int64_t row = std::max<std::int64_t>(0, -offset); row < rows && row + offset < columns;
       ++row) {
    from[static_cast<std::size_t>(row * columns + row + offset)] = next++;
  }
  const Value both = concat({reshape(moved, flat), cast(context.tensor("src"), x.dtype())}, -1);
  const Value written =
      reshape(gather(both, int_vector(context.builder(), from), -1), moved.shape());
  Dims back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  return permute(written, back);
}

/// Returns the part of `source` that a smaller `index` reads.
Value trimmed(Value source, const Shape& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    source = slice(source, static_cast<std::int64_t>(d), 0, shape[d]);
  }
  return source;
}

/// Writes a 0-d or empty scatter, which needs special shapes; `write` sees at least one dimension.
template <typename Write>
Value with_dimensions(Value x, Value index, Value source, Write&& write) {
  if (index.count() == 0) return x;
  if (x.rank() > 0 && index.rank() > 0) return write(x, index, source);
  const auto raise = [](Value value) { return value.rank() == 0 ? reshape(value, {1}) : value; };
  return reshape(write(raise(x), raise(index), raise(source)), x.shape());
}

enum class Reduction { kReplace, kSum, kProduct, kMean, kMax, kMin };

Reduction reduction_of(OpContext& context) {
  const std::string name = context.text("reduce");
  if (name == "sum" || name == "add") return Reduction::kSum;
  if (name == "prod" || name == "multiply") return Reduction::kProduct;
  if (name == "mean") return Reduction::kMean;
  if (name == "amax") return Reduction::kMax;
  if (name == "amin") return Reduction::kMin;
  context.fail("its reduction '" + name + "' is unknown");
}

/// Returns the value that does not change the other operand.
Value neutral(Builder& builder, Reduction reduction, DType dtype) {
  const bool largest = reduction == Reduction::kMin;
  if (reduction == Reduction::kMin || reduction == Reduction::kMax) {
    if (is_floating_point(dtype)) return scalar(builder, dtype, largest ? INFINITY : -INFINITY);
    const auto [low, high] = integer_range(dtype);
    return scalar_int(builder, dtype, largest ? high : low);
  }
  return scalar(builder, dtype, reduction == Reduction::kProduct ? 1 : 0);
}

Value scatter_extreme(Value x, Value index, Value source, std::int64_t dim, bool largest) {
  const Value found = scatter_elements(x, index, source, dim, largest ? "max" : "min");
  if (!is_floating_point(x.dtype())) return found;
  // The runtime loses NaN, but PyTorch keeps it.
  const Value nan = scatter_elements(cast(is_nan(x), DType::kFloat32), index,
                                     cast(is_nan(source), DType::kFloat32), dim, "add");
  return where(nan > 0.0, NAN, found);
}

Value scatter_reduced(OpContext& context, Value x, Value index, Value source, std::int64_t dim,
                      Reduction reduction, bool include_self) {
  Builder& builder = context.builder();
  Value base = x;
  if (!include_self) {
    const Value start = expand(neutral(builder, reduction, x.dtype()), index.shape());
    base = scatter_elements(x, index, start, dim);
  }
  switch (reduction) {
    case Reduction::kReplace:
      return scatter_elements(x, index, source, dim);
    case Reduction::kSum:
      return scatter_elements(base, index, source, dim, "add");
    case Reduction::kProduct:
      return scatter_elements(base, index, source, dim, "mul");
    case Reduction::kMax:
    case Reduction::kMin:
      context.need_opset(18, "a scatter that keeps the largest or smallest element");
      return scatter_extreme(base, index, source, dim, reduction == Reduction::kMax);
    case Reduction::kMean:
      break;
  }
  const Value total = scatter_elements(base, index, source, dim, "add");
  const Value ones = full(builder, {x.dtype(), index.shape()}, 1);
  const Value counted = scatter_elements(
      full(builder, {x.dtype(), x.shape()}, include_self ? 1 : 0), index, ones, dim, "add");
  const Value count = include_self ? counted : maximum(counted, scalar_like(counted, 1));
  return is_floating_point(x.dtype()) ? total / count : floor_divide(total, count);
}

Value scatter_along(OpContext& context, Value index, Value source, Reduction reduction,
                    bool include_self) {
  const Value x = context.tensor("self");
  const std::int64_t dim = context.integer("dim");
  return with_dimensions(x, cast(index, DType::kInt64), cast(source, x.dtype()),
                         [&](Value base, Value where_to, Value what) {
                           return scatter_reduced(context, base, where_to,
                                                  trimmed(what, where_to.shape()), dim, reduction,
                                                  include_self);
                         });
}

Value convert_scatter(OpContext& context) {
  const Value index = context.tensor("index");
  const DType dtype = context.result_dtype();
  const Value source = context.has("src")
                           ? context.tensor("src")
                           : expand(cast(context.operand("value"), dtype), index.shape());
  const Reduction reduction = context.has("reduce") ? reduction_of(context) : Reduction::kReplace;
  return scatter_along(context, index, source, reduction, true);
}

Value convert_scatter_add(OpContext& context) {
  return scatter_along(context, context.tensor("index"), context.tensor("src"), Reduction::kSum,
                       true);
}

Value convert_scatter_reduce(OpContext& context) {
  return scatter_along(context, context.tensor("index"), context.tensor("src"),
                       reduction_of(context), context.flag("include_self"));
}

/// Returns a vector of positions along `dim`, as an index of the source's shape.
Value spread_index(Value index, std::int64_t dim, const Shape& shape) {
  if (shape.empty()) return reshape(index, {});
  Shape line(shape.size(), 1);
  line[static_cast<std::size_t>(wrap_dim(dim, static_cast<std::int64_t>(shape.size())))] =
      index.count();
  return expand(reshape(index, line), shape);
}

Value convert_index_add(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Value source = cast(context.tensor("source"), dtype);
  const Value scaled = source * context.scalar_argument("alpha", dtype);
  const Value index = spread_index(context.tensor("index"), context.integer("dim"), source.shape());
  return scatter_along(context, index, scaled, Reduction::kSum, true);
}

Value convert_index_copy(OpContext& context) {
  const Value source = context.tensor("source");
  const Value index = spread_index(context.tensor("index"), context.integer("dim"), source.shape());
  return scatter_along(context, index, source, Reduction::kReplace, true);
}

Value convert_index_reduce(OpContext& context) {
  const Value source = context.tensor("source");
  const Value index = spread_index(context.tensor("index"), context.integer("dim"), source.shape());
  return scatter_along(context, index, source, reduction_of(context), context.flag("include_self"));
}

Value convert_index_fill(OpContext& context) {
  const Value x = context.tensor("self");
  const Value index = context.tensor("index");
  Shape shape = x.shape();
  if (!shape.empty()) {
    shape[static_cast<std::size_t>(wrap_dim(context.integer("dim"), x.rank()))] = index.count();
  }
  const Value fill = expand(reshape(cast(context.operand("value"), x.dtype()), {}), shape);
  return scatter_along(context, spread_index(index, context.integer("dim"), shape), fill,
                       Reduction::kReplace, true);
}

/// Returns x[mask] = value if the value is the same for every selected element.
Value fill_masked(OpContext& context, Value x, const std::vector<Value>& indices, Value values,
                  bool accumulate) {
  std::size_t first = 0;
  while (!indices[first].defined()) ++first;
  const Value mask = cast(indices[first], DType::kBool);
  Shape shape(static_cast<std::size_t>(x.rank()), 1);
  std::copy(mask.shape().begin(), mask.shape().end(),
            shape.begin() + static_cast<std::ptrdiff_t>(first));
  // The value may vary along the dimensions after the mask's, but not along the mask's.
  const std::int64_t after = x.rank() - static_cast<std::int64_t>(first) - mask.rank();
  const bool same_for_all = values.rank() <= after ||
                            (values.rank() == after + 1 && values.size(0) == 1 && first == 0) ||
                            values.count() == 1;
  context.need(
      same_for_all,
      "it writes as many values as a computed mask selects, which is known only at run time",
      "Use torch.where(mask, values, x) with values of the full shape.");
  const Value fill = values.count() == 1 ? reshape(values, {}) : values;
  return where(reshape(mask, shape),
               accumulate ? x + fill : expand(fill, broadcast(fill.shape(), x.shape())), x);
}

Value index_put(OpContext& context, Value x, const std::vector<Value>& indices, Value values,
                bool accumulate) {
  std::vector<Value> given;
  std::copy_if(indices.begin(), indices.end(), std::back_inserter(given),
               [](const Value& index) { return index.defined(); });
  if (given.empty()) {
    const Value all = expand(values, x.shape());
    return accumulate ? x + all : all;
  }
  const bool mask = given[0].dtype() == DType::kBool || given[0].dtype() == DType::kUInt8;
  if (given.size() == 1 && mask && !given[0].is_constant()) {
    return fill_masked(context, x, indices, values, accumulate);
  }
  const Indexed found = resolve_index(context, x, indices);
  // Everything is written at the front: [position, rest..].
  Dims front = {found.dim};
  for (std::int64_t d = 0; d < found.base.rank(); ++d) {
    if (d != found.dim) front.push_back(d);
  }
  const Value base = permute(found.base, front);
  Shape region(found.base.shape().begin(), found.base.shape().begin() + found.dim);
  region.insert(region.end(), found.index.shape().begin(), found.index.shape().end());
  region.insert(region.end(), found.base.shape().begin() + found.dim + 1, found.base.shape().end());
  if (element_count(region) == 0) return x;
  Value updates = expand(values, region);
  Dims updates_order;
  const std::int64_t index_rank = found.index.rank();
  for (std::int64_t d = 0; d < index_rank; ++d) updates_order.push_back(found.dim + d);
  for (std::int64_t d = 0; d < updates.rank(); ++d) {
    if (d < found.dim || d >= found.dim + index_rank) updates_order.push_back(d);
  }
  updates = permute(updates, updates_order);
  const Value index = unsqueeze(positive_index(found.index, base.size(0)), -1);
  const Value written = scatter_nd(base, index, updates, accumulate ? "add" : "none");
  Dims back(front.size());
  for (std::size_t i = 0; i < front.size(); ++i) {
    back[static_cast<std::size_t>(front[i])] = static_cast<std::int64_t>(i);
  }
  const Value unmerged = reshape(permute(written, back), found.moved_shape);
  if (found.order.empty()) return unmerged;
  Dims home(found.order.size());
  for (std::size_t i = 0; i < home.size(); ++i) {
    home[static_cast<std::size_t>(found.order[i])] = static_cast<std::int64_t>(i);
  }
  return permute(unmerged, home);
}

Value convert_index_put(OpContext& context) {
  const Value x = context.tensor("self");
  return index_put(context, x, context.tensors("indices"),
                   cast(context.tensor("values"), x.dtype()), context.flag("accumulate"));
}

Value convert_masked_index_put(OpContext& context) {
  const Value x = context.tensor("self");
  const Value values = cast(context.tensor("values"), x.dtype());
  return index_put(context, x, held_inside(x, context.tensors("indices")),
                   where(context.tensor("mask"), values, 0.0), true);
}

Value convert_put(OpContext& context) {
  const Value x = context.tensor("self");
  const Value index = context.tensor("index");
  if (index.count() == 0) return x;
  const Value flat_index = reshape(positive_index(index, x.count()), {index.count(), 1});
  const Value updates = reshape(cast(context.tensor("source"), x.dtype()), {index.count()});
  return reshape(scatter_nd(reshape(x, {x.count()}), flat_index, updates,
                            context.flag("accumulate") ? "add" : "none"),
                 x.shape());
}

Value convert_masked_scatter(OpContext& context) {
  const Shape& shape = context.result_shape();
  const Value x = expand(context.tensor("self"), shape);
  const Value mask = expand(cast(context.tensor("mask"), DType::kBool), shape);
  const Value source = context.tensor("source");
  if (source.count() == 0 || x.count() == 0) return x;
  // The n-th selected position receives the n-th element of the source.
  const Value flat = cast(reshape(mask, {mask.count()}), DType::kInt64);
  const Value nth = cumulative_sum(flat, 0) - 1.0;
  const Value safe = minimum(maximum(nth, scalar_like(nth, 0)),
                             scalar_like(nth, static_cast<double>(source.count() - 1)));
  const Value taken = gather(reshape(source, {source.count()}), safe, 0);
  return where(mask, reshape(taken, shape), x);
}

}  // namespace

void register_scatter(ConverterRegistry& registry) {
  registry.add("aten::slice_scatter", convert_slice_scatter);
  registry.add("aten::select_scatter", convert_select_scatter);
  registry.add("aten::diagonal_scatter", convert_diagonal_scatter);
  registry.add({"aten::scatter.src", "aten::scatter.value", "aten::scatter.reduce",
                "aten::scatter.value_reduce"},
               convert_scatter);
  registry.add("aten::scatter_add", convert_scatter_add);
  registry.add("aten::scatter_reduce.two", convert_scatter_reduce);
  registry.add("aten::index_add", convert_index_add);
  registry.add("aten::index_copy", convert_index_copy);
  registry.add("aten::index_reduce", convert_index_reduce);
  registry.add({"aten::index_fill.int_Scalar", "aten::index_fill.int_Tensor"}, convert_index_fill);
  registry.add({"aten::index_put", "aten::_unsafe_index_put"}, convert_index_put);
  registry.add("aten::_unsafe_masked_index_put_accumulate", convert_masked_index_put);
  registry.add("aten::put", convert_put);
  registry.add("aten::masked_scatter", convert_masked_scatter);
}

}  // namespace leapp::onnx_export
