// Counting into bins, and sums over bags of rows.
#include <cmath>

#include "export/onnx/indexing.h"
#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Returns evenly spaced numbers, computed from both ends towards the middle, as torch.linspace
/// does.
Value linspace(Value start, Value end, std::int64_t steps) {
  Builder& builder = start.builder();
  if (steps == 1) return reshape(start, {1});
  const Value i = cast(iota(builder, steps), start.dtype());
  const Value step = (end - start) / static_cast<double>(steps - 1);
  const Value from_start = start + i * step;
  const Value from_end = end - (static_cast<double>(steps - 1) - i) * step;
  return where(i < static_cast<double>(steps / 2), from_start, from_end);
}

Value operand_0d(OpContext& context, std::string_view parameter, DType dtype) {
  return reshape(cast(context.operand(parameter), dtype), {});
}

Value convert_linspace(OpContext& context) {
  const Type type = context.result_type();
  context.need(is_floating_point(type.dtype), "it spaces integers", "Use floating point.");
  return linspace(operand_0d(context, "start", type.dtype), operand_0d(context, "end", type.dtype),
                  context.integer("steps"));
}

Value convert_logspace(OpContext& context) {
  const Type type = context.result_type();
  context.need(is_floating_point(type.dtype), "it spaces integers", "Use floating point.");
  const DType wide = DType::kFloat64;
  const Value exponents = linspace(operand_0d(context, "start", wide),
                                   operand_0d(context, "end", wide), context.integer("steps"));
  const Value base = scalar(context.builder(), wide, context.number("base"));
  return cast(pow(base, exponents), type.dtype);
}

/// The bin of each value, and whether it is in any. The last bin includes its upper end.
struct Bins {
  Value index;
  Value inside;
};

Bins bins_of(Value values, Value edges) {
  const std::int64_t bins = edges.count() - 1;
  const Value line = reshape(values, {values.count()});
  const Value not_above = unsqueeze(edges, 0) <= unsqueeze(line, 1);
  const Value below = sum(cast(not_above, DType::kInt64), {1}) - 1.0;
  const Value last = scalar_int(values.builder(), DType::kInt64, bins - 1);
  const Value index = minimum(maximum(below, scalar_like(below, 0)), last);
  return {index, line >= slice(edges, 0, 0, 1) && line <= slice(edges, 0, bins, bins + 1)};
}

/// Edges between the smallest and the largest value, or the given range.
Value edges_for(OpContext& context, Value values, std::int64_t bins, std::size_t dim) {
  const DType dtype = values.dtype();
  Builder& builder = context.builder();
  const std::vector<double> range = context.numbers("range");
  Value low;
  Value high;
  if (!range.empty()) {
    low = scalar(builder, dtype, range[2 * dim]);
    high = scalar(builder, dtype, range[2 * dim + 1]);
  } else if (values.count() == 0) {
    low = scalar(builder, dtype, 0);
    high = scalar(builder, dtype, 1);
  } else {
    low = amin(values, {});
    high = amax(values, {});
  }
  const Value same = equal(low, high);
  return linspace(where(same, low - 0.5, low), where(same, high + 0.5, high), bins + 1);
}

/// Weights (or ones) added up per cell; `index` counts all cells.
Value counted(OpContext& context, DType dtype, Value index, Value inside, std::int64_t cells) {
  const Value weight = context.optional_tensor("weight");
  const Value one = weight.defined() ? reshape(cast(weight, dtype), index.shape())
                                     : full(context.builder(), {dtype, index.shape()}, 1);
  return scatter_elements(full(context.builder(), {dtype, {cells}}, 0), index,
                          where(inside, one, 0.0), 0, "add");
}

Value widths(Value edges) {
  const std::int64_t bins = edges.count() - 1;
  return slice(edges, 0, 1, bins + 1) - slice(edges, 0, 0, bins);
}

void convert_histogram(OpContext& context) {
  const Value x = context.tensor("self");
  const Value edges = context.op().signature->overload == "bins_tensor"
                          ? context.tensor("bins")
                          : edges_for(context, reshape(x, {x.count()}), context.integer("bins"), 0);
  const std::int64_t bins = edges.count() - 1;
  Value counts = full(context.builder(), {x.dtype(), {bins}}, 0);
  if (x.count() > 0) {
    const Bins found = bins_of(x, edges);
    counts = counted(context, x.dtype(), found.index, found.inside, bins);
  }
  if (context.flag("density")) counts = counts / (sum(counts, {}) * widths(edges));
  context.set(0, counts);
  context.set(1, edges);
}

/// Returns one column per dimension of the histogram: [points, dims].
Value points_of(Value x) {
  const std::int64_t dims = x.size(-1);
  return reshape(x, {dims == 0 ? 0 : x.count() / dims, dims});
}

