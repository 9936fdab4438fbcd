#include "trace/functional.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "tape_writer.h"

namespace leapp::trace {
namespace {

using at::functionalization::impl::isFunctionalTensor;

TEST(FunctionalTest, WrappingAndBack) {
  const at::Tensor plain = at::ones({2});
  const at::Tensor wrapped = wrap(plain);
  EXPECT_TRUE(isFunctionalTensor(wrapped));
  EXPECT_TRUE(wrap(wrapped).is_same(wrapped)) << "once is enough";
  EXPECT_FALSE(isFunctionalTensor(unwrap(wrapped)));
  EXPECT_TRUE(at::equal(unwrap(wrapped), plain));
  EXPECT_TRUE(unwrap(plain).is_same(plain));
}

TEST(FunctionalTest, AWriteIsDoneInTheValueAndNotInItsMemory) {
  const at::Tensor plain = at::ones({2, 2});
  at::Tensor wrapped = wrap(plain);
  {
    const Functionalising guard;
    wrapped.select(0, 0).fill_(5);
  }
  EXPECT_TRUE(at::equal(plain, at::ones({2, 2})));
  const at::Tensor value = unwrap(wrapped);
  EXPECT_TRUE(at::equal(value[0], at::full({2}, 5.0)));
  EXPECT_TRUE(at::equal(value[1], at::ones({2})));
}

TEST(FunctionalTest, OperatorsAreFunctionalisedWhileTheGuardLives) {
  const auto functionalises = [] {
    return c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::Functionalize);
  };
  EXPECT_FALSE(functionalises());
  {
    const Functionalising guard;
    EXPECT_TRUE(functionalises());
  }
  EXPECT_FALSE(functionalises());
}

TEST(FunctionalTest, EveryTensorInAValueIsChanged) {
  const auto negated = [](const at::Tensor& tensor) { return at::neg(tensor); };
  const at::Tensor one = at::ones({2});
  const at::Tensor minus = at::neg(one);
  EXPECT_TRUE(at::equal(map_tensors(one, negated).toTensor(), minus));
  EXPECT_FALSE(map_tensors(at::Tensor(), negated).toTensor().defined());
  EXPECT_EQ(map_tensors(3, negated).toInt(), 3);
  EXPECT_TRUE(map_tensors(c10::IValue(), negated).isNone());

  const std::vector<at::Tensor> list =
      map_tensors(std::vector<at::Tensor>{one, one}, negated).toTensorVector();
  ASSERT_EQ(list.size(), 2);
  for (const at::Tensor& item : list) EXPECT_TRUE(at::equal(item, minus));

  const c10::List<std::optional<at::Tensor>> gaps({std::nullopt, one});
  const c10::IValue changed = map_tensors(gaps, negated);
  ASSERT_TRUE(changed.isOptionalTensorList());
  EXPECT_TRUE(changed.toListRef()[0].isNone());
  EXPECT_TRUE(at::equal(changed.toListRef()[1].toTensor(), minus));
}

TEST(FunctionalTest, ViewsThatNoSchemaDeclares) {
  const struct {
    const char* name;
    const char* overload;
    const char* declared;  // "": none
  } table[] = {
      {"aten::unsafe_chunk", "", "aten::chunk"},
      {"aten::unsafe_split", "Tensor", "aten::split"},
      {"aten::unsafe_split_with_sizes", "", "aten::split_with_sizes"},
      {"aten::_unsafe_view", "", "aten::view"},
      {"aten::view", "", ""},
      {"aten::mul", "Tensor", ""},
  };
  for (const auto& line : table) {
    const auto found = declared_view(testing::find_op(line.name, line.overload));
    EXPECT_EQ(found ? found->schema().name() : "", line.declared) << line.name;
  }
}

}  // namespace
}  // namespace leapp::trace
