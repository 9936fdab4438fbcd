// Searches for the positions of values.
#include "export/cpp/pointwise.h"
#include "export/cpp/reduce.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// Returns each value's insertion index into a sorted sequence (the last dimension), left or right.
Value counted_before(OpContext& context, const Value& sequence, const Value& values, bool right) {
  Program& program = context.program();
  const Value wide = unsqueezed(values, values.rank());
  Value row = sequence;
  if (sequence.rank() > 1) row = unsqueezed(sequence, sequence.rank() - 1);
  const Value before =
      combine(right ? "!less($1, $0)" : "less($0, $1)", {row, program.cheap(wide)}, DType::kBool);
  const Value count = sum_of(program, cast(before, DType::kInt64), {before.rank() - 1});
  return cast(program.reshaped(count, context.result_shape()), context.result_dtype());
}

Value generate_searchsorted(OpContext& context) {
  context.need(context.is_none("sorter"), "it takes an order");
  const DType dtype = context.promoted({"sorted_sequence", "self"});
  bool right = context.flag("right");
  if (!context.is_none("side")) right = context.text("side") == "right";
  return counted_before(context, context.program().cheap(context.operand("sorted_sequence", dtype)),
                        context.operand("self", dtype), right);
}

Value generate_bucketize(OpContext& context) {
  const DType dtype = context.promoted({"boundaries", "self"});
  return counted_before(context, context.program().cheap(context.operand("boundaries", dtype)),
                        context.operand("self", dtype), context.flag("right"));
}

Value generate_isin(OpContext& context, const char* element, const char* tests) {
  Program& program = context.program();
  const DType dtype = context.promoted({element, tests});
  const Value x = program.cheap(context.operand(element, dtype));
  const Value given = program.cheap(context.operand(tests, dtype));
  const Value among = program.reshaped(given, {given.count()});
  const Value same = combine("equal($0, $1)", {unsqueezed(x, x.rank()), among}, DType::kBool);
  const Reduction any = {DType::kBool,
                         {"bool found = false;"},
                         [](const std::string& text, const std::string&) {
                           return std::vector{"found = found || " + text + ";"};
                         },
                         "found"};
  const Value found =
      program.reshaped(reduced(program, same, {same.rank() - 1}, any), context.result_shape());
  return context.flag("invert") ? combine("!$0", {found}, DType::kBool) : found;
}

}  // namespace

void register_search(GeneratorRegistry& registry) {
  registry.add({"aten::searchsorted.Tensor", "aten::searchsorted.Scalar"}, generate_searchsorted);
  registry.add({"aten::bucketize.Tensor", "aten::bucketize.Scalar"}, generate_bucketize);
  registry.add({"aten::isin.Tensor_Tensor"}, [](OpContext& context) {
    return generate_isin(context, "elements", "test_elements");
  });
  registry.add({"aten::isin.Tensor_Scalar"}, [](OpContext& context) {
    return generate_isin(context, "elements", "test_element");
  });
  registry.add({"aten::isin.Scalar_Tensor"}, [](OpContext& context) {
    return generate_isin(context, "element", "test_elements");
  });
}

}  // namespace leapp::cpp_export
