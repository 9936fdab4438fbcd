// Pooling over windows: fixed, adaptive, and its inverse.
#include <algorithm>
#include <cmath>

#include "export/onnx/kernels.h"
#include "export/onnx/math.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

Dims spread(const Dims& values, std::size_t count, std::int64_t otherwise) {
  if (values.empty()) return Dims(count, otherwise);
  return values.size() == 1 ? Dims(count, values[0]) : values;
}

struct Window {
  Dims kernel;
  Dims stride;
  Dims padding;
  Dims dilation;
  Dims input;  ///< sizes of the pooled dimensions
  Dims output;
};

/// Returns the window; `dims` is the number of pooled dimensions, which are the last ones.
Window window_of(OpContext& context, Value x, std::size_t dims) {
  Window window;
  window.kernel = spread(context.ints("kernel_size"), dims, 1);
  const Dims stride = context.ints("stride");
  window.stride = stride.empty() ? window.kernel : spread(stride, dims, 1);
  window.padding = spread(context.has("padding") ? context.ints("padding") : Dims{}, dims, 0);
  window.dilation = spread(context.has("dilation") ? context.ints("dilation") : Dims{}, dims, 1);
  const Shape& shape = context.result_shape();
  window.input.assign(x.shape().end() - static_cast<std::ptrdiff_t>(dims), x.shape().end());
  window.output.assign(shape.end() - static_cast<std::ptrdiff_t>(dims), shape.end());
  return window;
}

std::int64_t extent(const Window& window, std::size_t d) {
  return window.dilation[d] * (window.kernel[d] - 1) + 1;
}

/// Returns the padding at the end for exactly the requested windows. With ceil_mode the last window
/// may extend past the input; explicit padding has the same meaning in every engine.
Dims padding_behind(const Window& window) {
  Dims after;
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    const std::int64_t needed = (window.output[d] - 1) * window.stride[d] + extent(window, d) -
                                window.input[d] - window.padding[d];
    after.push_back(std::max<std::int64_t>(needed, 0));
  }
  return after;
}

Dims joined(const Dims& before, const Dims& after) {
  Dims pads = before;
  pads.insert(pads.end(), after.begin(), after.end());
  return pads;
}

/// Returns the tensor as [batch, channel, pooled..].
Value batched(Value x, std::size_t dims) {
  return x.shape().size() == dims + 1 ? unsqueeze(x, 0) : x;
}

Shape pooled_shape(Value x, const Window& window) {
  Shape shape = {x.size(0), x.size(1)};
  shape.insert(shape.end(), window.output.begin(), window.output.end());
  return shape;
}

