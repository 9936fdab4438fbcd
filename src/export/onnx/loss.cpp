// Loss functions, for nodes that compute their own loss.
#include <cmath>

#include "export/onnx/math.h"
#include "export/onnx/nn.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

enum Reduction : std::int64_t { kNone = 0, kMean = 1, kSum = 2 };

Value reduced(OpContext& context, Value loss) {
  switch (context.integer("reduction")) {
    case kMean:
      return mean(loss, {});
    case kSum:
      return sum(loss, {});
    default:
      return loss;
  }
}

Value operand(OpContext& context, std::string_view parameter) {
  return cast(context.tensor(parameter), context.result_dtype());
}

Value difference(OpContext& context) {
  return operand(context, "self") - operand(context, "target");
}

Value convert_mse(OpContext& context) {
  return reduced(context, square(difference(context)));
}

Value convert_l1(OpContext& context) {
  return reduced(context, abs(difference(context)));
}

Value convert_smooth_l1(OpContext& context) {
  const double beta = context.number("beta");
  const Value size = abs(difference(context));
  if (beta == 0.0) return reduced(context, size);
  return reduced(context, where(size < beta, square(size) * (0.5 / beta), size - 0.5 * beta));
}

Value convert_huber(OpContext& context) {
  const double delta = context.number("delta");
  const Value size = abs(difference(context));
  return reduced(context, where(size <= delta, square(size) * 0.5, (size - 0.5 * delta) * delta));
}

Value weighted(OpContext& context, Value loss) {
  const Value weight = context.optional_tensor("weight");
  return weight.defined() ? loss * cast(weight, loss.dtype()) : loss;
}

Value convert_bce(OpContext& context) {
  const Value x = operand(context, "self");
  const Value target = operand(context, "target");
  const Value floor_value = scalar_like(x, -100);
  const Value loss =
      (target - 1.0) * maximum(log1p(-x), floor_value) - target * maximum(log(x), floor_value);
  return reduced(context, weighted(context, loss));
}

Value convert_bce_with_logits(OpContext& context) {
  const Value x = operand(context, "self");
  const Value target = operand(context, "target");
  const Value log_sigmoid = minimum(x, scalar_like(x, 0)) - log1p(exp(-abs(x)));
  const Value positive = context.optional_tensor("pos_weight");
  Value loss;
  if (positive.defined()) {
    const Value factor = (cast(positive, x.dtype()) - 1.0) * target + 1.0;
    loss = (1.0 - target) * x - factor * log_sigmoid;
  } else {
    loss = (1.0 - target) * x - log_sigmoid;
  }
  return reduced(context, weighted(context, loss));
}

Value convert_soft_margin(OpContext& context) {
  const Value z = -operand(context, "target") * operand(context, "self");
  return reduced(context, log1p(exp(z)));
}

/// Selects each sample's class along dimension 1 (or 0 without a batch); ignored samples have
/// weight 0.
struct Picked {
  Value loss;    // weighted and negative, [batch, ..]
  Value weight;  // weight of each sample
};

Picked picked(OpContext& context, Value x, Value target) {
  const DType dtype = x.dtype();
  const std::int64_t dim = x.rank() == 1 ? 0 : 1;
  const Value index = cast(target, DType::kInt64);
  const Value ignored =
      equal(index, scalar_int(x.builder(), DType::kInt64, context.integer("ignore_index")));
  const Value safe = where(ignored, 0.0, index);
  const Value chosen = squeeze(
      gather_elements(x, x.rank() == 1 ? reshape(safe, {1}) : unsqueeze(safe, dim), dim), dim);
  const Value weights = context.optional_tensor("weight");
  Value weight = weights.defined() ? gather(cast(weights, dtype), safe, 0)
                                   : full(x.builder(), {dtype, safe.shape()}, 1);
  weight = where(ignored, 0.0, weight);
  // The product alone would be wrong, because 0 * -inf is NaN.
  return {where(ignored, 0.0, -chosen * weight), weight};
}

