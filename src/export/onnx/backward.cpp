// Derivatives, for programs that differentiate inside a node (torch.func.grad, for example).
#include <cmath>
#include <numbers>

#include "export/onnx/math.h"
#include "export/onnx/nn.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

Value grad(OpContext& context) {
  return cast(context.tensor(context.has("grad_output") ? "grad_output" : "grad_out"),
              context.result_dtype());
}

Value tensor(OpContext& context, std::string_view parameter) {
  return cast(context.tensor(parameter), context.result_dtype());
}

/// Returns a converter that multiplies the incoming gradient by a slope that depends on one tensor.
template <typename Slope>
auto times(const char* parameter, Slope slope) {
  return [parameter, slope](OpContext& context) -> Value {
    return grad(context) * slope(tensor(context, parameter));
  };
}

Value convert_threshold(OpContext& context) {
  const Value x = tensor(context, "self");
  return where(x <= context.scalar_argument("threshold", x.dtype()), 0.0, grad(context));
}

Value convert_hardtanh(OpContext& context) {
  const Value x = tensor(context, "self");
  const Value outside = x <= context.scalar_argument("min_val", x.dtype()) ||
                        x >= context.scalar_argument("max_val", x.dtype());
  return where(outside, 0.0, grad(context));
}

Value convert_leaky_relu(OpContext& context) {
  const Value x = tensor(context, "self");
  return where(x > 0.0, grad(context), grad(context) * context.number("negative_slope"));
}

Value convert_elu(OpContext& context) {
  const Value x = tensor(context, "self_or_result");
  const double alpha = context.number("alpha");
  const double scale = context.number("scale");
  const double input_scale = context.number("input_scale");
  const Value below = context.flag("is_result")
                          ? (x + alpha * scale) * input_scale
                          : exp(x * input_scale) * (alpha * scale * input_scale);
  return grad(context) * where(x <= 0.0, below, scalar_like(x, scale));
}

Value convert_gelu(OpContext& context) {
  const Value x = tensor(context, "self");
  if (context.text("approximate") == "tanh") {
    const double beta = std::sqrt(2.0 / std::numbers::pi);
    const double kappa = 0.044715;
    const Value inner = tanh((x + square(x) * x * kappa) * beta);
    const Value slope = (1.0 - square(inner)) * (square(x) * (3.0 * kappa) + 1.0) * beta;
    return grad(context) * (0.5 * (1.0 + inner) + x * slope * 0.5);
  }
  const Value cdf = 0.5 * (1.0 + erf(x / std::numbers::sqrt2));
  const Value pdf = exp(square(x) * -0.5) / std::sqrt(2.0 * std::numbers::pi);
  return grad(context) * (cdf + x * pdf);
}

Value silu_slope(Value x) {
  const Value s = sigmoid(x);
  return s * (1.0 + x * (1.0 - s));
}

Value mish_slope(Value x) {
  const Value t = tanh(softplus(x));
  return t + x * sigmoid(x) * (1.0 - square(t));
}

Value convert_softplus(OpContext& context) {
  const Value x = tensor(context, "self") * context.number("beta");
  return where(x > context.number("threshold"), grad(context), grad(context) * sigmoid(x));
}

Value convert_softmax(OpContext& context) {
  const Value output = tensor(context, "output");
  const Value weighted = grad(context) * output;
  if (output.rank() == 0) return weighted - output * weighted;
  return weighted - output * sum(weighted, {context.integer("dim")}, true);
}

Value convert_log_softmax(OpContext& context) {
  const Value given = grad(context);
  const Value output = tensor(context, "output");
  if (output.rank() == 0) return given - exp(output) * given;
  return given - exp(output) * sum(given, {context.integer("dim")}, true);
}

Value convert_dropout(OpContext& context) {
  return grad(context) * tensor(context, "mask") * context.number("scale");
}

/// Returns the gradient of each loss for the reduction (none, mean or sum).
Value loss_grad(OpContext& context, Value like) {
  const Value given = grad(context);
  constexpr std::int64_t kMean = 1;
  return context.integer("reduction") == kMean ? given / static_cast<double>(like.count()) : given;
}

Value convert_mse(OpContext& context) {
  const Value difference = tensor(context, "self") - tensor(context, "target");
  return difference * 2.0 * loss_grad(context, difference);
}

/// Writes the gradient of a part to the position of that part.
Value convert_slice(OpContext& context) {
  const Value given = grad(context);
  const Shape shape = context.ints("input_sizes");
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t dim = wrap_dim(context.integer("dim"), rank);
  const std::int64_t size = shape[static_cast<std::size_t>(dim)];
  std::int64_t start = context.integer("start");
  if (start < 0) start += size;
  const std::int64_t step = context.integer("step");
  // Position 0 of the padded gradient is zero, the gradient of all other elements.
  Dims before(shape.size(), 0);
  before[static_cast<std::size_t>(dim)] = 1;
  const Value padded = pad_constant(given, before, Dims(shape.size(), 0), 0);
  Dims from(static_cast<std::size_t>(size), 0);
  for (std::int64_t i = 0; i < given.size(dim); ++i) {
    from[static_cast<std::size_t>(start + i * step)] = i + 1;
  }
  return gather(padded, int_vector(context.builder(), from), dim);
}

Value convert_select(OpContext& context) {
  const Shape shape = context.ints("input_sizes");
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t dim = wrap_dim(context.integer("dim"), rank);
  const std::int64_t size = shape[static_cast<std::size_t>(dim)];
  std::int64_t index = context.integer("index");
  if (index < 0) index += size;
  Dims before(shape.size(), 0);
  Dims after(shape.size(), 0);
  before[static_cast<std::size_t>(dim)] = index;
  after[static_cast<std::size_t>(dim)] = size - 1 - index;
  return pad_constant(unsqueeze(grad(context), dim), before, after, 0);
}