std::int64_t product(const Dims& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

/// Returns the maximum with PyTorch's special values: the runtime starts at the lowest finite
/// number, so a window of only -inf would be wrong, and it ignores NaN, which PyTorch keeps.
Value restored(Value x, Value pooled, const Attrs& attributes) {
  if (!is_floating_point(pooled.dtype())) return pooled;
  const BuiltNode* producer = x.builder().producer(x);
  const bool positive = producer != nullptr && (producer->is("Relu") || producer->is("Sigmoid") ||
                                                producer->is("Softmax"));
  if (positive) {
    // There are no infinities of both signs, so a mean is NaN if and only if one of its numbers is.
    const Attrs window(attributes.begin() + 1, attributes.end());  // without dilations
    const auto& dilations = std::get<Dims>(attributes[0].value);
    if (std::all_of(dilations.begin(), dilations.end(), [](auto d) { return d == 1; }) &&
        kernel_type("AveragePool", x.dtype()) == x.dtype()) {
      return where(is_nan(x.builder().emit("AveragePool", {x}, window, pooled.type())), NAN,
                   pooled);
    }
  }
  const Value found =
      positive ? pooled : where(pooled <= finite_range(pooled.dtype()).first, -INFINITY, pooled);
  const Value nan = cast(is_nan(x), DType::kFloat32);
  const Value seen = x.builder().emit("MaxPool", {nan}, attributes, {nan.dtype(), pooled.shape()});
  return where(seen > 0.0, NAN, found);
}

void max_pool(OpContext& context, std::size_t dims, bool with_indices) {
  const Value given = context.tensor("self");
  const Window window = window_of(context, given, dims);
  const Value x = batched(given, dims);
  if (x.count() == 0) {
    context.set(0, full(context.builder(), context.result_type(), 0));
    if (with_indices) context.set(1, full(context.builder(), context.result_type(1), 0));
    return;
  }
  const DType dtype = x.dtype();
  context.need(is_floating_point(dtype) || dtype == DType::kInt8 || dtype == DType::kUInt8,
               "ONNX Runtime has no max pooling of " + std::string(name_of(dtype)),
               "Convert to float32 first.");
  const DType compute = dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
  Attrs attributes = {{"dilations", window.dilation},
                      {"kernel_shape", window.kernel},
                      {"pads", joined(window.padding, padding_behind(window))},
                      {"strides", window.stride}};
  const Shape shape = pooled_shape(x, window);
  std::vector<Type> types = {{compute, shape}};
  if (with_indices) types.push_back({DType::kInt64, shape});
  const Value operand[] = {cast(x, compute)};
  const std::vector<Value> made =
      context.builder().emit_many("MaxPool", operand, attributes, std::move(types));
  context.set(
      0, reshape(cast(restored(operand[0], made[0], attributes), dtype), context.result_shape()));
  if (!with_indices) return;
  // ONNX counts positions in the whole tensor, PyTorch within one channel.
  const auto plane = static_cast<double>(product(window.input));
  const Value index = floor_mod(made[1], scalar_like(made[1], plane));
  context.set(1, reshape(index, context.result_shape(1)));
}

auto max_pool(std::size_t dims, bool with_indices) {
  return [dims, with_indices](OpContext& context) { max_pool(context, dims, with_indices); };
}

/// Returns the divisor of each window's sum, by output position.
std::vector<double> divisors(OpContext& context, const Window& window, std::size_t d) {
  const bool count_pad = context.flag("count_include_pad");
  std::vector<double> counts;
  for (std::int64_t o = 0; o < window.output[d]; ++o) {
    const std::int64_t start = o * window.stride[d] - window.padding[d];
    const std::int64_t limit = window.input[d] + (count_pad ? window.padding[d] : 0);
    const std::int64_t end = std::min(start + window.kernel[d], limit);
    counts.push_back(
        static_cast<double>(count_pad ? end - start : end - std::max<std::int64_t>(start, 0)));
  }
  return counts;
}

/// Returns the factor of each window's mean, over all pooled dimensions.
std::vector<double> corrections(OpContext& context, const Window& window) {
  const auto size = static_cast<double>(product(window.kernel));
  if (!context.is_none("divisor_override")) {
    const double fixed = size / context.number("divisor_override");
    return std::vector<double>(static_cast<std::size_t>(product(window.output)), fixed);
  }
  std::vector<double> factors = {size};
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    std::vector<double> next;
    for (const double factor : factors) {
      for (const double count : divisors(context, window, d)) next.push_back(factor / count);
    }
    factors = std::move(next);
  }
  return factors;
}

Value avg_pool(OpContext& context, std::size_t dims) {
  const Value given = context.tensor("self");
  const Window window = window_of(context, given, dims);
  Value x = batched(given, dims);
  if (x.count() == 0) return full(context.builder(), context.result_type(), 0);
  const DType dtype = x.dtype();
  context.need(is_floating_point(dtype) && dtype != DType::kFloat64,
               "ONNX Runtime has no average pooling of " + std::string(name_of(dtype)),
               "Convert to float32 first.");
  x = cast(x, DType::kFloat32);
  const std::vector<double> factors = corrections(context, window);
  const bool plain = std::all_of(factors.begin(), factors.end(), [](double f) { return f == 1.0; });
  // Zeros are added around the input as ordinary numbers, so every window is complete.
  Dims before = {0, 0};
  Dims after = {0, 0};
  const Dims needed = padding_behind(window);
  before.insert(before.end(), window.padding.begin(), window.padding.end());
  after.insert(after.end(), needed.begin(), needed.end());
  const bool pads_inside = plain && needed == window.padding;
  Attrs attributes = {{"count_include_pad", std::int64_t{1}}, {"kernel_shape", window.kernel}};
  if (pads_inside) {
    attributes.push_back({"pads", joined(window.padding, needed)});
  } else {
    x = pad_constant(x, before, after, 0);
  }
  attributes.push_back({"strides", window.stride});
  Value pooled = context.builder().emit("AveragePool", {x}, std::move(attributes),
                                        {DType::kFloat32, pooled_shape(x, window)});
  if (!plain)
    pooled = pooled * float_tensor(context.builder(), DType::kFloat32, factors, window.output);
  return reshape(cast(pooled, dtype), context.result_shape());
}

