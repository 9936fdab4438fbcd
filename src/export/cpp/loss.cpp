// Losses and distances.
#include <cmath>

#include "export/cpp/pointwise.h"
#include "export/cpp/reduce.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

using Ints = std::vector<std::int64_t>;

Ints all_dims(const Value& x) {
  Ints dims;
  for (std::int64_t i = 0; i < x.rank(); ++i) dims.push_back(i);
  return dims;
}

// By the operator's `reduction`: 0 keeps elements, 1 computes their mean, 2 their sum.
Value by_reduction(OpContext& context, const Value& loss) {
  Program& program = context.program();
  const std::int64_t how = context.integer("reduction");
  if (how == 0) return loss;
  const Value one =
      how == 1 ? mean_of(program, loss, all_dims(loss)) : sum_of(program, loss, all_dims(loss));
  return program.reshaped(one, context.result_shape());
}

// A loss by the template of one element, over "self" ($0), "target" ($1) and numbers.
Value element_loss(OpContext& context, const std::string& text,
                   const std::vector<double>& numbers) {
  const DType dtype = context.result_dtype();
  Program& program = context.program();
  program.use_kernel("activation.h");
  std::vector<Value> operands = {program.cheap(context.operand("self", dtype)),
                                 program.cheap(context.operand("target", dtype))};
  for (const double number : numbers) operands.push_back(filled(number, dtype));
  return combine(text, std::move(operands), dtype);
}

Value weighted(OpContext& context, const Value& loss, const char* parameter) {
  if (context.is_none(parameter)) return loss;
  return combine("($0 * $1)", {loss, context.tensor(parameter)}, loss.dtype);
}

Value generate_cross_entropy(OpContext& context) {
  const char* text = "(($1 - $2) * maximum(log1p(-$0), $3) - $1 * maximum(log($0), $3))";
  return by_reduction(context, weighted(context, element_loss(context, text, {1, -100}), "weight"));
}

Value generate_cross_entropy_of_logits(OpContext& context) {
  // With a weight p for positive targets: (1 - y) x + (1 + (p - 1) y) log(1 + exp(-x)).
  Value loss = element_loss(context, "(($2 - $1) * $0 - log_sigmoid($0))", {1});
  if (!context.is_none("pos_weight")) {
    const DType dtype = context.result_dtype();
    Program& program = context.program();
    loss = combine("(($3 - $1) * $0 - ($3 + ($2 - $3) * $1) * log_sigmoid($0))",
                   {program.cheap(context.operand("self", dtype)),
                    program.cheap(context.operand("target", dtype)), context.tensor("pos_weight"),
                    filled(1.0, dtype)},
                   dtype);
  }
  return by_reduction(context, weighted(context, loss, "weight"));
}

// Computes sum |a - b|^p to the power of 1/p along the last dimension, with special cases for p
// that are cheaper.
Value distance(Program& program, const Value& difference, double p) {
  const DType dtype = difference.dtype;
  const Ints dims = {difference.rank() - 1};
  program.use_kernel("math.h");
  const Value size = program.stored(combine("abs($0)", {difference}, dtype));
  if (p == 0) return sum_of(program, cast(cast(size, DType::kBool), dtype), dims);
  if (std::isinf(p)) {
    return reduced_count(size.shape, dims) == 0 ? sum_of(program, size, dims)
                                                : max_of(program, size, dims);
  }
  if (p == 1) return sum_of(program, size, dims);
  if (p == 2) {
    return combine("sqrt($0)", {sum_of(program, combine("($0 * $0)", {size}, dtype), dims)}, dtype);
  }
  const Value powers = combine("power($0, $1)", {size, filled(p, dtype)}, dtype);
  return combine("power($0, $1)", {sum_of(program, powers, dims), filled(1 / p, dtype)}, dtype);
}

Value pairwise(OpContext& context, double p) {
  Program& program = context.program();
  const Value a = program.cheap(context.tensor("x1"));
  const Value b = program.cheap(context.tensor("x2"));
  const Value difference =
      combine("($0 - $1)", {unsqueezed(a, a.rank() - 1), unsqueezed(b, b.rank() - 2)}, a.dtype);
  return program.reshaped(distance(program, difference, p), context.result_shape());
}

Value generate_dist(OpContext& context) {
  Program& program = context.program();
  const DType dtype = context.result_dtype();
  const Value difference = program.stored(combine("($0 - $1)",
                                                  {program.cheap(context.operand("self", dtype)),
                                                   program.cheap(context.operand("other", dtype))},
                                                  dtype));
  const Value flat = program.reshaped(difference, {difference.count()});
  return program.reshaped(distance(program, flat, context.number("p")), context.result_shape());
}

}  // namespace

void register_loss(GeneratorRegistry& registry) {
  const auto add = [&](const char* name, const std::string& text, const char* parameter) {
    registry.add(std::string("aten::") + name, [text, parameter](OpContext& context) {
      std::vector<double> numbers;
      if (parameter != nullptr) numbers.push_back(context.number(parameter));
      return by_reduction(context, element_loss(context, text, numbers));
    });
  };
  add("mse_loss", "(($0 - $1) * ($0 - $1))", nullptr);
  add("l1_loss", "abs($0 - $1)", nullptr);
  add("soft_margin_loss", "log1p(exp(-$0 * $1))", nullptr);
  add("huber_loss", "huber_loss($0 - $1, $2)", "delta");
  add("smooth_l1_loss", "smooth_l1_loss($0 - $1, $2)", "beta");
  registry.add({"aten::binary_cross_entropy"}, generate_cross_entropy);
  registry.add({"aten::binary_cross_entropy_with_logits"}, generate_cross_entropy_of_logits);
  registry.add({"aten::_cdist_forward"},
               [](OpContext& context) { return pairwise(context, context.number("p")); });
  registry.add({"aten::_euclidean_dist"}, [](OpContext& context) { return pairwise(context, 2); });
  registry.add({"aten::dist"}, generate_dist);
}

}  // namespace leapp::cpp_export
