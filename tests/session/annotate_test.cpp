// The public calls outside of a session, and functions that are nodes.
#include "tracing.h"

namespace leapp {
namespace {

using at::Tensor;
using testing::code_of;
using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;

using AnnotateTest = testing::Tracing;

TEST_F(AnnotateTest, OutsideASessionCallsHandBackTheirArguments) {
  const Tensor x = at::ones({2});
  EXPECT_TRUE(annotate::input_tensors("n", {{"x", x}})[0].is_same(x));
  EXPECT_TRUE(annotate::state_tensors("n", {{"x", x}})[0].is_same(x));
  EXPECT_TRUE(annotate::update_state("n", {{"x", x}})[0].is_same(x));
  EXPECT_TRUE(annotate::register_buffer("n", {{"x", x}})[0].is_same(x));
  EXPECT_TRUE(annotate::output_tensors("n", {{"y", x}})[0].is_same(x));
  annotate::module("n", {{"x", x}}, nullptr);
  annotate::mirror_leapp_tags(x, at::zeros({3}));
  annotate::abandon("n");
  EXPECT_FALSE(is_active());
}

Tensors twice(const Tensors& args) {
  return {args[0] * 2, args[1] + 1};
}

TEST_F(AnnotateTest, AMethodIsOnePassPerCall) {
  const auto method = annotate::method("n", twice, {.export_with = "onnx"});
  method({at::ones({2}), at::ones({2})});  // no session: a plain call
  begin();
  for (int i = 0; i < 3; ++i) method({at::ones({2}), at::ones({2})});
  EXPECT_EQ(node().completed, 3);
  EXPECT_EQ(node().export_with, "onnx");
  ASSERT_EQ(node().inputs.size(), 2U);
  EXPECT_EQ(node().inputs[1].name, "arg_1");
  ASSERT_EQ(node().outputs.size(), 2U);
  EXPECT_EQ(node().outputs[1].name, "output2");
}

TEST_F(AnnotateTest, AMethodThatThrowsLeavesNoPass) {
  begin();
  const auto method = annotate::method("n", [](const Tensors&) -> Tensors {
    EXPECT_EQ(code_of([] { stop(); }), Code::kFunctionRunning);
    throw std::runtime_error("not today");
  });
  EXPECT_THROW(method({at::ones({2})}), std::runtime_error);
  EXPECT_FALSE(front_end::any_open());
  EXPECT_FALSE(node().complete());
  stop();
}

TEST_F(AnnotateTest, ErrorsNameTheCallersLine) {
  begin();
  try {
    annotate::output_tensors("n", {{"y", at::ones({1})}});
    FAIL() << "the node is not open";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("annotate_test.cpp:"));
  }
}

}  // namespace
}  // namespace leapp