auto avg_pool(std::size_t dims) {
  return [dims](OpContext& context) { return avg_pool(context, dims); };
}

/// Returns the first index of an adaptive pooling window.
std::int64_t adaptive_start(std::int64_t i, std::int64_t input, std::int64_t output) {
  return i * input / output;
}
std::int64_t adaptive_end(std::int64_t i, std::int64_t input, std::int64_t output) {
  return ((i + 1) * input + output - 1) / output;
}

/// Averages along one dimension: a product with a constant matrix of the windows' weights.
Value adaptive_average(Value x, std::int64_t dim, std::int64_t output) {
  const std::int64_t input = x.size(dim);
  if (input == output) return x;
  if (output == 1) return mean(x, {dim}, true);
  std::vector<double> share(static_cast<std::size_t>(input * output), 0.0);
  for (std::int64_t o = 0; o < output; ++o) {
    const std::int64_t start = adaptive_start(o, input, output);
    const std::int64_t end = adaptive_end(o, input, output);
    for (std::int64_t i = start; i < end; ++i) {
      share[static_cast<std::size_t>(i * output + o)] = 1.0 / static_cast<double>(end - start);
    }
  }
  const Value matrix = float_tensor(x.builder(), x.dtype(), share, {input, output});
  return transpose(matmul(transpose(x, dim, -1), matrix), dim, -1);
}

auto adaptive_avg_pool(std::int64_t dims) {
  return [dims](OpContext& context) -> Value {
    Value x = context.tensor("self");
    const Shape& shape = context.result_shape();
    if (x.count() == 0 || element_count(shape) == 0) {
      return full(context.builder(), context.result_type(), 0);
    }
    Dims whole;
    for (std::int64_t d = x.rank() - dims; d < x.rank(); ++d) {
      if (shape[static_cast<std::size_t>(d)] == 1) whole.push_back(d);
    }
    if (!whole.empty()) x = mean(x, whole, true);
    for (std::int64_t d = x.rank() - dims; d < x.rank(); ++d) {
      x = adaptive_average(x, d, shape[static_cast<std::size_t>(d)]);
    }
    return x;
  };
}

/// Positions of each window along one dimension; short windows repeat their last element.
struct Positions {
  Dims list;
  std::int64_t length = 0;
};

Positions adaptive_positions(std::int64_t input, std::int64_t output) {
  Positions positions;
  for (std::int64_t o = 0; o < output; ++o) {
    positions.length = std::max(positions.length,
                                adaptive_end(o, input, output) - adaptive_start(o, input, output));
  }
  for (std::int64_t o = 0; o < output; ++o) {
    const std::int64_t start = adaptive_start(o, input, output);
    const std::int64_t last = adaptive_end(o, input, output) - 1;
    for (std::int64_t i = 0; i < positions.length; ++i) {
      positions.list.push_back(std::min(start + i, last));
    }
  }
  return positions;
}

