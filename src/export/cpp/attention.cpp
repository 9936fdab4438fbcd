// Attention.
#include <cmath>
#include <limits>

#include "export/cpp/matmul.h"
#include "export/cpp/pointwise.h"
#include "export/cpp/reduce.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

using Ints = std::vector<std::int64_t>;

// Adds the mask to the scores; a bool mask counts as zero and minus infinity.
Value with_mask(const Value& scores, const Value& mask) {
  const DType dtype = scores.dtype;
  if (mask.dtype != DType::kBool) {
    return combine("($0 + $1)", {scores, cast(mask, dtype)}, dtype);
  }
  return combine("($0 ? $1 : $2)",
                 {mask, scores, filled(-std::numeric_limits<double>::infinity(), dtype)}, dtype);
}

Value only_before(const Value& scores) {
  return guarded(
      scores, scores.shape, [](const Indices& index) { return index; },
      [](const Indices& index) {
        return index.back().text() + " <= " + index[index.size() - 2].text();
      },
      filled(-std::numeric_limits<double>::infinity(), scores.dtype));
}

// If every score is minus infinity, all weights are zero.
Value attention_weights(Program& program, const Value& scores) {
  const DType dtype = scores.dtype;
  const std::int64_t last = scores.rank() - 1;
  program.use_kernel("math.h");
  const Value high = max_of(program, scores, {last});
  const Value powers = program.stored(combine(
      "(equal($1, $2) ? $3 : exp($0 - $1))",
      {scores, high, filled(-std::numeric_limits<double>::infinity(), dtype), filled(0.0, dtype)},
      dtype));
  const Value sum = sum_of(program, powers, {last});
  return combine("(equal($1, $2) ? $2 : $0 / $1)", {powers, sum, filled(0.0, dtype)}, dtype);
}

// Several heads of the query may share heads of keys and values.
Value shared_heads(Program& program, const Value& x, std::int64_t heads) {
  const std::size_t dim = x.shape.size() - 3;
  const std::int64_t own = x.shape[dim];
  if (own == heads) return x;
  Shape shape = x.shape;
  shape[dim] = heads;
  return view(program.cheap(x), shape, [dim, each = heads / own](Indices index) {
    if (!index[dim].is_number()) {
      index[dim] = Index::of("(" + index[dim].atom() + " / " + std::to_string(each) + ")");
    }
    return index;
  });
}

// The mask of PyTorch's fused layers, in which true hides: kind 0 is [query, key], kind 1 is
// [batch, key], kind 2 has its full shape.
Value hidden_by(OpContext& context, const Value& scores) {
  if (context.is_none("mask")) return scores;
  Value mask = context.tensor("mask");
  if (context.integer("mask_type", 0) == 1) {
    mask = context.program().reshaped(mask, {mask.shape[0], 1, 1, mask.shape[1]});
  }
  if (mask.dtype == DType::kBool) mask = combine("!$0", {mask}, DType::kBool);
  return with_mask(scores, mask);
}

// [batch, length, features] to [batch, heads, length, features / heads].
Value by_head(Program& program, const Value& x, std::int64_t heads) {
  const Shape shape = {x.shape[0], x.shape[1], heads, x.shape[2] / heads};
  return permuted(program.reshaped(x, shape), {0, 2, 1, 3});
}

Value merged_heads(Program& program, const Value& x) {
  const Value lined = permuted(x, {0, 2, 1, 3});
  return program.reshaped(lined, {lined.shape[0], lined.shape[1], lined.shape[2] * lined.shape[3]});
}

// The weights of multi-head attention, [batch, heads, query, key].
Value head_weights(OpContext& context, const Value& q, const Value& k) {
  Program& program = context.program();
  const double scale = 1 / std::sqrt(static_cast<double>(q.shape.back()));
  const Value raw = product(program, q, transposed(k, 2, 3));
  const Value scores = combine("($0 * $1)", {raw, filled(scale, q.dtype)}, q.dtype);
  return attention_weights(program, program.stored(hidden_by(context, scores)));
}

void generate_multi_head(OpContext& context) {
  Program& program = context.program();
  const std::int64_t features = context.integer("embed_dim");
  const std::int64_t heads = context.integer("num_head");
  std::vector<Value> parts;
  for (const char* name : {"query", "key", "value"}) {
    const Rows rows = {static_cast<std::int64_t>(parts.size()) * features, features};
    const Value part = linear(context, context.tensor(name), "qkv_weight", "qkv_bias", rows);
    parts.push_back(by_head(program, part, heads));
  }
  const Value weights = program.stored(head_weights(context, parts[0], parts[1]));
  const Value attended = product(program, weights, parts[2]);
  context.set(0, linear(context, merged_heads(program, attended), "proj_weight", "proj_bias"));
  if (!context.is_used(1)) return;
  const bool average = context.flag("average_attn_weights");
  context.set(1, program.reshaped(average ? mean_of(program, weights, {1}) : weights,
                                  context.result_shape(1)));
}

