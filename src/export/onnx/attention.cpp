// Attention: the plain operator, and the fused forms that PyTorch's modules use in eval mode.
#include <algorithm>
#include <cmath>

#include "export/onnx/nn.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Keys that a query may not see, as a constant [queries, keys] mask of the visible ones.
Value causal_mask(Builder& builder, std::int64_t queries, std::int64_t keys) {
  Dims bits;
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) bits.push_back(j <= i ? 1 : 0);
  }
  return cast(int_tensor(builder, bits, {queries, keys}), DType::kBool);
}

/// Returns whether a constant mask leaves at least one key for every query; false if unknown.
bool leaves_something(Value mask) {
  const auto values = constant_doubles(mask);
  if (!values || mask.rank() == 0) return false;
  const auto keys = static_cast<std::size_t>(mask.size(-1));
  const bool is_bool = mask.dtype() == DType::kBool;
  for (std::size_t row = 0; row < values->size(); row += keys) {
    const auto first = values->begin() + static_cast<std::ptrdiff_t>(row);
    const bool sees = std::any_of(first, first + static_cast<std::ptrdiff_t>(keys),
                                  [&](double v) { return is_bool ? v != 0 : !std::isinf(v); });
    if (!sees) return false;
  }
  return true;
}

Value repeat_heads(Value x, std::int64_t heads) {
  const std::int64_t dim = x.rank() - 3;
  if (x.size(dim) == heads) return x;
  const Value spread = unsqueeze(x, dim + 1);
  Shape shape = spread.shape();
  shape[static_cast<std::size_t>(dim) + 1] = heads / x.size(dim);
  Shape merged = x.shape();
  merged[static_cast<std::size_t>(dim)] = heads;
  return reshape(expand(spread, shape), merged);
}

Value convert_sdpa(OpContext& context) {
  context.need(context.number("dropout_p") == 0.0, "it applies dropout, which draws random numbers",
               "Put the model in eval mode, or pass dropout_p=0.");
  const Value query = context.tensor("query");
  Value key = context.tensor("key");
  Value value = context.tensor("value");
  if (context.has("enable_gqa") && context.flag("enable_gqa")) {
    key = repeat_heads(key, query.size(-3));
    value = repeat_heads(value, query.size(-3));
  }
  Attention attention;
  attention.mask = context.optional_tensor("attn_mask");
  attention.is_causal = context.flag("is_causal");
  attention.scale = context.number("scale", 1.0 / std::sqrt(static_cast<double>(query.size(-1))));
  return scaled_dot_product(query, key, value, attention);
}

/// Returns the mask of PyTorch's fused kernels, in which true hides. `type` 0 is [query, key], 1 is
/// [batch, key], 2 has its full shape.
Value attention_mask(OpContext& context, const char* parameter, std::int64_t type) {
  const Value mask = context.optional_tensor(parameter);
  if (!mask.defined()) return {};
  const Value visible =
      mask.dtype() == DType::kBool ? !mask : mask;  // a float mask is added unchanged
  if (type == 1) return reshape(visible, {mask.size(0), 1, 1, mask.size(1)});
  return visible;
}

/// Converts [batch, length, features] to [batch, heads, length, features / heads].
Value by_head(Value x, std::int64_t heads) {
  return permute(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), {0, 2, 1, 3});
}

Value merge_heads(Value x) {
  const Value lined = permute(x, {0, 2, 1, 3});
  return reshape(lined, {lined.size(0), lined.size(1), lined.size(2) * lined.size(3)});
}

Value self_attention(Value x, std::int64_t heads, std::int64_t features, Value in_weight,
                     Value in_bias, Value out_weight, Value out_bias, Value mask) {
  const Value packed = linear(x, in_weight, in_bias);
  const Dims thirds = {features, features, features};
  const std::vector<Value> parts = split(packed, thirds, 2);
  Attention attention;
  attention.mask = mask;
  attention.scale = 1.0 / std::sqrt(static_cast<double>(features / heads));
  const Value attended = scaled_dot_product(by_head(parts[0], heads), by_head(parts[1], heads),
                                            by_head(parts[2], heads), attention);
  return linear(merge_heads(attended), out_weight, out_bias);
}

