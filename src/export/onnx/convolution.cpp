// Convolutions, and their windows extracted (im2col) or added up again (col2im).
#include <algorithm>

#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Returns a list with one number per dimension, expanded from a single number.
Dims spread(const Dims& values, std::size_t count) {
  return values.size() == 1 ? Dims(count, values[0]) : values;
}

Dims kernel_of(Value weight) {
  return {weight.shape().begin() + 2, weight.shape().end()};
}

Dims symmetric(const Dims& padding) {
  Dims pads = padding;
  pads.insert(pads.end(), padding.begin(), padding.end());
  return pads;
}

/// Returns a transposed convolution. The runtime requires output padding smaller than the stride.
/// Larger output padding is replaced by less padding at the end, and by zeros if that is not
/// enough.
Value transposed_convolution(OpContext& context, Value x, Value weight, Value bias,
                             const Shape& shape) {
  const std::size_t dims = weight.shape().size() - 2;
  const Dims padding = spread(context.ints("padding"), dims);
  const Dims extra = spread(context.ints("output_padding"), dims);
  Dims pads = padding;
  Dims after = {0, 0};
  Shape made = shape;
  for (std::size_t d = 0; d < dims; ++d) {
    pads.push_back(std::max<std::int64_t>(padding[d] - extra[d], 0));
    after.push_back(std::max<std::int64_t>(extra[d] - padding[d], 0));
    made[d + 2] -= after.back();
  }
  const bool hangs_over = made != shape;
  std::vector<Value> inputs = {x, weight};
  if (bias.defined() && !hangs_over) inputs.push_back(bias);
  Value result = context.builder().emit("ConvTranspose", inputs,
                                        {{"dilations", spread(context.ints("dilation"), dims)},
                                         {"group", context.integer("groups")},
                                         {"kernel_shape", kernel_of(weight)},
                                         {"pads", std::move(pads)},
                                         {"strides", spread(context.ints("stride"), dims)}},
                                        {x.dtype(), made});
  if (!hangs_over) return result;
  result = pad_constant(result, Dims(after.size(), 0), after, 0);
  if (!bias.defined()) return result;
  Shape per_channel(result.shape().size(), 1);
  per_channel[1] = bias.count();
  return result + reshape(bias, per_channel);
}

Value convert_convolution(OpContext& context) {
  const Value x = context.tensor("input");
  const Value weight = context.tensor("weight");
  const Value bias = context.optional_tensor("bias");
  const Type type = context.result_type();
  context.need(
      x.dtype() == DType::kFloat32 || x.dtype() == DType::kFloat16 || x.dtype() == DType::kBFloat16,
      "ONNX Runtime has no convolution of " + std::string(name_of(x.dtype())),
      "Convert to float32 first.");
  if (element_count(type.shape) == 0) return full(context.builder(), type, 0);
  const DType compute = x.dtype() == DType::kBFloat16 ? DType::kFloat32 : x.dtype();
  const Value wide_bias = bias.defined() ? cast(bias, compute) : bias;
  if (context.flag("transposed")) {
    return cast(transposed_convolution(context, cast(x, compute), cast(weight, compute), wide_bias,
                                       type.shape),
                type.dtype);
  }
  const std::size_t dims = weight.shape().size() - 2;
  std::vector<Value> inputs = {cast(x, compute), cast(weight, compute)};
  if (bias.defined()) inputs.push_back(wide_bias);
  return cast(context.builder().emit("Conv", inputs,
                                     {{"dilations", spread(context.ints("dilation"), dims)},
                                      {"group", context.integer("groups")},
                                      {"kernel_shape", kernel_of(weight)},
                                      {"pads", symmetric(spread(context.ints("padding"), dims))},
                                      {"strides", spread(context.ints("stride"), dims)}},
                                     {compute, type.shape}),
              type.dtype);
}

/// Position in the flattened padded image of each element of each window: [kernel, windows].
struct Windows {
  Dims positions;
  std::int64_t kernel = 0;
  std::int64_t count = 0;
};

Windows windows_of(const Dims& image, const Dims& kernel, const Dims& dilation,
                   const Dims& stride) {
  const auto along = [&](std::size_t d) {
    return (image[d] - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
  };
  Windows windows;
  windows.kernel = kernel[0] * kernel[1];
  windows.count = along(0) * along(1);
  for (std::int64_t ky = 0; ky < kernel[0]; ++ky) {
    for (std::int64_t kx = 0; kx < kernel[1]; ++kx) {
      for (std::int64_t y = 0; y < along(0); ++y) {
        for (std::int64_t x = 0; x < along(1); ++x) {
          windows.positions.push_back((y * stride[0] + ky * dilation[0]) * image[1] +
                                      x * stride[1] + kx * dilation[1]);
        }
      }
    }
  }
  return windows;
}

Value convert_im2col(OpContext& context) {
  Value x = context.tensor("self");
  if (x.count() == 0) return full(context.builder(), context.result_type(), 0);
  if (x.rank() == 3) x = unsqueeze(x, 0);
  const Dims pad = spread(context.ints("padding"), 2);
  x = pad_constant(x, {0, 0, pad[0], pad[1]}, {0, 0, pad[0], pad[1]}, 0);
  const Windows windows =
      windows_of({x.size(2), x.size(3)}, spread(context.ints("kernel_size"), 2),
                 spread(context.ints("dilation"), 2), spread(context.ints("stride"), 2));
  const Value flat = reshape(x, {x.size(0), x.size(1), x.size(2) * x.size(3)});
  const Value index =
      int_tensor(context.builder(), windows.positions, {windows.kernel, windows.count});
  return reshape(gather(flat, index, 2), context.result_shape());
}

Value convert_col2im(OpContext& context) {
  Value x = context.tensor("self");
  const Type type = context.result_type();
  if (element_count(type.shape) == 0) return full(context.builder(), type, 0);
  const Dims kernel = spread(context.ints("kernel_size"), 2);
  const Dims pad = spread(context.ints("padding"), 2);
  const Dims size = context.ints("output_size");
  const Dims image = {size[0] + 2 * pad[0], size[1] + 2 * pad[1]};
  const Windows windows = windows_of(image, kernel, spread(context.ints("dilation"), 2),
                                     spread(context.ints("stride"), 2));
  if (x.rank() == 2) x = unsqueeze(x, 0);
  const std::int64_t batch = x.size(0);
  const std::int64_t channels = x.size(1) / windows.kernel;
  const std::int64_t taken = windows.kernel * windows.count;
  // Adding to rows of a matrix needs one scatter for all batches and channels.
  const Value columns = transpose(reshape(x, {batch * channels, taken}), 0, 1);
  const Value base =
      full(context.builder(), {x.dtype(), {image[0] * image[1], batch * channels}}, 0);
  const Value index = int_tensor(context.builder(), windows.positions, {taken, 1});
  const Value summed = transpose(scatter_nd(base, index, columns, "add"), 0, 1);
  Value images = reshape(summed, {batch, channels, image[0], image[1]});
  images = slice(images, 2, pad[0], pad[0] + size[0]);
  images = slice(images, 3, pad[1], pad[1] + size[1]);
  return reshape(images, type.shape);
}

}  // namespace

void register_convolution(ConverterRegistry& registry) {
  registry.add({"aten::convolution", "aten::_convolution"}, convert_convolution);
  registry.add("aten::im2col", convert_im2col);
  registry.add("aten::col2im", convert_col2im);
}

}  // namespace leapp::onnx_export
