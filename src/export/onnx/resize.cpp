// Interpolation of images: nearest, linear, cubic, with and without antialiasing; sampling by grid.
//
// All of them are separable. Along one dimension the result is a weighted sum of a few input
// elements whose positions and weights are constants, worked out here as PyTorch does. The usual
// cases go to ONNX's Resize, which gives the same numbers faster.
#include <algorithm>
#include <cmath>

#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

struct Axis {
  std::int64_t dim;
  std::int64_t input;
  std::int64_t output;
  double scale;  ///< input elements per output element
};

std::optional<double> given_scale(OpContext& context, std::size_t d, std::size_t dims) {
  const char* const kByDims[3][3] = {
      {"scales", "", ""}, {"scales_h", "scales_w", ""}, {"scales_d", "scales_h", "scales_w"}};
  const char* name = kByDims[dims - 1][d];
  if (context.has("scale_factors")) {
    const std::vector<double> factors = context.numbers("scale_factors");
    if (factors.size() > d) return factors[d];
    return std::nullopt;
  }
  if (context.is_none(name)) return std::nullopt;
  return context.number(name);
}

/// The resized dimensions. A scale that the caller gave counts, not the ratio of the sizes.
std::vector<Axis> axes_of(OpContext& context, Value x) {
  const auto dims = static_cast<std::size_t>(x.rank()) - 2;
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < dims; ++d) {
    const auto dim = static_cast<std::int64_t>(d) + 2;
    Axis axis{dim, x.size(dim), context.result_shape()[d + 2], 0.0};
    const std::optional<double> factor = given_scale(context, d, dims);
    axis.scale = factor && *factor > 0.0
                     ? 1.0 / *factor
                     : static_cast<double>(axis.input) / static_cast<double>(axis.output);
    axes.push_back(axis);
  }
  return axes;
}

bool align_corners(OpContext& context) {
  return context.has("align_corners") && context.flag("align_corners");
}

// PyTorch computes positions in single precision for float tensors; so do we, rounding included.
float source_position(const Axis& axis, std::int64_t i, bool align, bool cubic) {
  if (align) {
    const float scale =
        axis.output > 1 ? static_cast<float>(axis.input - 1) / static_cast<float>(axis.output - 1)
                        : 0.0F;
    return scale * static_cast<float>(i);
  }
  const float position = static_cast<float>(axis.scale) * (static_cast<float>(i) + 0.5F) - 0.5F;
  return !cubic && position < 0.0F ? 0.0F : position;
}

/// For each output element the same number of (position, weight) pairs.
struct Taps {
  std::vector<Dims> positions;  // [tap][output]
  std::vector<std::vector<double>> weights;
};

Taps linear_taps(const Axis& axis, bool align) {
  Taps taps{std::vector<Dims>(2), std::vector<std::vector<double>>(2)};
  for (std::int64_t i = 0; i < axis.output; ++i) {
    const float position = source_position(axis, i, align, false);
    const auto low = std::min(static_cast<std::int64_t>(position), axis.input - 1);
    const float rest = std::clamp(position - static_cast<float>(low), 0.0F, 1.0F);
    taps.positions[0].push_back(low);
    taps.positions[1].push_back(std::min(low + 1, axis.input - 1));
    taps.weights[0].push_back(static_cast<double>(1.0F - rest));
    taps.weights[1].push_back(static_cast<double>(rest));
  }
  return taps;
}

/// Keys' cubic kernel, with the coefficient PyTorch uses.
double cubic_weight(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  if (x < 2.0) return (((x - 5.0) * x + 8.0) * x - 4.0) * a;
  return 0.0;
}

Taps cubic_taps(const Axis& axis, bool align) {
  Taps taps{std::vector<Dims>(4), std::vector<std::vector<double>>(4)};
  for (std::int64_t i = 0; i < axis.output; ++i) {
    const float position = source_position(axis, i, align, true);
    const float floored = std::floor(position);
    const auto base = static_cast<std::int64_t>(floored);
    const double rest = static_cast<double>(position - floored);
    for (std::int64_t tap = 0; tap < 4; ++tap) {
      const auto t = static_cast<std::size_t>(tap);
      taps.positions[t].push_back(std::clamp<std::int64_t>(base + tap - 1, 0, axis.input - 1));
      taps.weights[t].push_back(cubic_weight(static_cast<double>(tap - 1) - rest, -0.75));
    }
  }
  return taps;
}

Value along(Value x, Value weights, std::int64_t dim) {
  Shape shape(x.shape().size(), 1);
  shape[static_cast<std::size_t>(dim)] = weights.count();
  return x * reshape(weights, shape);
}

Value weighted_sum(Value x, const Axis& axis, const Taps& taps) {
  Value total;
  for (std::size_t t = 0; t < taps.positions.size(); ++t) {
    const Value taken = gather(x, int_vector(x.builder(), taps.positions[t]), axis.dim);
    const Value weights = float_tensor(x.builder(), x.dtype(), taps.weights[t], {axis.output});
    const Value part = along(taken, weights, axis.dim);
    total = total.defined() ? total + part : part;
  }
  return total;
}

