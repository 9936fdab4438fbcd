// The annotations as a C++ program calls them: what they give back, refuse and write.
#include <ATen/ATen.h>

#include <thread>

#include "session/front_end.h"
#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;

class SessionTest : public testing::Workbench {
 protected:
  // One node that doubles its input, closed.
  static void trace_double(const std::string& backend = "jit") {
    const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
    annotate::output_tensors("n", {{"y", x * 2}}, {.export_with = backend});
  }
};

TEST_F(SessionTest, OutsideASessionCallsHandBackTheirArguments) {
  const Tensor x = at::ones({2});
  EXPECT_TRUE(annotate::input_tensors("n", {{"x", x}})[0].is_same(x));
  EXPECT_TRUE(annotate::output_tensors("n", {{"y", x}})[0].is_same(x));
  EXPECT_FALSE(is_active());
  EXPECT_FALSE(front_end::is_traced(x));
}

TEST_F(SessionTest, EagerValuesAreBitIdenticalWhileTracing) {
  at::manual_seed(0);
  const Tensor x = at::randn({3, 3});
  const auto work = [](const Tensor& t) {
    return (t.matmul(t.t()).softmax(-1) + t.sin()).cumsum(0);
  };
  begin();
  const Tensor y = work(annotate::input_tensors("n", {{"x", x}})[0]);
  annotate::output_tensors("n", {{"y", y}}, {.export_with = "jit"});
  stop();
  EXPECT_TRUE(at::equal(y, work(x)));
}

TEST_F(SessionTest, AMethodIsOnePassPerCall) {
  begin();
  const auto twice = annotate::method(
      "n", [](const std::vector<Tensor>& args) { return std::vector<Tensor>{args[0] * 2}; },
      {.export_with = "onnx"});
  for (int i = 0; i < 3; ++i) twice({at::full({2}, static_cast<float>(i + 1))});
  stop();
  const auto outcomes = compile_graph({.visualize = false});
  ASSERT_EQ(outcomes.size(), 1U);
  EXPECT_TRUE(outcomes[0].passed);
  InferenceManager robot = manager();
  EXPECT_EQ(robot.inputs(), std::vector<std::string>{"n/arg_0"});
  EXPECT_EQ(robot.outputs(), std::vector<std::string>{"n/output1"});
}

TEST_F(SessionTest, StaticOutputsAreConstants) {
  begin();
  const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
  annotate::output_tensors(
      "n", {{"y", x + 1}},
      {.static_outputs = {{"gains", at::full({3}, 4.0F)}}, .export_with = "jit"});
  stop();
  compile_graph({.visualize = false});
  InferenceManager robot = manager();
  const TensorMap out = robot.run_policy({{"n/x", leapp::Tensor({2}, {1.0F, 1.0F})}});
  EXPECT_TRUE(at::equal(testing::to_torch(out.at("n/gains")), at::full({3}, 4.0F)));
}

TEST_F(SessionTest, ADryRunWritesTheStructureOnly) {
  start({.name = "g", .save_path = folder_.string(), .dry_run = true});
  trace_double();
  stop();
  compile_graph({.visualize = false});
  EXPECT_TRUE(std::filesystem::exists(file("g.yaml")));
  EXPECT_FALSE(std::filesystem::exists(file("n.pt")));
}

TEST_F(SessionTest, NodesThatAreNotTracedHaveNoModel) {
  start({.name = "g", .save_path = folder_.string(), .non_traced = {"n"}});
  trace_double();
  stop();
  compile_graph({.visualize = false});
  EXPECT_FALSE(std::filesystem::exists(file("n.pt")));
  EXPECT_EQ(manager().inputs(), std::vector<std::string>{"n/x"});
}

TEST_F(SessionTest, AFailedExportLeavesWhatWasThere) {
  begin();
  trace_double();
  stop();
  compile_graph({.visualize = false});
  const std::string before = text_of("g.yaml");
  begin();
  const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
  annotate::output_tensors("n", {{"y", at::complex(x, x)}}, {.export_with = "onnx"});
  stop();
  EXPECT_THAT(message_of([] { compile_graph({.visualize = false}); }), HasSubstr("complex"));
  EXPECT_EQ(text_of("g.yaml"), before);
}

TEST_F(SessionTest, ErrorsNameTheCallersLine) {
  begin();
  EXPECT_THAT(message_of([] {
                annotate::output_tensors("n", {{"y", at::ones({1})}});
              }),
              AllOf(HasSubstr("session_test.cpp:"), HasSubstr("input_tensors() was never called")));
  const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
  EXPECT_THAT(message_of([&] {
                annotate::output_tensors("n", {{"y", at::ones({1})}});
              }),
              HasSubstr("non-traced tensors: 'y'"));
  EXPECT_THAT(message_of([&] {
                annotate::output_tensors("n", {{"y", x}, {"y", x}});
              }),
              HasSubstr("Duplicate i/o name 'y'"));
  EXPECT_THAT(message_of([] { start({.name = ""}); }), HasSubstr("needs a name"));
}

TEST_F(SessionTest, TwoOpenNodesMustNotMix) {
  begin();
  const Tensor a = annotate::input_tensors("a", {{"x", at::ones({2})}})[0];
  const Tensor b = annotate::input_tensors("b", {{"x", at::ones({2})}})[0];
  EXPECT_ANY_THROW({
    const Tensor sum = a + b;
    static_cast<void>(sum);
  });
  annotate::abandon("a");
  annotate::abandon("b");
}

TEST_F(SessionTest, ANodeBelongsToOneThread) {
  begin();
  annotate::input_tensors("n", {{"x", at::ones({2})}});
  std::string text;
  std::thread([&] {
    text = message_of([] { annotate::output_tensors("n", {{"y", at::ones({2})}}); });
  }).join();
  EXPECT_THAT(text, HasSubstr("opened by another thread"));
  annotate::abandon("n");
}

TEST_F(SessionTest, ReentryWithAnotherShapeShowsBothSides) {
  begin();
  trace_double();
  EXPECT_THAT(message_of([] {
                annotate::input_tensors("n", {{"x", at::ones({3})}});
              }),
              AllOf(HasSubstr("[2]"), HasSubstr("[3]")));
}

TEST_F(SessionTest, AConstantThatChangesAfterStopIsRefused) {
  Tensor weight = at::ones({2});
  begin();
  const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
  annotate::output_tensors("n", {{"y", x * weight}}, {.export_with = "jit"});
  stop();
  weight.add_(1);
  EXPECT_THAT(message_of([] { compile_graph({.visualize = false}); }),
              HasSubstr("changed after it was traced"));
}

TEST_F(SessionTest, ValuesThatLeaveTheGraphAreWarnedOfInTheLog) {
  begin();
  const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
  const double first = x[0].item<double>();
  annotate::output_tensors("n", {{"y", x * first}}, {.export_with = "jit"});
  stop();
  EXPECT_THAT(text_of("log.txt"), HasSubstr("exported as a constant"));
}

}  // namespace
}  // namespace leapp
