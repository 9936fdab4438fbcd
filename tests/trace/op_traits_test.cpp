// Tests of the known properties of operators, line by line.
#include "trace/op_traits.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

using testing::find_op;

const OpTraits& traits(const char* name, const char* overload) {
  return traits_of(find_op(name, overload));
}

TEST(OpTraitsTest, ListsOfTensorsHaveTheTypeThatIsDeclared) {
  const auto index = c10::Dispatcher::singleton().findSchemaOrThrow("aten::index", "Tensor");
  c10::impl::GenericList rows(c10::AnyType::get());
  rows.push_back(c10::IValue());
  rows.push_back(at::ones({2}, at::kLong));
  torch::jit::Stack stack = {at::ones({2, 2}), rows};
  ASSERT_FALSE(stack[1].isOptionalTensorList());
  traits_of(index).type_lists(index, &stack);
  EXPECT_TRUE(stack[1].isOptionalTensorList());
  EXPECT_EQ(stack[1].toListRef().size(), 2U);
}

TEST(OpTraitsTest, MemoryAsTheSchemaDeclaresIt) {
  const struct {
    const char* name;
    const char* overload;
    bool mutates, aliases;
    std::vector<bool> writes, overwrites;
  } table[] = {
      {"aten::relu", "", false, false, {false}, {false}},
      {"aten::relu_", "", true, true, {true}, {false}},
      {"aten::t", "", false, true, {false}, {false}},
      {"aten::copy_", "", true, true, {true, false, false}, {true, false, false}},
      {"aten::mm", "out", true, true, {false, false, true}, {false, false, true}},
  };
  for (const auto& line : table) {
    SCOPED_TRACE(line.name);
    const OpTraits& found = traits(line.name, line.overload);
    EXPECT_EQ(found.mutates, line.mutates);
    EXPECT_EQ(found.aliases, line.aliases);
    EXPECT_EQ(found.writes, line.writes);
    EXPECT_EQ(found.overwrites, line.overwrites);
  }
}

TEST(OpTraitsTest, Kinds) {
  const struct {
    const char* name;
    const char* overload;
    bool returns_tensors, uninitialized, only_metadata;
    Escape escape;
  } table[] = {
      {"aten::relu", "", true, false, false, Escape::kNone},
      {"aten::split", "Tensor", true, false, false, Escape::kNone},
      {"aten::item", "", false, false, false, Escape::kNumber},
      {"aten::equal", "", false, false, false, Escape::kBranch},
      {"aten::is_nonzero", "", false, false, false, Escape::kBranch},
      {"aten::empty", "memory_format", true, true, false, Escape::kNone},
      {"aten::new_empty", "", true, true, false, Escape::kNone},
      {"aten::requires_grad_", "", true, false, true, Escape::kNone},
  };
  for (const auto& line : table) {
    SCOPED_TRACE(line.name);
    const OpTraits& found = traits(line.name, line.overload);
    EXPECT_EQ(found.returns_tensors, line.returns_tensors);
    EXPECT_EQ(found.uninitialized, line.uninitialized);
    EXPECT_EQ(found.only_metadata, line.only_metadata);
    EXPECT_EQ(found.escape, line.escape);
  }
}

TEST(OpTraitsTest, CallsThatDrawRandomNumbers) {
  const at::Tensor x = at::ones({2});
  const struct {
    const char* call;
    const char* name;
    const char* overload;
    torch::jit::Stack stack;
    bool random;
  } table[] = {
      {"relu(x)", "aten::relu", "", {x}, false},
      {"bernoulli(x)", "aten::bernoulli", "", {x, c10::IValue()}, true},
      {"dropout(x, 0.5) in training", "aten::dropout", "", {x, 0.5, true}, true},
      {"dropout(x, 0.5) in evaluation", "aten::dropout", "", {x, 0.5, false}, false},
      {"dropout(x, 0) in training", "aten::dropout", "", {x, 0.0, true}, false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(traits(line.name, line.overload).is_random(line.stack), line.random) << line.call;
  }
}

TEST(OpTraitsTest, CallsWithADataDependentShape) {
  const at::Tensor x = at::ones({2});
  const at::Tensor integers = at::ones({2}, at::kLong);
  const c10::List<std::optional<at::Tensor>> by_mask({at::ones({2}, at::kBool)});
  const c10::List<std::optional<at::Tensor>> by_integers({integers});
  const struct {
    const char* call;
    const char* name;
    const char* overload;
    torch::jit::Stack stack;
    bool dynamic;
  } table[] = {
      {"relu(x)", "aten::relu", "", {x}, false},
      {"nonzero(x)", "aten::nonzero", "", {x}, true},
      {"where(x)", "aten::where", "", {x}, true},
      {"where(x, x, x)", "aten::where", "self", {x, x, x}, false},
      {"x[mask]", "aten::index", "Tensor", {x, by_mask}, true},
      {"x[integers]", "aten::index", "Tensor", {x, by_integers}, false},
      {"one_hot(integers)", "aten::one_hot", "", {integers, -1}, true},
      {"one_hot(integers, 3)", "aten::one_hot", "", {integers, 3}, false},
      {"repeat_interleave(x, integers)",
       "aten::repeat_interleave",
       "self_Tensor",
       {x, integers, c10::IValue(), c10::IValue()},
       true},
      {"repeat_interleave(x, integers, output_size=2)",
       "aten::repeat_interleave",
       "self_Tensor",
       {x, integers, c10::IValue(), 2},
       false},
  };
  for (const auto& line : table) {
    EXPECT_EQ(traits(line.name, line.overload).has_data_dependent_shape(line.stack), line.dynamic)
        << line.call;
  }
}

TEST(OpTraitsTest, OperatorsThatOnlyMoveElements) {
  EXPECT_TRUE(traits("aten::clone", "").only_copies);
  EXPECT_TRUE(traits("aten::to", "dtype").only_copies);
  EXPECT_FALSE(traits("aten::transpose", "int").only_copies);
}

TEST(OpTraitsTest, PackedSequencesCountLengths) {
  EXPECT_TRUE(traits("aten::_pack_padded_sequence", "").counts_lengths);
  EXPECT_TRUE(traits("aten::lstm", "data").counts_lengths);
  EXPECT_FALSE(traits("aten::lstm", "input").counts_lengths);
}

TEST(OpTraitsTest, NormalisationThatUpdatesItsStatistics) {
  const at::Tensor x = at::ones({2});
  const c10::IValue none = at::Tensor();
  const auto batch_norm = [&](const c10::IValue& statistics, bool training) {
    return torch::jit::Stack{x, none, none, statistics, statistics, training, 0.1, 1e-5, false};
  };
  const OpTraits& composite = traits("aten::batch_norm", "");
  EXPECT_EQ(composite.undeclared_write(batch_norm(x, true)), UndeclaredWrite::kInside);
  EXPECT_EQ(composite.undeclared_write(batch_norm(x, false)), UndeclaredWrite::kNone);
  EXPECT_EQ(composite.undeclared_write(batch_norm(none, true)), UndeclaredWrite::kNone);
  torch::jit::Stack native = batch_norm(x, true);
  native.pop_back();
  EXPECT_EQ(traits("aten::native_batch_norm", "").undeclared_write(native),
            UndeclaredWrite::kItself);
  EXPECT_TRUE(traits_of(batch_norm_that_declares_its_write()).mutates);
}

}  // namespace
}  // namespace leapp::trace
