// Sorting, order statistics and search in sorted sequences.
#include <cmath>

#include "export/onnx/math.h"
#include "export/onnx/registry.h"
#include "ir/promote.h"

namespace leapp::onnx_export {
namespace {

/// Numbers in the order PyTorch sorts by: NaN is larger than everything, including infinity. The
/// runtime's TopK does not order NaN.
Value sort_key(Value x) {
  switch (x.dtype()) {
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32: {
      const Value wide = cast(x, DType::kFloat64);
      return where(is_nan(x), 1e200, where(equal(x, INFINITY), 1e100, wide));
    }
    case DType::kFloat64:
      return where(is_nan(x), INFINITY,
                   where(equal(x, INFINITY), finite_range(x.dtype()).second, x));
    case DType::kInt64:
      return x;
    default:
      return cast(x, DType::kInt32);
  }
}

struct Sorted {
  Value values;
  Value indices;
};

/// Returns the `count` smallest or largest elements along a dimension, in order; equal ones keep
/// their order.
Sorted ordered(Value x, std::int64_t count, std::int64_t dim, bool largest) {
  Builder& builder = x.builder();
  dim = wrap_dim(dim, x.rank());
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(dim)] = count;
  if (element_count(shape) == 0) {
    return {slice(x, dim, 0, count), full(builder, {DType::kInt64, shape}, 0)};
  }
  const Value key = x.dtype() == DType::kUInt32 || x.dtype() == DType::kUInt64
                        ? cast(x, DType::kInt64)
                        : sort_key(x);
  const Dims wanted = {count};
  const Value inputs[] = {key, int_vector(builder, wanted)};
  const std::vector<Value> found = builder.emit_many(
      "TopK", inputs,
      {{"axis", dim}, {"largest", std::int64_t{largest}}, {"sorted", std::int64_t{1}}},
      {{key.dtype(), shape}, {DType::kInt64, shape}});
  return {gather_elements(x, found[1], dim), found[1]};
}

void convert_sort(OpContext& context) {
  const Value x = context.tensor("self");
  if (x.rank() == 0) {
    context.set(0, x);
    context.set(1, scalar_int(context.builder(), DType::kInt64, 0));
    return;
  }
  const std::int64_t dim = context.integer("dim");
  const Sorted sorted = ordered(x, x.size(dim), dim, context.flag("descending"));
  context.set(0, sorted.values);
  context.set(1, sorted.indices);
}

Value convert_argsort(OpContext& context) {
  const Value x = context.tensor("self");
  if (x.rank() == 0) return scalar_int(context.builder(), DType::kInt64, 0);
  const std::int64_t dim = context.integer("dim");
  return ordered(x, x.size(dim), dim, context.flag("descending")).indices;
}

void convert_topk(OpContext& context) {
  const Value x = context.tensor("self");
  if (x.rank() == 0) {
    context.set(0, reshape(x, context.result_shape()));
    context.set(1, full(context.builder(), context.result_type(1), 0));
    return;
  }
  const Sorted found =
      ordered(x, context.integer("k"), context.integer("dim"), context.flag("largest"));
  context.set(0, found.values);
  context.set(1, found.indices);
}

bool keep(OpContext& context) {
  return context.has("keepdim") && context.flag("keepdim");
}

/// Returns the element at one position of the sorted order, and its index.
Sorted kth(Value x, std::int64_t k, std::int64_t dim, bool keep_dims) {
  dim = wrap_dim(dim, x.rank());
  if (x.rank() == 0) return {x, scalar_int(x.builder(), DType::kInt64, 0)};
  const Sorted sorted = ordered(x, k, dim, false);
  const Value value = slice(sorted.values, dim, k - 1, k);
  const Value index = slice(sorted.indices, dim, k - 1, k);
  return keep_dims ? Sorted{value, index} : Sorted{squeeze(value, dim), squeeze(index, dim)};
}

void convert_kthvalue(OpContext& context) {
  const Value x = context.tensor("self");
  const Sorted found = kth(x, context.integer("k"), context.integer("dim"), keep(context));
  context.set(0, reshape(found.values, context.result_shape()));
  context.set(1, reshape(found.indices, context.result_shape(1)));
}

/// Returns the lower median along a dimension. It is NaN if any element is NaN.
Sorted median(Value x, std::int64_t dim) {
  const Sorted middle = kth(x, (x.size(dim) + 1) / 2, dim, true);
  if (!is_floating_point(x.dtype())) return middle;
  const Value nan = is_nan(x);
  const Value has_nan = any(nan, {dim}, true);
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(wrap_dim(dim, x.rank()))] = 1;
  const Value first = x.builder().emit(
      "ArgMax", {cast(nan, DType::kInt32)},
      {{"axis", wrap_dim(dim, x.rank())}, {"keepdims", std::int64_t{1}}}, {DType::kInt64, shape});
  return {where(has_nan, NAN, middle.values), where(has_nan, first, middle.indices)};
}

