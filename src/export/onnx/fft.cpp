// Discrete Fourier transforms as products with constant matrices, or as ONNX's DFT for long
// signals.
#include <cmath>
#include <numbers>

#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

// Up to this length a matrix product is faster and more exact than the runtime's DFT.
constexpr std::int64_t kMaxMatrix = 256;

/// cos and sin of 2 pi k n / N for the output bins k and the inputs n, scaled.
struct Waves {
  Value cosine;
  Value sine;
};

Waves waves(Builder& builder, DType dtype, std::int64_t inputs, std::int64_t bins,
            std::int64_t length, double scale) {
  std::vector<double> cosine;
  std::vector<double> sine;
  for (std::int64_t n = 0; n < inputs; ++n) {
    for (std::int64_t k = 0; k < bins; ++k) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>((n * k) % length) /
                           static_cast<double>(length);
      cosine.push_back(scale * std::cos(angle));
      sine.push_back(scale * std::sin(angle));
    }
  }
  return {float_tensor(builder, dtype, cosine, {inputs, bins}),
          float_tensor(builder, dtype, sine, {inputs, bins})};
}

/// Returns the factor of PyTorch's normalisation mode: 0 none, 1 divides by sqrt(n), 2 by n.
double factor(std::int64_t mode, std::int64_t count) {
  const auto n = static_cast<double>(count);
  return mode == 0 ? 1.0 : mode == 1 ? 1.0 / std::sqrt(n) : 1.0 / n;
}

struct Pair {
  Value real;
  Value imaginary;
};

/// Returns one transform along the last dimension; `sign` is -1 forwards and +1 backwards.
Pair along_last(const Pair& x, std::int64_t bins, std::int64_t length, double sign) {
  const Value real = x.real;
  const Waves w = waves(real.builder(), real.dtype(), real.size(-1), bins, length, 1.0);
  // (a + ib)(cos + i sign sin)
  Pair out{matmul(real, w.cosine), matmul(real, w.sine) * sign};
  if (x.imaginary.defined()) {
    out.real = out.real - matmul(x.imaginary, w.sine) * sign;
    out.imaginary = out.imaginary + matmul(x.imaginary, w.cosine);
  }
  return out;
}

/// Returns the runtime's own transform, for long signals.
Pair by_operator(const Pair& x, std::int64_t bins, bool forward) {
  Builder& builder = x.real.builder();
  // Double precision, because the runtime's transform is inexact for lengths that are not a power
  // of two.
  const DType dtype = DType::kFloat64;
  std::vector<Value> parts = {cast(x.real, dtype)};
  if (x.imaginary.defined()) parts.push_back(cast(x.imaginary, dtype));
  const Value input = stack(parts, -1);
  Shape shape = x.real.shape();
  const std::int64_t length = shape.back();
  shape.push_back(2);
  const Type type{dtype, shape};
  const auto axis = static_cast<std::int64_t>(shape.size()) - 2;
  Attrs attributes = {{"inverse", std::int64_t{forward ? 0 : 1}}, {"onesided", std::int64_t{0}}};
  std::vector<Value> inputs = {input};
  if (builder.opset() >= 20) {
    inputs.push_back(Value());
    inputs.push_back(scalar_int(builder, DType::kInt64, axis));
  } else {
    attributes.push_back({"axis", axis});
  }
  Value out = builder.emit("DFT", inputs, std::move(attributes), type);
  if (!forward)
    out = out * static_cast<double>(length);  // ONNX's inverse is scaled, this one is not
  out = cast(slice(out, axis, 0, bins), x.real.dtype());
  return {select(out, -1, 0), select(out, -1, 1)};
}

Pair transform(const Pair& x, std::int64_t dim, std::int64_t bins, bool forward) {
  const auto to_last = [&](Value value) {
    return value.defined() ? transpose(value, dim, -1) : value;
  };
  const Pair moved{to_last(x.real), to_last(x.imaginary)};
  const std::int64_t length = moved.real.size(-1);
  const Pair done = length <= kMaxMatrix ? along_last(moved, bins, length, forward ? -1.0 : 1.0)
                                         : by_operator(moved, bins, forward);
  return {to_last(done.real), to_last(done.imaginary)};
}

Dims transformed_dims(OpContext& context, std::int64_t rank) {
  return wrap_dims(context.ints("dim"), rank);
}

std::int64_t product(const Shape& shape, const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= shape[static_cast<std::size_t>(dim)];
  return count;
}

void set(OpContext& context, const Pair& pair, double scale) {
  const Value parts[] = {pair.real * scale, pair.imaginary * scale};
  context.set_complex(0, stack(parts, -1));
}

void convert_r2c(OpContext& context) {
  const Value x = context.tensor("self");
  const Dims dims = transformed_dims(context, x.rank());
  Pair pair{x, {}};
  for (std::size_t i = dims.size(); i-- > 0;) {
    const std::int64_t size = x.size(dims[i]);
    const bool half = context.flag("onesided") && i + 1 == dims.size();
    pair = transform(pair, dims[i], half ? size / 2 + 1 : size, true);
  }
  set(context, pair, factor(context.integer("normalization"), product(x.shape(), dims)));
}

Pair complex_argument(OpContext& context) {
  const Value x = context.complex_tensor("self");
  return {select(x, -1, 0), select(x, -1, 1)};
}

