// Attention.
#include <cmath>
#include <limits>

#include "export/cpp/matmul.h"
#include "export/cpp/pointwise.h"
#include "export/cpp/reduce.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// What is added to the scores: a mask of numbers, or zero and minus infinity for one of bool.
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

// Where every score is minus infinity, nothing is attended to.
Value attention_weights(Program& program, const Value& scores) {
  const DType dtype = scores.dtype;
  const std::int64_t last = scores.rank() - 1;
  program.use_kernel("math.h");
  const Value high = max_of(program, scores, {last});
  const Value powers = program.stored(
      combine("(equal($1, $2) ? $3 : exp($0 - $1))",
              {scores, high, filled(-std::numeric_limits<double>::infinity(), dtype),
               filled(0.0, dtype)},
              dtype));
  const Value sum = sum_of(program, powers, {last});
  return combine("(equal($1, $2) ? $2 : $0 / $1)", {powers, sum, filled(0.0, dtype)}, dtype);
}

// Heads of keys and values may be shared by several of the query.
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

Value generate_attention(OpContext& context) {
  Program& program = context.program();
  const Value q = context.tensor("query");
  Value k = context.tensor("key");
  Value v = context.tensor("value");
  context.need(context.number("dropout_p", 0) == 0, "it drops out at random");
  if (context.flag("enable_gqa")) {
    const std::int64_t heads = q.shape[q.shape.size() - 3];
    k = shared_heads(program, k, heads);
    v = shared_heads(program, v, heads);
  }
  const double scale =
      context.number("scale", 1 / std::sqrt(static_cast<double>(q.shape.back())));
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
}

}  // namespace leapp::cpp_export
