// Interpolation of images: nearest, linear, cubic, with and without antialiasing; sampling by grid.
//
// All of them are separable. Along one dimension the result is a weighted sum of a few input
// elements whose positions and weights are constants, computed here as in PyTorch. The usual cases
// use ONNX's Resize, which gives the same numbers faster.
#include <algorithm>
#include <cmath>

#include "export/onnx/antialias.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

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

/// Returns the resized dimensions. A given scale takes precedence over the ratio of the sizes.
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

// PyTorch computes positions in single precision for float tensors and in double precision for
// bytes; LEAPP does the same, including rounding.
template <typename Real>
Real source_position(const Axis& axis, std::int64_t i, bool align, bool cubic) {
  if (align) {
    const Real scale = axis.output > 1
                           ? static_cast<Real>(axis.input - 1) / static_cast<Real>(axis.output - 1)
                           : Real{0};
    return scale * static_cast<Real>(i);
  }
  constexpr Real kHalf{0.5};
  const Real position = static_cast<Real>(axis.scale) * (static_cast<Real>(i) + kHalf) - kHalf;
  return !cubic && position < 0 ? Real{0} : position;
}

/// The same number of (position, weight) pairs for each output element.
struct Taps {
  std::vector<Dims> positions;  // [tap][output]
  std::vector<std::vector<double>> weights;
};

template <typename Real>
Taps linear_taps(const Axis& axis, bool align) {
  Taps taps{std::vector<Dims>(2), std::vector<std::vector<double>>(2)};
  for (std::int64_t i = 0; i < axis.output; ++i) {
    const Real position = source_position<Real>(axis, i, align, false);
    const auto low = std::min(static_cast<std::int64_t>(position), axis.input - 1);
    const Real rest = std::clamp(position - static_cast<Real>(low), Real{0}, Real{1});
    taps.positions[0].push_back(low);
    taps.positions[1].push_back(std::min(low + 1, axis.input - 1));
    taps.weights[0].push_back(static_cast<double>(Real{1} - rest));
    taps.weights[1].push_back(static_cast<double>(rest));
  }
  return taps;
}

template <typename Real>
Taps cubic_taps(const Axis& axis, bool align) {
  Taps taps{std::vector<Dims>(4), std::vector<std::vector<double>>(4)};
  for (std::int64_t i = 0; i < axis.output; ++i) {
    const Real position = source_position<Real>(axis, i, align, true);
    const Real floored = std::floor(position);
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

/// Returns ONNX's Resize, for scales that follow from the sizes.
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

Value multiplied(Value x, const Axis& axis, const std::vector<double>& weights) {
  const Value matrix = float_tensor(x.builder(), x.dtype(), weights, {axis.input, axis.output});
  return transpose(matmul(transpose(x, axis.dim, -1), matrix), axis.dim, -1);
}

/// Returns the taps as [input, output] weights.
std::vector<double> matrix_of(const Axis& axis, const Taps& taps) {
  std::vector<double> weights(static_cast<std::size_t>(axis.input * axis.output), 0.0);
  for (std::size_t t = 0; t < taps.positions.size(); ++t) {
    for (std::int64_t o = 0; o < axis.output; ++o) {
      const auto i = static_cast<std::size_t>(o);
      weights[static_cast<std::size_t>(taps.positions[t][i] * axis.output + o)] +=
          taps.weights[t][i];
    }
  }
  return weights;
}

/// Computes like PyTorch for bytes, by Pillow's algorithm: fixed-point weights with as many bits as
/// keep the largest within 16 bits, and a result that is rounded to a byte after each dimension.
/// All of it is exact in double precision.
Value multiplied_bytes(Value x, const Axis& axis, std::vector<double> weights) {
  const double largest = *std::max_element(weights.begin(), weights.end());
  int bits = 0;
  while (bits < 22 && static_cast<int>(0.5 + largest * std::ldexp(1.0, bits + 1)) < (1 << 15)) {
    ++bits;
  }
  const double one = std::ldexp(1.0, bits);
  for (double& weight : weights) weight = std::trunc(weight * one + (weight < 0.0 ? -0.5 : 0.5));
  const Value sum = multiplied(cast(x, DType::kFloat64), axis, weights);
  const Value rounded = floor((sum + one / 2.0) / one);
  const Value inside =
      minimum(maximum(rounded, scalar_like(rounded, 0.0)), scalar_like(rounded, 255.0));
  return cast(inside, DType::kUInt8);
}

/// Resizes bytes, the last dimension first; the order matters because each step rounds.
template <typename Weights>
Value resize_bytes(Value x, std::vector<Axis> axes, Weights&& weights_of) {
  std::reverse(axes.begin(), axes.end());
  for (const Axis& axis : axes) {
    if (changes(axis)) x = multiplied_bytes(x, axis, weights_of(axis));
  }
  return x;
}

Value convert_linear(OpContext& context) {
  Value x = context.tensor(context.has("input") ? "input" : "self");
  const DType dtype = x.dtype();
  const std::vector<Axis> axes = axes_of(context, x);
  const bool align = align_corners(context);
  if (dtype == DType::kUInt8) {
    return resize_bytes(x, axes, [&](const Axis& axis) {
      return matrix_of(axis, linear_taps<double>(axis, align));
    });
  }
  if (runs_in_float(x) && x.rank() == 4 && (align || follows_sizes(axes))) {
    const bool single =
        std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.output == 1; });
    if (!single)
      return by_operator(context, x, "linear", align ? "align_corners" : "half_pixel", nullptr);
  }
  x = dtype == DType::kBFloat16 ? cast(x, DType::kFloat32) : x;
  for (const Axis& axis : axes) {
    if (align ? axis.input != axis.output : changes(axis)) {
      x = weighted_sum(x, axis, linear_taps<float>(axis, align));
    }
  }
  return cast(x, dtype);
}

