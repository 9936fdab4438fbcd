// The annotations of a C++ program: the bundle is written and runs.
#include <ATen/ATen.h>

#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::HasSubstr;
using testing::message_of;

class SessionTest : public testing::Workbench {
 protected:
  // Runs one pass of a node that doubles its input.
  static void trace_double(const std::string& backend = "jit") {
    const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
    annotate::output_tensors("n", {{"y", x * 2}}, {.export_with = backend});
  }
};

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

TEST_F(SessionTest, AConstantThatChangesAfterStopIsRefused) {
  Tensor weight = at::ones({2});
  begin();
  const Tensor x = annotate::input_tensors("n", {{"x", at::ones({2})}})[0];
  annotate::output_tensors("n", {{"y", x * weight}}, {.export_with = "jit"});
  stop();
  weight.add_(1);
  EXPECT_THAT(message_of([] { compile_graph({.visualize = false}); }),
              HasSubstr("changed after the trace"));
}

}  // namespace
}  // namespace leapp