Value convert_max_pool(OpContext& context) {
  const Value given = grad(context);
  const Type type = context.result_type();
  const Shape outer(type.shape.begin(), type.shape.end() - 2);
  const std::int64_t channels = element_count(outer);
  const std::int64_t plane = element_count(type.shape) / channels;
  const Shape lines = {channels, given.count() / channels};
  const Value base = full(context.builder(), {type.dtype, {channels, plane}}, 0);
  const Value index = reshape(cast(context.tensor("indices"), DType::kInt64), lines);
  return reshape(scatter_elements(base, index, reshape(given, lines), 1, "add"), type.shape);
}

Value convert_embedding(OpContext& context) {
  const Value given = context.tensor("grad_output");
  const Value index = cast(context.tensor("indices"), DType::kInt64);
  context.need(!context.flag("scale_grad_by_freq"), "it scales the gradient by frequency");
  const std::int64_t width = given.size(-1);
  const Value flat = reshape(index, {index.count(), 1});
  const Value padding =
      scalar_int(context.builder(), DType::kInt64, context.integer("padding_idx"));
  const Value rows = reshape(given, {index.count(), width});
  const Value kept = where(equal(flat, padding), 0.0, rows);
  return scatter_nd(full(context.builder(), context.result_type(), 0), flat, kept, "add");
}

void convert_layer_norm(OpContext& context) {
  const DType dtype = context.tensor("input").dtype();
  const Value x = context.tensor("input");
  const Value given = cast(context.tensor("grad_out"), dtype);
  const Value normalized =
      (x - cast(context.tensor("mean"), dtype)) * cast(context.tensor("rstd"), dtype);
  const auto count = static_cast<std::int64_t>(context.ints("normalized_shape").size());
  Dims inner;
  Dims outer;
  for (std::int64_t d = 0; d < x.rank(); ++d) (d < x.rank() - count ? outer : inner).push_back(d);
  const Value weight = context.optional_tensor("weight");
  const Value scaled = weight.defined() ? given * weight : given;
  const Value slope =
      scaled - mean(scaled, inner, true) - normalized * mean(scaled * normalized, inner, true);
  context.set(0, slope * cast(context.tensor("rstd"), dtype));
  const auto over_batch = [&](Value value) { return outer.empty() ? value : sum(value, outer); };
  if (context.is_used(1)) context.set(1, over_batch(given * normalized));
  if (context.is_used(2)) context.set(2, over_batch(given));
}

/// Writes windows back to the positions from which unfold() read them; overlapping elements are
/// added.
Value convert_unfold(OpContext& context) {
  const Value windows = context.tensor("grad_in");
  const Shape& shape = context.result_shape();
  const std::int64_t dim =
      wrap_dim(context.integer("dim"), static_cast<std::int64_t>(shape.size()));
  const std::int64_t size = context.integer("size");
  const std::int64_t step = context.integer("step");
  if (shape.empty() || windows.count() == 0) return reshape(windows, shape);
  const std::int64_t count = windows.size(dim);
  const std::int64_t length = shape[static_cast<std::size_t>(dim)];
  std::vector<double> places(static_cast<std::size_t>(count * size * length), 0.0);
  for (std::int64_t i = 0; i < count * size; ++i) {
    places[static_cast<std::size_t>(i * length + i / size * step + i % size)] = 1.0;
  }
  const Value matrix =
      float_tensor(context.builder(), windows.dtype(), places, {count * size, length});
  Dims order;
  Shape flat;
  for (std::int64_t d = 0; d < windows.rank() - 1; ++d) {
    if (d == dim) continue;
    order.push_back(d);
    flat.push_back(windows.size(d));
  }
  order.push_back(dim);
  order.push_back(windows.rank() - 1);
  flat.push_back(count * size);
  const Value summed = matmul(reshape(permute(windows, order), flat), matrix);
  Dims back = all_dims(static_cast<std::int64_t>(shape.size()) - 1);
  back.insert(back.begin() + dim, static_cast<std::int64_t>(shape.size()) - 1);
  return permute(summed, back);
}

}  // namespace

void register_backward(ConverterRegistry& registry) {
  registry.add("aten::threshold_backward", convert_threshold);
  registry.add("aten::hardtanh_backward", convert_hardtanh);
  registry.add("aten::leaky_relu_backward", convert_leaky_relu);
  registry.add("aten::elu_backward", convert_elu);
  registry.add("aten::gelu_backward", convert_gelu);
  registry.add("aten::silu_backward", times("self", silu_slope));
  registry.add("aten::mish_backward", times("self", mish_slope));
  registry.add("aten::softplus_backward", convert_softplus);
  registry.add("aten::sigmoid_backward", times("output", [](Value y) { return y * (1.0 - y); }));
  registry.add("aten::tanh_backward", times("output", [](Value y) { return 1.0 - square(y); }));
  registry.add("aten::_softmax_backward_data", convert_softmax);
  registry.add("aten::_log_softmax_backward_data", convert_log_softmax);
  registry.add("aten::native_dropout_backward", convert_dropout);
  registry.add("aten::mse_loss_backward", convert_mse);
  registry.add("aten::unfold_backward", convert_unfold);
  registry.add("aten::slice_backward", convert_slice);
  registry.add("aten::select_backward", convert_select);
  registry.add("aten::max_pool2d_with_indices_backward", convert_max_pool);
  registry.add("aten::embedding_dense_backward", convert_embedding);
  registry.add("aten::native_layer_norm_backward", convert_layer_norm);
}

}  // namespace leapp::onnx_export