/// Returns the edges of each dimension, if the call specifies the number of bins.
std::vector<Value> histogramdd_edges(OpContext& context) {
  const Value points = points_of(context.tensor("self"));
  const Dims bins = context.ints("bins");
  std::vector<Value> edges;
  for (std::size_t d = 0; d < bins.size(); ++d) {
    const Value column = select(points, 1, static_cast<std::int64_t>(d));
    edges.push_back(edges_for(context, column, bins[d], d));
  }
  return edges;
}

void convert_histogramdd_edges(OpContext& context) {
  context.set_list(0, histogramdd_edges(context));
}

Value histogramdd(OpContext& context, const std::vector<Value>& edges) {
  const Value points = points_of(context.tensor("self"));
  const Shape& shape = context.result_shape();
  if (points.count() == 0) return full(context.builder(), context.result_type(), 0);
  Value index;
  Value inside;
  for (std::size_t d = 0; d < edges.size(); ++d) {
    const Bins found = bins_of(select(points, 1, static_cast<std::int64_t>(d)), edges[d]);
    index = index.defined() ? index * static_cast<double>(shape[d]) + found.index : found.index;
    inside = inside.defined() ? inside && found.inside : found.inside;
  }
  Value counts =
      reshape(counted(context, points.dtype(), index, inside, element_count(shape)), shape);
  if (!context.flag("density")) return counts;
  counts = counts / sum(counts, {});
  for (std::size_t d = 0; d < edges.size(); ++d) {
    Shape line(shape.size(), 1);
    line[d] = shape[d];
    counts = counts / reshape(widths(edges[d]), line);
  }
  return counts;
}

Value convert_histogramdd_tensors(OpContext& context) {
  return histogramdd(context, context.tensors("bins"));
}

Value convert_histogramdd_counts(OpContext& context) {
  return histogramdd(context, histogramdd_edges(context));
}

void convert_embedding_bag(OpContext& context) {
  constexpr std::int64_t kMean = 1;
  constexpr std::int64_t kMax = 2;
  Builder& builder = context.builder();
  const Value weight = context.tensor("weight");
  const DType dtype = weight.dtype();
  const Value index = cast(context.tensor("indices"), DType::kInt64);
  Value offsets = cast(context.tensor("offsets"), DType::kInt64);
  if (context.flag("include_last_offset")) offsets = slice(offsets, 0, 0, offsets.size(0) - 1);
  const std::int64_t bags = offsets.size(0);
  const std::int64_t width = weight.size(1);
  const std::int64_t mode = context.integer("mode");
  const Type type{dtype, {bags, width}};
  if (index.count() == 0) {
    context.set(0, full(builder, type, 0));
    return;
  }
  // The bag of an entry is the last one that begins at or before it.
  const Value places = unsqueeze(iota(builder, index.count()), 1);
  const Value bag = sum(cast(unsqueeze(offsets, 0) <= places, DType::kInt64), {1}) - 1.0;
  const std::int64_t padding = context.integer("padding_idx");
  const Value counts = padding < 0 ? full(builder, {DType::kBool, index.shape()}, 1)
                                   : not_equal(index, static_cast<double>(padding));
  Value rows = gather(weight, index, 0);
  const Value factors = context.optional_tensor("per_sample_weights");
  if (factors.defined()) rows = rows * unsqueeze(cast(factors, dtype), 1);
  const Value taken = unsqueeze(counts, 1);
  const Value where_to = unsqueeze(bag, 1);
  if (mode == kMax) {
    context.need_opset(18, "the largest of a bag");
    const Value best =
        scatter_nd(full(builder, type, -INFINITY), where_to, where(taken, rows, -INFINITY), "max");
    context.set(0, where(equal(best, -INFINITY), 0.0, best));
    return;
  }
  Value total = scatter_nd(full(builder, type, 0), where_to, where(taken, rows, 0.0), "add");
  if (mode == kMean) {
    const Value size =
        scatter_nd(full(builder, {dtype, {bags}}, 0), where_to, cast(counts, dtype), "add");
    total = total / unsqueeze(maximum(size, scalar_like(size, 1)), 1);
  }
  context.set(0, total);
}

}  // namespace

void register_histogram(ConverterRegistry& registry) {
  registry.add({"aten::linspace.Tensor_Tensor", "aten::linspace.Tensor_Scalar",
                "aten::linspace.Scalar_Tensor"},
               convert_linspace);
  registry.add({"aten::logspace.Tensor_Tensor", "aten::logspace.Tensor_Scalar",
                "aten::logspace.Scalar_Tensor"},
               convert_logspace);
  registry.add({"aten::histogram.bin_ct", "aten::histogram.bins_tensor"}, convert_histogram);
  registry.add("aten::_histogramdd_bin_edges", convert_histogramdd_edges);
  registry.add("aten::_histogramdd_from_bin_tensors", convert_histogramdd_tensors);
  registry.add("aten::_histogramdd_from_bin_cts", convert_histogramdd_counts);
  registry.add({"aten::_embedding_bag_forward_only", "aten::_embedding_bag"},
               convert_embedding_bag);
}

}  // namespace leapp::onnx_export