/// Returns the lower median of the elements that are not NaN.
Sorted nan_median(Value x, std::int64_t dim) {
  if (!is_floating_point(x.dtype())) return median(x, dim);
  dim = wrap_dim(dim, x.rank());
  const Sorted sorted = ordered(x, x.size(dim), dim, false);
  const Value count = sum(cast(!is_nan(x), DType::kInt64), {dim}, true);
  const Value place = maximum(count - 1.0, scalar_int(x.builder(), DType::kInt64, 0)) / 2.0;
  return {gather_elements(sorted.values, place, dim), gather_elements(sorted.indices, place, dim)};
}

template <typename Find>
auto median_converter(Find find) {
  return [find](OpContext& context) {
    Value x = context.tensor("self");
    const bool whole = !context.has("dim");
    if (whole || x.rank() == 0) x = reshape(x, {x.count()});
    if (x.count() == 0) {
      context.set(0, full(context.builder(), context.result_type(), NAN));
      return;
    }
    const Sorted found = find(x, whole ? 0 : context.integer("dim"));
    context.set(0, reshape(found.values, context.result_shape()));
    if (!whole) context.set(1, reshape(found.indices, context.result_shape(1)));
  };
}

void convert_mode(OpContext& context) {
  Value x = context.tensor("self");
  if (x.rank() == 0) x = reshape(x, {1});
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  const std::int64_t size = x.size(dim);
  const Value last = transpose(x, dim, -1);
  const Value line = ordered(last, size, -1, false).values;
  // Counts each element of the sorted row; the first maximum is the smallest of the most frequent.
  const Value same = equal(unsqueeze(line, -1), unsqueeze(line, -2));
  const Value count = sum(cast(same, DType::kInt32), {-1});
  Shape shape = line.shape();
  shape.back() = 1;
  const Attrs attributes = {{"axis", line.rank() - 1}, {"keepdims", std::int64_t{1}}};
  const Value place = context.builder().emit("ArgMax", {count}, attributes, {DType::kInt64, shape});
  const Value value = gather_elements(line, place, -1);
  // PyTorch returns the index of the last element with that value.
  Attrs from_behind = attributes;
  from_behind.push_back({"select_last_index", std::int64_t{1}});
  const Value index = context.builder().emit("ArgMax", {cast(equal(last, value), DType::kInt32)},
                                             from_behind, {DType::kInt64, shape});
  context.set(0, reshape(transpose(value, dim, -1), context.result_shape()));
  context.set(1, reshape(transpose(index, dim, -1), context.result_shape(1)));
}

/// Returns the number of elements of each sorted sequence that precede the value. Counting
/// comparisons gives the same result as a binary search.
Value positions(Value sequence, Value values, bool right) {
  const Value before = right ? !(unsqueeze(sequence, -2) > unsqueeze(values, -1))
                             : !(unsqueeze(sequence, -2) >= unsqueeze(values, -1));
  return sum(cast(before, DType::kInt64), {-1});
}

bool from_the_right(OpContext& context) {
  return context.flag("right") || context.text("side") == "right";
}