bool changes(const Axis& axis) {
  return axis.input != axis.output || axis.scale != 1.0;
}

/// ONNX's Resize, for the scales that follow from the sizes.
Value by_operator(OpContext& context, Value x, const char* mode, const char* transform,
                  const char* nearest_mode) {
  Builder& builder = context.builder();
  Attrs attributes = {{"coordinate_transformation_mode", std::string(transform)},
                      {"mode", std::string(mode)}};
  if (nearest_mode != nullptr) attributes.push_back({"nearest_mode", std::string(nearest_mode)});
  return builder.emit("Resize", {x, Value(), Value(), int_vector(builder, context.result_shape())},
                      std::move(attributes), {x.dtype(), context.result_shape()});
}

bool follows_sizes(const std::vector<Axis>& axes) {
  return std::all_of(axes.begin(), axes.end(), [](const Axis& axis) {
    return axis.scale == static_cast<double>(axis.input) / static_cast<double>(axis.output);
  });
}

bool runs_in_float(Value x) {
  return x.dtype() == DType::kFloat32;
}

Value convert_nearest(OpContext& context, bool exact) {
  Value x = context.tensor(context.has("input") ? "input" : "self");
  const std::vector<Axis> axes = axes_of(context, x);
  const bool whole_factor = std::all_of(
      axes.begin(), axes.end(), [](const Axis& axis) { return axis.output % axis.input == 0; });
  if (runs_in_float(x) && x.rank() == 4 && whole_factor && follows_sizes(axes)) {
    return by_operator(context, x, "nearest", "asymmetric", "floor");
  }
  for (const Axis& axis : axes) {
    if (!changes(axis)) continue;
    Dims positions;
    for (std::int64_t i = 0; i < axis.output; ++i) {
      const float shifted = static_cast<float>(i) + (exact ? 0.5F : 0.0F);
      const float position = std::floor(shifted * static_cast<float>(axis.scale));
      positions.push_back(std::min(static_cast<std::int64_t>(position), axis.input - 1));
    }
    x = gather(x, int_vector(context.builder(), positions), axis.dim);
  }
  return x;
}

/// PyTorch interpolates between integers with weights rounded to fixed point.
void need_floating_point(OpContext& context, DType dtype) {
  context.need(is_floating_point(dtype), "it interpolates between integers",
               "Convert to float32 first, and round the result.");
}

Value convert_linear(OpContext& context) {
  Value x = context.tensor(context.has("input") ? "input" : "self");
  const DType dtype = x.dtype();
  need_floating_point(context, dtype);
  const std::vector<Axis> axes = axes_of(context, x);
  const bool align = align_corners(context);
  if (runs_in_float(x) && x.rank() == 4 && (align || follows_sizes(axes))) {
    const bool single =
        std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.output == 1; });
    if (!single)
      return by_operator(context, x, "linear", align ? "align_corners" : "half_pixel", nullptr);
  }
  x = dtype == DType::kBFloat16 ? cast(x, DType::kFloat32) : x;
  for (const Axis& axis : axes) {
    if (align ? axis.input != axis.output : changes(axis)) {
      x = weighted_sum(x, axis, linear_taps(axis, align));
    }
  }
  return cast(x, dtype);
}

Value convert_cubic(OpContext& context) {
  Value x = context.tensor(context.has("input") ? "input" : "self");
  const DType dtype = x.dtype();
  const bool align = align_corners(context);
  need_floating_point(context, dtype);
  x = dtype == DType::kBFloat16 ? cast(x, DType::kFloat32) : x;
  for (const Axis& axis : axes_of(context, x)) {
    if (align ? axis.input != axis.output : changes(axis)) {
      x = weighted_sum(x, axis, cubic_taps(axis, align));
    }
  }
  return cast(x, dtype);
}

/// With antialiasing each output element sees as many inputs as it shrinks: a matrix product.
Value antialiased(Value x, const Axis& axis, bool align, bool cubic) {
  const double scale = align ? (axis.output > 1 ? static_cast<double>(axis.input - 1) /
                                                      static_cast<double>(axis.output - 1)
                                                : 0.0)
                             : axis.scale;
  const double reach = (cubic ? 2.0 : 1.0) * std::max(scale, 1.0);
  const double squeeze = scale >= 1.0 ? 1.0 / scale : 1.0;
  std::vector<double> matrix(static_cast<std::size_t>(axis.input * axis.output), 0.0);
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const double center = scale * (static_cast<double>(o) + 0.5);
    const auto first = std::max<std::int64_t>(static_cast<std::int64_t>(center - reach + 0.5), 0);
    const auto last =
        std::min<std::int64_t>(static_cast<std::int64_t>(center + reach + 0.5), axis.input);
    double total = 0.0;
    std::vector<double> weights;
    for (std::int64_t i = first; i < last; ++i) {
      const double distance = (static_cast<double>(i) - center + 0.5) * squeeze;
      weights.push_back(cubic ? cubic_weight(distance, -0.5)
                              : std::max(1.0 - std::fabs(distance), 0.0));
      total += weights.back();
    }
    for (std::int64_t i = first; i < last; ++i) {
      matrix[static_cast<std::size_t>(i * axis.output + o)] =
          weights[static_cast<std::size_t>(i - first)] / total;
    }
  }
  const Value constant = float_tensor(x.builder(), x.dtype(), matrix, {axis.input, axis.output});
  return transpose(matmul(transpose(x, axis.dim, -1), constant), axis.dim, -1);
}

