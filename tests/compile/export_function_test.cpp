// export_function(): from a function to a validated bundle.
#include "../core/runtime/support.h"
#include "../session/tracing.h"
#include "leapp/bundle.h"

namespace leapp {
namespace {

using testing::code_of;
using ::testing::ElementsAre;

class ExportFunctionTest : public testing::Tracing {
 protected:
  static void SetUpTestSuite() { testing::find_libraries(); }

  static ExportOptions quietly() { return {.compile = {.visualize = false}}; }
};

std::vector<at::Tensor> affine(const std::vector<at::Tensor>& in) {
  return {in[0] * 2 + 1};
}

TEST_F(ExportFunctionTest, WritesABundle) {
  int calls = 0;
  const auto count = [&](const std::vector<at::Tensor>& in) {
    ++calls;
    return affine(in);
  };
  const auto yaml =
      export_function(count, {{"x", at::ones({1, 2})}}, folder_ / "affine", quietly());
  EXPECT_EQ(yaml, folder_ / "affine" / "affine.yaml");
  EXPECT_EQ(calls, 3);
  const Bundle bundle = read_bundle(yaml);
  EXPECT_THAT(bundle.pipeline.inputs, ElementsAre(NodePorts{"affine", {"x"}}));
  EXPECT_THAT(bundle.pipeline.outputs, ElementsAre(NodePorts{"affine", {"output1"}}));
  EXPECT_EQ(bundle.models.at(0).backend, "onnx");
}

TEST_F(ExportFunctionTest, CarriesStates) {
  ExportOptions options = quietly();
  options.states = {{"sum", at::zeros({2})}};
  options.output_names = {"total"};
  const auto add = [](const std::vector<at::Tensor>& in) -> std::vector<at::Tensor> {
    const at::Tensor sum = in[0] + in[1];
    return {sum * 2, sum};
  };
  const auto yaml = export_function(add, {{"x", at::ones({2})}}, folder_ / "sum", options);
  const Bundle bundle = read_bundle(yaml);
  EXPECT_THAT(bundle.pipeline.outputs, ElementsAre(NodePorts{"sum", {"total"}}));
  ASSERT_EQ(bundle.pipeline.feedback_flow.size(), 1U);
  EXPECT_THAT(bundle.pipeline.feedback_flow[0].targets, ElementsAre(PortRef{"sum", "sum_in"}));
}

TEST_F(ExportFunctionTest, RefusesWhatCannotBeExported) {
  const NamedTensors x = {{"x", at::ones({2})}};
  const auto refused = [&](const TensorFunction& function, const ExportOptions& options) {
    return code_of([&] { export_function(function, x, folder_ / "g", options); });
  };
  ExportOptions named = quietly();
  named.output_names = {"a", "b"};
  ExportOptions stateful = quietly();
  stateful.states = {{"h", at::zeros({2})}};
  ExportOptions never = quietly();
  never.passes = 0;
  EXPECT_EQ(refused(nullptr, quietly()), Code::kWrongValue);
  EXPECT_EQ(refused(affine, named), Code::kWrongValue);
  EXPECT_EQ(refused(affine, stateful), Code::kWrongValue);
  EXPECT_EQ(refused(affine, never), Code::kWrongValue);
  EXPECT_FALSE(is_active());
  begin();
  EXPECT_EQ(refused(affine, quietly()), Code::kStillTracing);
}

TEST_F(ExportFunctionTest, AFunctionThatThrowsLeavesNoSession) {
  const auto fail = [](const std::vector<at::Tensor>&) -> std::vector<at::Tensor> {
    throw std::out_of_range("of the program");
  };
  EXPECT_THROW(export_function(fail, {{"x", at::ones({2})}}, folder_ / "g"), std::out_of_range);
  EXPECT_FALSE(is_active());
}

}  // namespace
}  // namespace leapp