void convert_nll(OpContext& context) {
  const Value x = operand(context, "self");
  const Picked found = picked(context, x, context.tensor("target"));
  const Value total = sum(found.weight, {});
  switch (context.integer("reduction")) {
    case kMean:
      context.set(0, reshape(sum(found.loss, {}) / total, context.result_shape()));
      context.set(1, total);
      return;
    case kSum:
      context.set(0, reshape(sum(found.loss, {}), context.result_shape()));
      context.set(1, total);
      return;
    default:
      context.set(0, reshape(found.loss, context.result_shape()));
      context.set(1, full(context.builder(), context.result_type(1), 0));
  }
}

Value convert_multi_margin(OpContext& context) {
  Value x = operand(context, "self");
  if (x.rank() < 2) x = reshape(x, {1, x.count()});
  const std::int64_t batch = x.size(0);
  const std::int64_t classes = x.size(1);
  const Value target = reshape(cast(context.tensor("target"), DType::kInt64), {batch, 1});
  const Value chosen = gather_elements(x, target, 1);
  Value loss = maximum(x - chosen + context.number("margin"), scalar_like(x, 0));
  const double p = context.number("p");
  if (p == 2.0) loss = square(loss);
  const Value weight = context.optional_tensor("weight");
  if (weight.defined()) {
    loss = loss * unsqueeze(gather(cast(weight, x.dtype()), reshape(target, {batch}), 0), 1);
  }
  const Value own = equal(reshape(iota(context.builder(), classes), {1, classes}), target);
  const Value per_sample = sum(where(own, 0.0, loss), {1}) / static_cast<double>(classes);
  return reshape(reduced(context, per_sample), context.result_shape());
}

/// Converts with the targets before the first -1; every other class is a negative.
void convert_multilabel_margin(OpContext& context) {
  Value x = operand(context, "self");
  if (x.rank() < 2) x = reshape(x, {1, x.count()});
  const std::int64_t batch = x.size(0);
  const std::int64_t classes = x.size(1);
  Builder& builder = context.builder();
  const Value target = reshape(cast(context.tensor("target"), DType::kInt64), {batch, classes});
  // A target counts while none before it was -1.
  const Value ended = cast(target < 0.0, DType::kInt64);
  const Value counts = equal(cumulative_sum(ended, 1), 0.0);
  const Value safe = where(counts, target, scalar_like(target, 0));
  const Value is_target = scatter_elements(full(builder, {DType::kFloat32, {batch, classes}}, 0),
                                           safe, cast(counts, DType::kFloat32), 1, "add") > 0.0;
  const Value chosen = gather_elements(x, safe, 1);  // [batch, target]
  const Value zero = scalar_like(x, 0);
  const Value pairs = maximum(1.0 - (unsqueeze(chosen, 2) - unsqueeze(x, 1)), zero);
  const Value taken = unsqueeze(counts, 2) && !unsqueeze(is_target, 1);
  const Value per_sample = sum(where(taken, pairs, 0.0), {1, 2}) / static_cast<double>(classes);
  context.set(0, reshape(reduced(context, per_sample), context.result_shape()));
  context.set(1, reshape(cast(is_target, context.result_dtype(1)), context.result_shape(1)));
}

}  // namespace

void register_loss(ConverterRegistry& registry) {
  registry.add("aten::mse_loss", convert_mse);
  registry.add("aten::l1_loss", convert_l1);
  registry.add("aten::smooth_l1_loss", convert_smooth_l1);
  registry.add("aten::huber_loss", convert_huber);
  registry.add("aten::binary_cross_entropy", convert_bce);
  registry.add("aten::binary_cross_entropy_with_logits", convert_bce_with_logits);
  registry.add("aten::soft_margin_loss", convert_soft_margin);
  registry.add({"aten::nll_loss_forward", "aten::nll_loss2d_forward"}, convert_nll);
  registry.add("aten::multi_margin_loss", convert_multi_margin);
  registry.add("aten::multilabel_margin_loss_forward", convert_multilabel_margin);
}

}  // namespace leapp::onnx_export
