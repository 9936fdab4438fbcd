// Pooling: one result element for each window.
#include <algorithm>
#include <limits>

#include "export/cpp/pointwise.h"
#include "export/cpp/reduce.h"
#include "export/cpp/registry.h"
#include "export/cpp/window.h"

namespace leapp::cpp_export {
namespace {

using Ints = std::vector<std::int64_t>;

// Returns [N, C, D..] for pooling along `count` dimensions, with any leading dimensions.
Value batched(Program& program, const Value& x, std::size_t count) {
  Shape shape = {1, 1};
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    if (i + count < x.shape.size())
      shape[1] *= x.shape[i];
    else
      shape.push_back(x.shape[i]);
  }
  return program.reshaped(x, shape);
}

Windows windows_of(OpContext& context, std::size_t count) {
  Windows windows;
  windows.size = per_dimension(context.ints("kernel_size"), count, 1);
  const Ints stride = context.ints("stride");
  windows.stride = stride.empty() ? windows.size : per_dimension(stride, count, 1);
  windows.padding = per_dimension(context.ints("padding"), count, 0);
  windows.dilation =
      per_dimension(context.has("dilation") ? context.ints("dilation") : Ints{}, count, 1);
  return windows;
}

Ints out_of(OpContext& context, std::size_t count) {
  const Shape& shape = context.result_shape();
  return {shape.end() - static_cast<std::ptrdiff_t>(count), shape.end()};
}

Ints window_dims(std::size_t count) {
  Ints dims;
  for (std::size_t i = 0; i < count; ++i) dims.push_back(static_cast<std::int64_t>(2 + count + i));
  return dims;
}

Value lowest(DType dtype) {
  if (is_floating_point(dtype)) return filled(-std::numeric_limits<double>::infinity(), dtype);
  return filled(std::int64_t{0}, dtype);
}

// Converts positions in windows, [N, C, out.., 1..], to positions among all elements of a channel
// of x.
Value places_in(const Value& x, const Windows& windows, const Value& in_window) {
  const std::size_t count = windows.size.size();
  const Shape from = x.shape;
  Value result = in_window;
  result.buffer = kNoBuffer;
  result.strides.reset();
  result.cost = 1;
  result.at = [=](const Indices& index) {
    std::int64_t divisor = 1;
    std::int64_t stride = 1;
    Index place;
    for (std::size_t i = count; i-- > 0;) {
      const std::string inside = "(" + in_window.at(index) + " / " + std::to_string(divisor) +
                                 " % " + std::to_string(windows.size[i]) + ")";
      const Index along = index[2 + i]
                              .times(windows.stride[i])
                              .plus(-windows.padding[i])
                              .plus(Index::of(inside).times(windows.dilation[i]));
      place = place.plus(along.times(stride));
      divisor *= windows.size[i];
      stride *= from[2 + i];
    }
    return "(" + place.text() + ")";
  };
  return result;
}

void generate_max_pool(OpContext& context, std::size_t count) {
  Program& program = context.program();
  const Value x = batched(program, context.tensor("self"), count);
  context.need(is_floating_point(x.dtype), "it pools integers");
  const Windows windows = windows_of(context, count);
  const Value slid = windowed(program, x, windows, out_of(context, count), lowest(x.dtype));
  context.set(0,
              program.reshaped(max_of(program, slid, window_dims(count)), context.result_shape(0)));
  if (context.result_count() == 1 || !context.is_used(1)) return;
  const Value in_window = argmax(program, slid, window_dims(count));
  const Value places = places_in(x, windows, in_window);
  context.set(1, program.reshaped(places, context.result_shape(1)));
}

// Returns the number of elements of x that each window covers along a dimension, per position.
Value average_divisor(OpContext& context, const Value& x, const Windows& windows, const Ints& out,
                      std::size_t count) {
  Program& program = context.program();
  const bool with_padding = !context.has("count_include_pad") || context.flag("count_include_pad");
  Shape ones_shape(2 + count, 1);
  for (std::size_t i = 0; i < count; ++i) ones_shape[2 + i] = x.shape[2 + i];
  // Padding counts if requested, but elements beyond the padding never do.
  const Value one = filled(std::int64_t{1}, x.dtype);
  Value ones = filled(std::int64_t{1}, x.dtype, ones_shape);
  Windows slide = windows;
  if (with_padding) {
    for (std::size_t i = 0; i < count; ++i) {
      ones.shape[2 + i] += 2 * windows.padding[i];
      slide.padding[i] = 0;
    }
  }
  const Value slid = windowed(program, ones, slide, out, filled(std::int64_t{0}, x.dtype));
  return sum_of(program, slid, window_dims(count));
}

Value generate_avg_pool(OpContext& context, std::size_t count) {
  Program& program = context.program();
  const Value x = batched(program, context.tensor("self"), count);
  const Windows windows = windows_of(context, count);
  const Ints out = out_of(context, count);
  const Value slid = windowed(program, x, windows, out, filled(std::int64_t{0}, x.dtype));
  const Value sum = sum_of(program, slid, window_dims(count));
  const Value divisor =
      context.is_none("divisor_override")
          ? average_divisor(context, x, windows, out, count)
          : filled(context.integer("divisor_override"), x.dtype, Shape(sum.shape.size(), 1));
  return program.reshaped(combine("($0 / $1)", {sum, divisor}, x.dtype), context.result_shape());
}

// Every output is the mean of a range of each dimension; all ranges are known now.
Value generate_adaptive_avg(OpContext& context, std::size_t count) {
  Program& program = context.program();
  Value x = batched(program, context.tensor("self"), count);
  const Ints out = out_of(context, count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto dim = static_cast<std::int64_t>(2 + i);
    const std::int64_t size = x.shape[2 + i];
    Shape shape = x.shape;
    shape[2 + i] = out[i];
    const BufferId to = program.add_scratch(x.dtype, shape);
    x = program.cheap(x);
    for (std::int64_t k = 0; k < out[i]; ++k) {
      const std::int64_t begin = k * size / out[i];
      const std::int64_t end = ((k + 1) * size + out[i] - 1) / out[i];
      program.write(mean_of(program, sliced(x, dim, begin, end - begin), {dim}),
                    sliced(program.read(to), dim, k, 1));
    }
    x = program.read(to);
  }
  return program.reshaped(x, context.result_shape());
}

}  // namespace

void register_pooling(GeneratorRegistry& registry) {
  for (std::size_t count = 1; count <= 3; ++count) {
    const std::string dims = std::to_string(count) + "d";
    const auto max_pool = [count](OpContext& context) { generate_max_pool(context, count); };
    registry.add("aten::max_pool" + dims, max_pool);
    registry.add("aten::max_pool" + dims + "_with_indices", max_pool);
    registry.add("aten::avg_pool" + dims,
                 [count](OpContext& context) { return generate_avg_pool(context, count); });
    const auto adaptive = [count](OpContext& context) {
      return generate_adaptive_avg(context, count);
    };
    registry.add("aten::adaptive_avg_pool" + dims, adaptive);
    if (count > 1) registry.add("aten::_adaptive_avg_pool" + dims, adaptive);
  }
}

}  // namespace leapp::cpp_export