Value convert_antialiased(OpContext& context, bool cubic) {
  Value x = context.tensor(context.has("input") ? "input" : "self");
  need_floating_point(context, x.dtype());
  for (const Axis& axis : axes_of(context, x)) {
    if (axis.input != axis.output) x = antialiased(x, axis, align_corners(context), cubic);
  }
  return x;
}

Value convert_grid_sampler(OpContext& context) {
  const Value x = context.tensor("input");
  const Value grid = context.tensor("grid");
  const bool three = x.rank() == 5;
  if (three) context.need_opset(20, "sampling volumes by a grid");
  static const char* const kOld[] = {"bilinear", "nearest", "bicubic"};
  static const char* const kNew[] = {"linear", "nearest", "cubic"};
  static const char* const kPads[] = {"zeros", "border", "reflection"};
  const auto mode = static_cast<std::size_t>(context.integer("interpolation_mode"));
  const auto pad = static_cast<std::size_t>(context.integer("padding_mode"));
  const Type type = context.result_type();
  const DType compute = type.dtype == DType::kFloat64 ? DType::kFloat64 : DType::kFloat32;
  const Value sampled = context.builder().emit(
      "GridSample", {cast(x, compute), cast(grid, compute)},
      {{"align_corners", std::int64_t{context.flag("align_corners")}},
       {"mode", std::string(context.opset() >= 20 ? kNew[mode] : kOld[mode])},
       {"padding_mode", std::string(kPads[pad])}},
      {compute, type.shape});
  return cast(sampled, type.dtype);
}

/// Where each output element lies in the input, from -1 to 1, before the transform.
Value base_grid(Builder& builder, const Dims& sizes, bool align_corners, DType dtype) {
  const std::size_t axes = sizes.size();
  std::vector<double> places;
  Dims at(axes, 0);
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  for (std::int64_t element = 0; element < count; ++element) {
    std::int64_t rest = element;
    for (std::size_t d = axes; d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
    for (std::size_t d = axes; d-- > 0;) {  // x stands before y
      const auto size = static_cast<double>(sizes[d]);
      const double step = static_cast<double>(at[d]);
      if (sizes[d] <= 1) {
        places.push_back(0.0);
      } else {
        places.push_back(align_corners ? step * 2.0 / (size - 1.0) - 1.0
                                       : (step * 2.0 + 1.0) / size - 1.0);
      }
    }
    places.push_back(1.0);
  }
  return float_tensor(builder, dtype, places, {1, count, static_cast<std::int64_t>(axes) + 1});
}

Value convert_affine_grid(OpContext& context) {
  const Value theta = context.tensor("theta");
  const Dims size = context.ints("size");
  const Value grid = base_grid(context.builder(), Dims(size.begin() + 2, size.end()),
                               context.flag("align_corners"), theta.dtype());
  return reshape(matmul(grid, transpose(theta, 1, 2)), context.result_shape());
}

}  // namespace

void register_resize(ConverterRegistry& registry) {
  const auto nearest = [](OpContext& context) { return convert_nearest(context, false); };
  const auto exact = [](OpContext& context) { return convert_nearest(context, true); };
  registry.add({"aten::upsample_nearest1d", "aten::upsample_nearest2d", "aten::upsample_nearest3d",
                "aten::upsample_nearest1d.vec", "aten::upsample_nearest2d.vec",
                "aten::upsample_nearest3d.vec"},
               nearest);
  registry.add({"aten::_upsample_nearest_exact1d", "aten::_upsample_nearest_exact2d",
                "aten::_upsample_nearest_exact3d", "aten::_upsample_nearest_exact1d.vec",
                "aten::_upsample_nearest_exact2d.vec", "aten::_upsample_nearest_exact3d.vec"},
               exact);
  registry.add({"aten::upsample_linear1d", "aten::upsample_bilinear2d",
                "aten::upsample_trilinear3d", "aten::upsample_linear1d.vec",
                "aten::upsample_bilinear2d.vec", "aten::upsample_trilinear3d.vec"},
               convert_linear);
  registry.add({"aten::upsample_bicubic2d", "aten::upsample_bicubic2d.vec"}, convert_cubic);
  registry.add({"aten::_upsample_bilinear2d_aa", "aten::_upsample_bilinear2d_aa.vec"},
               [](OpContext& context) { return convert_antialiased(context, false); });
  registry.add({"aten::_upsample_bicubic2d_aa", "aten::_upsample_bicubic2d_aa.vec"},
               [](OpContext& context) { return convert_antialiased(context, true); });
  registry.add({"aten::grid_sampler_2d", "aten::grid_sampler_3d"}, convert_grid_sampler);
  registry.add("aten::affine_grid_generator", convert_affine_grid);
}

}  // namespace leapp::onnx_export
