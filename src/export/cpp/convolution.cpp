// Convolutions.
#include <algorithm>

#include "export/cpp/pointwise.h"
#include "export/cpp/reduce.h"
#include "export/cpp/registry.h"
#include "export/cpp/window.h"

namespace leapp::cpp_export {
namespace {

using Ints = std::vector<std::int64_t>;

// Returns the dimensions of a shape from an index on, as numbers.
Ints from_place(const Shape& shape, std::size_t begin) {
  return {shape.begin() + static_cast<std::ptrdiff_t>(begin), shape.end()};
}

// Returns [N, G*C, ..] as [N, G, C, ..].
Value grouped(Program& program, const Value& x, std::size_t dim, std::int64_t groups) {
  Shape shape = x.shape;
  shape[dim] /= groups;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(dim), groups);
  const std::int64_t per_group = shape[dim + 1];
  if (x.buffer != kNoBuffer) return program.reshaped(x, shape);
  return view(
      x, shape,
      [dim, per_group](Indices index) {
        index[dim] = index[dim].times(per_group).plus(index[dim + 1]);
        index.erase(index.begin() + static_cast<std::ptrdiff_t>(dim) + 1);
        return index;
      },
      [dim, per_group](Shape strides) {
        strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(dim),
                       strides[dim] * per_group);
        return strides;
      });
}

Value with_bias(OpContext& context, const Value& y) {
  if (context.is_none("bias")) return y;
  Value bias = context.tensor("bias");
  for (std::size_t i = 2; i < y.shape.size(); ++i) bias = unsqueezed(bias, bias.rank());
  return combine("($0 + $1)", {y, bias}, y.dtype);
}

// windows [N, G, C, out.., size..] times weight [G, O, C, size..], summed over C and size.
Value convolved(Program& program, const Value& windows, const Value& weight, std::size_t count,
                const Shape& result) {
  const auto spatial = static_cast<std::int64_t>(count);
  Value x = unsqueezed(windows, 2);  // [N, G, 1, C, out.., size..]
  // [1, G, O, C, 1.., size..]
  Value w = unsqueezed(weight, 0);
  for (std::int64_t i = 0; i < spatial; ++i) w = unsqueezed(w, 4);
  Ints dims = {3};
  for (std::int64_t i = 0; i < spatial; ++i) dims.push_back(4 + spatial + i);
  const Value sum = sum_of(program, combine("($0 * $1)", {x, w}, x.dtype), dims);
  return program.reshaped(sum, result);
}

Value forward(OpContext& context, const Value& x, const Value& weight, const Windows& windows,
              std::int64_t groups, const Shape& result) {
  Program& program = context.program();
  const std::size_t count = windows.size.size();
  const Ints out = from_place(result, 2);
  const Value slid = windowed(program, x, windows, out, filled(std::int64_t{0}, x.dtype));
  const Value w = grouped(program, program.cheap(weight), 0, groups);
  return convolved(program, grouped(program, slid, 1, groups), w, count, result);
}

// Spreads the elements of x `stride` apart, with zeros between, and convolves with the flipped
// weight.
Value backward(OpContext& context, const Value& x, const Value& weight, const Windows& windows,
               std::int64_t groups, const Shape& result) {
  Program& program = context.program();
  const std::size_t count = windows.size.size();
  Shape spread = x.shape;
  for (std::size_t i = 0; i < count; ++i)
    spread[2 + i] = (spread[2 + i] - 1) * windows.stride[i] + 1;
  const Ints stride = windows.stride;
  const Value wide = guarded(
      program.cheap(x), spread,
      [stride](Indices index) {
        for (std::size_t i = 0; i < stride.size(); ++i) {
          if (stride[i] == 1 || index[2 + i].is_number()) continue;
          index[2 + i] =
              Index::of("(" + index[2 + i].atom() + " / " + std::to_string(stride[i]) + ")");
        }
        return index;
      },
      [stride](const Indices& index) {
        std::string text;
        for (std::size_t i = 0; i < stride.size(); ++i) {
          if (stride[i] == 1) continue;
          text += (text.empty() ? "" : " && ") + index[2 + i].atom() + " % " +
                  std::to_string(stride[i]) + " == 0";
        }
        return text.empty() ? "true" : text;
      },
      filled(std::int64_t{0}, x.dtype));
  Windows turned = windows;
  Value w = grouped(program, program.cheap(weight), 0, groups);  // [G, C, O, size..]
  w = transposed(w, 1, 2);
  for (std::size_t i = 0; i < count; ++i) {
    turned.stride[i] = 1;
    turned.padding[i] = windows.dilation[i] * (windows.size[i] - 1) - windows.padding[i];
    const auto dim = static_cast<std::int64_t>(3 + i);
    w = sliced(w, dim, windows.size[i] - 1, windows.size[i], -1);
  }
  context.need(*std::min_element(turned.padding.begin(), turned.padding.end()) >= 0,
               "its padding is larger than its kernel");
  const Value slid =
      windowed(program, wide, turned, from_place(result, 2), filled(std::int64_t{0}, x.dtype));
  return convolved(program, grouped(program, slid, 1, groups), w, count, result);
}

Value generate_convolution(OpContext& context) {
  Program& program = context.program();
  Value x = context.tensor("input");
  const Value weight = context.tensor("weight");
  const std::size_t count = weight.shape.size() - 2;
  Shape result = context.result_shape();
  const bool unbatched = x.shape.size() == count + 1;
  if (unbatched) {
    x = unsqueezed(x, 0);
    result.insert(result.begin(), 1);
  }
  const Windows windows = {from_place(weight.shape, 2),
                           per_dimension(context.ints("stride"), count, 1),
                           per_dimension(context.ints("padding"), count, 0),
                           per_dimension(context.ints("dilation"), count, 1)};
  const std::int64_t groups = context.integer("groups");
  Value y = context.flag("transposed") ? backward(context, x, weight, windows, groups, result)
                                       : forward(context, x, weight, windows, groups, result);
  return program.reshaped(with_bias(context, y), context.result_shape());
}

}  // namespace

void register_convolution(GeneratorRegistry& registry) {
  registry.add({"aten::convolution", "aten::_convolution"}, generate_convolution);
}

}  // namespace leapp::cpp_export