Value layer_norm(OpContext& context, const Value& given, const char* weight, const char* bias) {
  Program& program = context.program();
  const Value x = program.cheap(given);
  const Ints dims = {x.rank() - 1};
  const Value mean = mean_of(program, x, dims);
  const Value spread =
      mean_of(program, combine("(($0 - $1) * ($0 - $1))", {x, mean}, x.dtype), dims);
  const Value rstd = program.stored(
      combine("rsqrt($0 + $1)", {spread, filled(context.number("eps"), x.dtype)}, x.dtype));
  return program.stored(combine("(($0 - $1) * $2 * $3 + $4)",
                                {x, mean, rstd, context.tensor(weight), context.tensor(bias)},
                                x.dtype));
}

Value feed_forward(OpContext& context, const Value& x) {
  context.program().use_kernel("activation.h");
  const Value inner = linear(context, x, "ffn_weight_1", "ffn_bias_1");
  const Value active =
      combine(context.flag("use_gelu") ? "gelu($0)" : "relu($0)", {inner}, inner.dtype);
  return linear(context, active, "ffn_weight_2", "ffn_bias_2");
}

Value self_attention(OpContext& context, const Value& x) {
  Program& program = context.program();
  const std::int64_t features = context.integer("embed_dim");
  const std::int64_t heads = context.integer("num_heads");
  const Value packed = program.stored(linear(context, x, "qkv_weight", "qkv_bias"));
  const auto part = [&](std::int64_t i) {
    return by_head(program, program.stored(sliced(packed, 2, i * features, features)), heads);
  };
  const Value weights = head_weights(context, part(0), part(1));
  const Value attended = product(program, weights, part(2));
  return linear(context, merged_heads(program, attended), "proj_weight", "proj_bias");
}

Value generate_encoder_layer(OpContext& context) {
  Program& program = context.program();
  program.use_kernel("math.h");
  const Value x = program.cheap(context.tensor("src"));
  const auto sum = [&](const Value& a, const Value& b) {
    return program.stored(combine("($0 + $1)", {a, b}, a.dtype));
  };
  const auto norm = [&](const Value& value, bool first) {
    return first ? layer_norm(context, value, "norm_weight_1", "norm_bias_1")
                 : layer_norm(context, value, "norm_weight_2", "norm_bias_2");
  };
  if (context.flag("norm_first")) {
    const Value first = sum(x, self_attention(context, norm(x, true)));
    return sum(first, feed_forward(context, norm(first, false)));
  }
  const Value first = norm(sum(x, self_attention(context, x)), true);
  return norm(sum(first, feed_forward(context, first)), false);
}

Value generate_attention(OpContext& context) {
  Program& program = context.program();
  const Value q = context.tensor("query");
  Value k = context.tensor("key");
  Value v = context.tensor("value");
  context.need(context.number("dropout_p", 0) == 0, "it applies dropout, which is random");
  if (context.flag("enable_gqa")) {
    const std::int64_t heads = q.shape[q.shape.size() - 3];
    k = shared_heads(program, k, heads);
    v = shared_heads(program, v, heads);
  }
  const double scale = context.number("scale", 1 / std::sqrt(static_cast<double>(q.shape.back())));
  const Value raw = product(program, q, transposed(k, k.rank() - 2, k.rank() - 1));
  Value scores = combine("($0 * $1)", {raw, filled(scale, q.dtype)}, q.dtype);
  if (!context.is_none("attn_mask")) scores = with_mask(scores, context.tensor("attn_mask"));
  if (context.flag("is_causal")) scores = only_before(scores);
  scores = program.stored(scores);
  return product(program, attention_weights(program, scores), v);
}

}  // namespace

void register_attention(GeneratorRegistry& registry) {
  registry.add({"aten::scaled_dot_product_attention"}, generate_attention);
  registry.add({"aten::_scaled_dot_product_flash_attention_for_cpu"},
               [](OpContext& context) { context.set(0, generate_attention(context)); });
  registry.add({"aten::_native_multi_head_attention"}, generate_multi_head);
  registry.add({"aten::_transformer_encoder_layer_fwd"}, generate_encoder_layer);
}

}  // namespace leapp::cpp_export