Value convert_encoder_layer(OpContext& context) {
  const Value x = context.tensor("src");
  const Shape normalized = {x.size(2)};
  const auto norm = [&](Value value, const char* weight, const char* bias) {
    return layer_norm(value, normalized, context.tensor(weight), context.tensor(bias),
                      context.number("eps"));
  };
  const auto attend = [&](Value value) {
    return self_attention(value, context.integer("num_heads"), context.integer("embed_dim"),
                          context.tensor("qkv_weight"), context.tensor("qkv_bias"),
                          context.tensor("proj_weight"), context.tensor("proj_bias"),
                          attention_mask(context, "mask", context.integer("mask_type", 0)));
  };
  const auto feed_forward = [&](Value value) {
    const Value inner = linear(value, context.tensor("ffn_weight_1"), context.tensor("ffn_bias_1"));
    const Value active = context.flag("use_gelu") ? gelu(inner, "none") : relu(inner);
    return linear(active, context.tensor("ffn_weight_2"), context.tensor("ffn_bias_2"));
  };
  if (context.flag("norm_first")) {
    const Value first = x + attend(norm(x, "norm_weight_1", "norm_bias_1"));
    return first + feed_forward(norm(first, "norm_weight_2", "norm_bias_2"));
  }
  const Value first = norm(x + attend(x), "norm_weight_1", "norm_bias_1");
  return norm(first + feed_forward(first), "norm_weight_2", "norm_bias_2");
}

void convert_multi_head(OpContext& context) {
  const std::int64_t features = context.integer("embed_dim");
  const std::int64_t heads = context.integer("num_head");
  const Value weight = context.tensor("qkv_weight");
  const Value bias = context.tensor("qkv_bias");
  const char* names[] = {"query", "key", "value"};
  Value parts[3];
  for (std::int64_t i = 0; i < 3; ++i) {
    const Value w = slice(weight, 0, i * features, (i + 1) * features);
    const Value b = slice(bias, 0, i * features, (i + 1) * features);
    parts[i] = by_head(linear(context.tensor(names[i]), w, b), heads);
  }
  Attention attention;
  attention.mask = attention_mask(context, "mask", context.integer("mask_type", 0));
  attention.scale = 1.0 / std::sqrt(static_cast<double>(features / heads));
  const Value weights = attention_weights(parts[0], parts[1], attention);
  context.set(0, linear(merge_heads(matmul(weights, parts[2])), context.tensor("proj_weight"),
                        context.tensor("proj_bias")));
  if (context.flag("need_weights")) {
    context.set(1, context.flag("average_attn_weights") ? mean(weights, {1}) : weights);
  }
}

/// Converts the operator of the fused CPU kernel; its second result is only for the backward pass.
void convert_flash(OpContext& context) {
  context.set(0, convert_sdpa(context));
}

}  // namespace

Value attention_weights(Value query, Value key, const Attention& attention) {
  // ONNX Runtime would fuse a scalar next to a product, in single precision; it does not fuse a
  // row.
  Value scale = scalar_like(query, attention.scale);
  if (query.dtype() == DType::kFloat64)
    scale = full(query.builder(), {query.dtype(), {query.size(-1)}}, attention.scale);
  Value scores = matmul(query * scale, transpose(key, -2, -1));
  Value mask = attention.mask;
  if (attention.is_causal) {
    const Value causal = causal_mask(query.builder(), query.size(-2), key.size(-2));
    mask = mask.defined() ? mask && causal : causal;
  }
  bool safe = true;
  if (mask.defined()) {
    safe = leaves_something(mask);
    scores = mask.dtype() == DType::kBool ? where(mask, scores, -INFINITY)
                                          : scores + cast(mask, scores.dtype());
  }
  return safe ? softmax("Softmax", scores, -1) : safe_softmax(scores, -1);
}

Value scaled_dot_product(Value query, Value key, Value value, const Attention& attention) {
  const DType dtype = query.dtype();
  const DType compute = dtype == DType::kBFloat16 ? DType::kFloat32 : dtype;
  const Value weights = attention_weights(cast(query, compute), cast(key, compute), attention);
  return cast(matmul(weights, cast(value, compute)), dtype);
}

void register_attention(ConverterRegistry& registry) {
  registry.add("aten::scaled_dot_product_attention", convert_sdpa);
  registry.add("aten::_scaled_dot_product_flash_attention_for_cpu", convert_flash);
  registry.add("aten::_transformer_encoder_layer_fwd", convert_encoder_layer);
  registry.add("aten::_native_multi_head_attention", convert_multi_head);
}

}  // namespace leapp::onnx_export