void convert_c2c(OpContext& context) {
  Pair pair = complex_argument(context);
  const Dims dims = transformed_dims(context, pair.real.rank());
  for (const std::int64_t dim : dims) {
    pair = transform(pair, dim, pair.real.size(dim), context.flag("forward"));
  }
  set(context, pair,
      factor(context.integer("normalization"), product(context.result_shape(), dims)));
}

/// Returns the real signal whose transform begins with the given half.
Value half_to_real(const Pair& half, std::int64_t length) {
  const std::int64_t bins = half.real.size(-1);
  Builder& builder = half.real.builder();
  // Every bin but the first and (for an even length) the middle one represents two.
  std::vector<double> cosine(static_cast<std::size_t>(bins * length));
  std::vector<double> sine(cosine.size());
  for (std::int64_t k = 0; k < bins; ++k) {
    const double weight = k == 0 || 2 * k == length ? 1.0 : 2.0;
    for (std::int64_t n = 0; n < length; ++n) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>((n * k) % length) /
                           static_cast<double>(length);
      cosine[static_cast<std::size_t>(k * length + n)] = weight * std::cos(angle);
      sine[static_cast<std::size_t>(k * length + n)] = -weight * std::sin(angle);
    }
  }
  const DType dtype = half.real.dtype();
  return matmul(half.real, float_tensor(builder, dtype, cosine, {bins, length})) +
         matmul(half.imaginary, float_tensor(builder, dtype, sine, {bins, length}));
}

void convert_c2r(OpContext& context) {
  Pair pair = complex_argument(context);
  const Dims dims = transformed_dims(context, pair.real.rank());
  const std::int64_t length = context.integer("last_dim_size");
  context.need(length <= 4 * kMaxMatrix, "its length of " + std::to_string(length) +
                                             " is longer than LEAPP exports as a matrix product");
  for (std::size_t i = 0; i + 1 < dims.size(); ++i) {
    pair = transform(pair, dims[i], pair.real.size(dims[i]), false);
  }
  const std::int64_t last = dims.back();
  const Pair half{slice(transpose(pair.real, last, -1), -1, 0, length / 2 + 1),
                  slice(transpose(pair.imaginary, last, -1), -1, 0, length / 2 + 1)};
  const double scale =
      factor(context.integer("normalization"), product(context.result_shape(), dims));
  context.set(transpose(half_to_real(half, length) * scale, last, -1));
}

/// Converts to overlapping frames of the signal, windowed and transformed: [.., bins, frames].
void convert_stft(OpContext& context) {
  Value x = context.tensor("self");
  const bool single = x.rank() == 1;
  if (single) x = unsqueeze(x, 0);
  const std::int64_t length = context.integer("n_fft");
  const std::int64_t hop = context.integer("hop_length", length / 4);
  const std::int64_t window_length = context.integer("win_length", length);
  if (context.has("center") && context.flag("center")) {
    const std::string mode = context.text("pad_mode");
    context.need(mode == "reflect" || mode == "constant", "its pad mode '" + mode + "' is unknown");
    const std::int64_t pad = length / 2;
    if (mode == "constant") {
      x = pad_constant(x, {0, pad}, {0, pad}, 0);
    } else {
      Dims from;
      const std::int64_t size = x.size(1);
      for (std::int64_t i = -pad; i < size + pad; ++i) {
        from.push_back(i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i);
      }
      x = gather(x, int_vector(context.builder(), from), 1);
    }
  }
  const std::int64_t frames = (x.size(1) - length) / hop + 1;
  Dims positions;
  for (std::int64_t f = 0; f < frames; ++f) {
    for (std::int64_t i = 0; i < length; ++i) positions.push_back(f * hop + i);
  }
  Value framed = gather(x, int_tensor(context.builder(), positions, {frames, length}), 1);
  const Value window = context.optional_tensor("window");
  if (window.defined() || window_length < length) {
    const Value given = window.defined() ? cast(window, x.dtype())
                                         : full(context.builder(), {x.dtype(), {window_length}}, 1);
    const std::int64_t left = (length - window_length) / 2;
    framed = framed * pad_constant(given, {left}, {length - window_length - left}, 0);
  }
  const bool onesided = context.is_none("onesided") || context.flag("onesided");
  Pair pair = transform({framed, {}}, -1, onesided ? length / 2 + 1 : length, true);
  if (context.flag("normalized")) {
    const double scale = factor(1, length);
    pair = {pair.real * scale, pair.imaginary * scale};
  }
  const Value parts[] = {transpose(pair.real, 1, 2), transpose(pair.imaginary, 1, 2)};
  Value result = stack(parts, -1);
  if (single) result = squeeze(result, 0);
  if (context.flag("return_complex")) {
    context.set_complex(0, result);
  } else {
    context.set(result);
  }
}

}  // namespace

void register_fft(ConverterRegistry& registry) {
  registry.add_complex({"aten::_fft_r2c"}, convert_r2c);
  registry.add_complex({"aten::_fft_c2c"}, convert_c2c);
  registry.add_complex({"aten::_fft_c2r"}, convert_c2r);
  registry.add_complex({"aten::stft", "aten::stft.center"}, convert_stft);
  registry.add("aten::stft", convert_stft);
  registry.add("aten::stft.center", convert_stft);
}

}  // namespace leapp::onnx_export