Value search(OpContext& context, Value sequence, Value values) {
  const DType dtype = ir::promote_types(sequence.dtype(), values.dtype());
  const Value flat_values = values.rank() == 0 ? reshape(values, {1}) : values;
  Value line = cast(sequence, dtype);
  Value wanted = cast(flat_values, dtype);
  if (line.rank() == 1) {  // one sequence for all values
    wanted = reshape(wanted, {wanted.count()});
  }
  const Value found = positions(line, wanted, from_the_right(context));
  return cast(reshape(found, context.result_shape()), context.result_dtype());
}

Value convert_searchsorted(OpContext& context) {
  Value sequence = context.tensor("sorted_sequence");
  const Value sorter = context.optional_tensor("sorter");
  if (sorter.defined()) sequence = gather_elements(sequence, cast(sorter, DType::kInt64), -1);
  return search(context, sequence, context.operand("self"));
}

Value convert_bucketize(OpContext& context) {
  return search(context, context.tensor("boundaries"), context.operand("self"));
}

Value convert_isin(OpContext& context) {
  const char* left = context.has("element") ? "element" : "elements";
  const char* right = context.has("test_element") ? "test_element" : "test_elements";
  const DType dtype = context.promoted({left, right});
  const Value elements = cast(context.operand(left), dtype);
  const Value tests = cast(context.operand(right), dtype);
  const Value same = equal(unsqueeze(elements, -1), reshape(tests, {tests.count()}));
  const Value found =
      tests.count() == 0 ? full(context.builder(), context.result_type(), 0) : any(same, {-1});
  return context.flag("invert") ? !found : found;
}

/// Counts per bin; `low` and `high` are 0-d.
Value histogram(Value x, Value low, Value high, std::int64_t bins) {
  Builder& builder = x.builder();
  const Value flat = reshape(x, {x.count()});
  const Value inside = flat >= low && flat <= high;
  const Value scaled = (flat - low) / (high - low) * static_cast<double>(bins);
  const Value bin = minimum(cast(where(inside, scaled, 0.0), DType::kInt64),
                            scalar_int(builder, DType::kInt64, bins - 1));
  const Value base = full(builder, {x.dtype(), {bins}}, 0);
  return scatter_elements(base, bin, cast(inside, x.dtype()), 0, "add");
}

Value convert_histc(OpContext& context) {
  const Value x = context.tensor("self");
  context.need(is_floating_point(x.dtype()) && x.dtype() != DType::kBFloat16, "it counts integers",
               "Convert to float32 first.");
  if (x.count() == 0) return full(context.builder(), context.result_type(), 0);
  Value low = context.scalar_argument("min", x.dtype());
  Value high = context.scalar_argument("max", x.dtype());
  if (context.number("min") == context.number("max")) {
    low = amin(x, {});
    high = amax(x, {});
    const Value same = equal(low, high);
    low = where(same, low - 1.0, low);
    high = where(same, high + 1.0, high);
  }
  return histogram(x, low, high, context.integer("bins"));
}

}  // namespace

void register_sort(ConverterRegistry& registry) {
  registry.add({"aten::sort", "aten::sort.stable"}, convert_sort);
  registry.add({"aten::argsort", "aten::argsort.stable"}, convert_argsort);
  registry.add("aten::topk", convert_topk);
  registry.add("aten::kthvalue", convert_kthvalue);
  registry.add({"aten::median", "aten::median.dim"}, median_converter(median));
  registry.add({"aten::nanmedian", "aten::nanmedian.dim"}, median_converter(nan_median));
  registry.add("aten::mode", convert_mode);
  registry.add({"aten::searchsorted.Tensor", "aten::searchsorted.Scalar"}, convert_searchsorted);
  registry.add({"aten::bucketize.Tensor", "aten::bucketize.Scalar"}, convert_bucketize);
  registry.add({"aten::isin.Tensor_Tensor", "aten::isin.Tensor_Scalar", "aten::isin.Scalar_Tensor"},
               convert_isin);
  registry.add("aten::histc", convert_histc);
}

}  // namespace leapp::onnx_export
