// Element-wise operators, as a table.
#include "export/cpp/pointwise.h"

#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// A template with "$0", "$1", .. for the operands' texts.
std::string substituted(const std::string& pattern, const std::vector<std::string>& texts) {
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '$') {
      result += pattern[i];
    } else {
      result += texts.at(static_cast<std::size_t>(pattern[++i] - '0'));
    }
  }
  return result;
}

void add_row(GeneratorRegistry& registry, const Row& row) {
  for (const char* name : row.names) {
    registry.add(std::string(name), [row](OpContext& context) {
      const DType type =
          row.type == RowType::kResult ? context.result_dtype() : context.promoted(row.operands);
      std::vector<Value> operands;
      for (const std::string& parameter : row.operands) {
        operands.push_back(context.operand(parameter, type));
      }
      return apply(context, row.text, std::move(operands), row.kernel);
    });
  }
}

}  // namespace

Value apply(OpContext& context, const std::string& text, std::vector<Value> operands,
            const std::string& kernel) {
  if (!kernel.empty()) context.program().use_kernel(kernel);
  for (Value& operand : operands) {
    // What is broadcast would be computed for every element that it goes to.
    if (operand.count() < element_count(context.result_shape())) {
      operand = context.program().cheap(operand);
    }
  }
  return pointwise(
      context.result_dtype(), context.result_shape(), std::move(operands),
      [text](const std::vector<std::string>& texts) { return substituted(text, texts); });
}

void add_rows(GeneratorRegistry& registry, const std::vector<Row>& rows) {
  for (const Row& row : rows) add_row(registry, row);
}

void register_pointwise(GeneratorRegistry& registry) {
  add_rows(registry, {
    {{"aten::exp"}, {"self"}, "exp($0)", "math.h"},
    {{"aten::tanh"}, {"self"}, "tanh($0)", "math.h"},
    {{"aten::abs"}, {"self"}, "abs($0)", "math.h"},
    {{"aten::sqrt"}, {"self"}, "sqrt($0)", "math.h"},
    {{"aten::mul.Tensor", "aten::mul.Scalar"}, {"self", "other"}, "multiply($0, $1)", ""},
    {{"aten::relu"}, {"self"}, "relu($0)", "activation.h"},
    {{"aten::sigmoid"}, {"self"}, "sigmoid($0)", "activation.h"},
    {{"aten::silu"}, {"self"}, "silu($0)", "activation.h"},
    {{"aten::elu"}, {"self", "alpha", "scale", "input_scale"}, "elu($0, $1, $2, $3)", "activation.h"},
    {{"aten::leaky_relu"}, {"self", "negative_slope"}, "leaky_relu($0, $1)", "activation.h"},
  });
  registry.add({"aten::add.Tensor", "aten::add.Scalar"}, [](OpContext& context) {
    const DType type = context.result_dtype();
    std::vector<Value> operands = {context.operand("self", type), context.operand("other", type)};
    const bool scaled = context.number("alpha", 1) != 1;
    if (scaled) operands.push_back(context.operand("alpha", type));
    return apply(context, scaled ? "add($0, multiply($1, $2))" : "add($0, $1)", operands, "");
  });
}

}  // namespace leapp::cpp_export