Value convert_cubic(OpContext& context) {
  Value x = context.tensor(context.has("input") ? "input" : "self");
  const DType dtype = x.dtype();
  const std::vector<Axis> axes = axes_of(context, x);
  const bool align = align_corners(context);
  if (dtype == DType::kUInt8) {
    return resize_bytes(x, axes, [&](const Axis& axis) {
      return matrix_of(axis, cubic_taps<double>(axis, align));
    });
  }
  x = dtype == DType::kBFloat16 ? cast(x, DType::kFloat32) : x;
  for (const Axis& axis : axes) {
    if (align ? axis.input != axis.output : changes(axis)) {
      x = weighted_sum(x, axis, cubic_taps<float>(axis, align));
    }
  }
  return cast(x, dtype);
}

/// Returns whether the image was converted from integers. Its resized values are probably rounded
/// again, so the last bit can decide between two integers.
bool holds_integers(OpContext& context) {
  const ir::ValueId image = context.value_of(context.has("input") ? "input" : "self");
  if (context.result_dtype() != DType::kFloat32 || image == ir::kNoValue) return false;
  for (const ir::Op& op : context.graph().ops()) {
    if (op.result() != image || op.signature->name.find("to") == std::string::npos) continue;
    const auto* from = std::get_if<ir::ValueRef>(&op.arguments.front());
    return from != nullptr && is_integer(context.graph().type(from->id).dtype);
  }
  return false;
}

Value convert_antialiased(OpContext& context, bool cubic) {
  Value x = context.tensor(context.has("input") ? "input" : "self");
  std::vector<Axis> axes = axes_of(context, x);
  const auto weights_of = [&](const Axis& axis) {
    return antialiasing_weights(axis, align_corners(context), cubic);
  };
  if (x.dtype() == DType::kUInt8) return resize_bytes(x, axes, weights_of);
  std::reverse(axes.begin(), axes.end());
  const bool exact = holds_integers(context);
  for (const Axis& axis : axes) {
    if (axis.input == axis.output) continue;
    x = exact ? antialiased_exactly(x, axis, align_corners(context), cubic)
              : multiplied(x, axis, weights_of(axis));
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

/// Returns each output element's normalized input position, from -1 to 1, before the transform.
Value base_grid(Builder& builder, const Dims& sizes, bool align_corners, DType dtype) {
  const std::size_t axes = sizes.size();
  std::vector<double> places;
  Dims at(axes, 0);
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  for (std::int64_t element = 0; element < count; ++element) {
    std::int64_t rest = element;
    for (std::size_t d = axes; d-- > 0; rest /= sizes[d]) at[d] = rest % sizes[d];
    for (std::size_t d = axes; d-- > 0;) {  // x is in front of y
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