auto adaptive_max_pool(std::int64_t dims) {
  return [dims](OpContext& context) {
    const Value x = context.tensor("self");
    const Shape& shape = context.result_shape();
    if (element_count(shape) == 0) {
      context.set(0, full(context.builder(), context.result_type(), 0));
      context.set(1, full(context.builder(), context.result_type(1), 0));
      return;
    }
    // Flat position within a channel of every element of every window.
    const std::int64_t first = x.rank() - dims;
    Dims flat = {0};
    Dims order;  // of [out, window, out, window, ..] to [out.., window..]
    Shape windows_shape;
    std::int64_t plane = 1;
    for (std::int64_t d = 0; d < dims; ++d) {
      const std::int64_t input = x.size(first + d);
      const Positions along = adaptive_positions(input, shape[static_cast<std::size_t>(first + d)]);
      Dims next;
      for (const std::int64_t base : flat) {
        for (const std::int64_t position : along.list) next.push_back(base * input + position);
      }
      flat = std::move(next);
      windows_shape.push_back(shape[static_cast<std::size_t>(first + d)]);
      windows_shape.push_back(along.length);
      plane *= input;
    }
    for (std::int64_t d = 0; d < dims; ++d) order.push_back(2 * d);
    for (std::int64_t d = 0; d < dims; ++d) order.push_back(2 * d + 1);
    Builder& builder = context.builder();
    const Value table = permute(int_tensor(builder, flat, windows_shape), order);
    Shape sizes(shape.end() - dims, shape.end());
    const std::int64_t outputs = element_count(sizes);
    const std::int64_t length = table.count() / outputs;
    const Value positions = reshape(table, {outputs, length});
    Shape outer(x.shape().begin(), x.shape().begin() + first);
    const std::int64_t channels = element_count(outer);
    const Value taken = gather(reshape(x, {channels, plane}), positions, 1);
    const Value best =
        builder.emit("ArgMax", {taken}, {{"axis", std::int64_t{2}}, {"keepdims", std::int64_t{1}}},
                     {DType::kInt64, {channels, outputs, 1}});
    context.set(0, reshape(gather_elements(taken, best, 2), shape));
    const Value index =
        gather_elements(expand(unsqueeze(positions, 0), {channels, outputs, length}), best, 2);
    context.set(1, reshape(index, shape));
  };
}

Value convert_max_unpool(OpContext& context) {
  const Value x = context.tensor("self");
  const Type type = context.result_type();
  const auto dims = static_cast<std::int64_t>(context.ints("output_size").size());
  if (x.count() == 0) return full(context.builder(), type, 0);
  const Shape outer(x.shape().begin(), x.shape().end() - dims);
  const std::int64_t channels = element_count(outer);
  const std::int64_t plane = element_count(type.shape) / channels;
  const Value base = full(context.builder(), {x.dtype(), {channels, plane}}, 0);
  const Shape lines = {channels, x.count() / channels};
  const Value index = reshape(cast(context.tensor("indices"), DType::kInt64), lines);
  return reshape(scatter_elements(base, index, reshape(x, lines), 1), type.shape);
}

void refuse_fractional(OpContext& context) {
  context.fail("its windows are drawn at random", "Use max_pool2d or adaptive_max_pool2d.");
}

}  // namespace

void register_pooling(ConverterRegistry& registry) {
  registry.add("aten::max_pool1d", max_pool(1, false));
  registry.add("aten::max_pool2d", max_pool(2, false));
  registry.add("aten::max_pool3d", max_pool(3, false));
  registry.add("aten::max_pool1d_with_indices", max_pool(1, true));
  registry.add("aten::max_pool2d_with_indices", max_pool(2, true));
  registry.add("aten::max_pool3d_with_indices", max_pool(3, true));
  registry.add("aten::avg_pool1d", avg_pool(1));
  registry.add("aten::avg_pool2d", avg_pool(2));
  registry.add("aten::avg_pool3d", avg_pool(3));
  registry.add("aten::adaptive_avg_pool1d", adaptive_avg_pool(1));
  registry.add({"aten::adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d"}, adaptive_avg_pool(2));
  registry.add({"aten::adaptive_avg_pool3d", "aten::_adaptive_avg_pool3d"}, adaptive_avg_pool(3));
  registry.add("aten::adaptive_max_pool1d", adaptive_max_pool(1));
  registry.add("aten::adaptive_max_pool2d", adaptive_max_pool(2));
  registry.add("aten::adaptive_max_pool3d", adaptive_max_pool(3));
  registry.add({"aten::max_unpool2d", "aten::max_unpool3d"}, convert_max_unpool);
  registry.add({"aten::fractional_max_pool2d", "aten::fractional_max_pool3d"}, refuse_fractional);
}

}  // namespace leapp::onnx_export
