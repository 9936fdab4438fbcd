#include "rehearse/counter_examples.h"

#include "../core/runtime/support.h"
#include "../session/test_backend.h"
#include "../session/tracing.h"
#include "compile/compiler.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::HasSubstr;

// Exports whose file a front end wrote: it may compute something else than the graph.
class CounterExamplesTest : public testing::Tracing {
 protected:
  static void SetUpTestSuite() { testing::find_libraries(); }

  // Traces y = compute(x) on rows of `value`, with a model that computes 2 x + 1.
  std::vector<NodeOutcome> export_affine(const std::function<Tensor(const Tensor&)>& compute,
                                         float value, session::FrontEnd* front_end = nullptr,
                                         std::vector<std::string> rerun = {}) {
    begin(front_end);
    annotate::output_tensors("n", {{"y", compute(in("n", at::full({1, 4}, value)))}},
                             {.export_with = "onnx-dynamo"});
    stop();
    testing::TestBackend backend;
    backend.writes = [](const session::ExternalExport& node) {
      std::filesystem::copy_file(testing::model_file("affine.onnx"), node.file);
    };
    return compile::compile_graph({.visualize = false, .strict = false, .rerun = std::move(rerun)},
                                  &backend)
        .outcomes;
  }
  static std::size_t count(Code code) {
    const std::vector<Diagnostic> said = diagnostics();
    return static_cast<std::size_t>(std::count_if(
        said.begin(), said.end(), [&](const Diagnostic& each) { return each.code == code; }));
  }
};

TEST_F(CounterExamplesTest, AModelThatIsRightEverywherePasses) {
  EXPECT_TRUE(export_affine([](const Tensor& x) { return x * 2 + 1; }, 1)[0].passed);
}

TEST_F(CounterExamplesTest, AModelThatIsRightNearTheTraceFails) {
  const auto outcomes = export_affine([](const Tensor& x) { return x.abs() * 2 + 1; }, 1);
  EXPECT_FALSE(outcomes[0].passed);
  EXPECT_THAT(outcomes[0].difference, HasSubstr("'y' differs on inputs that were never traced"));
}

TEST_F(CounterExamplesTest, AFunctionThatChoseByItsInputsIsNamed) {
  struct Program : session::FrontEnd {
    std::map<std::string, Tensor> rerun(const std::string& node,
                                        const std::map<std::string, Tensor>& inputs) override {
      EXPECT_EQ(node, "n");
      ++calls;
      const Tensor x = inputs.at("x");
      return {{"y", x.sum().item<float>() > 0 ? x * 2 + 1 : x}};
    }
    int calls = 0;
  };
  Program program;
  export_affine([](const Tensor& x) { return x * 2 + 1; }, 1, &program);
  EXPECT_EQ(program.calls, 0) << "the user did not name it";
  const auto outcomes =
      export_affine([](const Tensor& x) { return x * 2 + 1; }, 1, &program, {"n"});
  EXPECT_TRUE(outcomes[0].passed) << "it is the program that differs, not the model";
  EXPECT_GT(program.calls, 0);
  EXPECT_EQ(count(Code::kBakedIn), 1u);
}

TEST_F(CounterExamplesTest, AFunctionThatCannotBeCalledIsLeftAlone) {
  session::FrontEnd program;
  export_affine([](const Tensor& x) { return x * 2 + 1; }, 1, &program, {"n"});
  EXPECT_EQ(count(Code::kBakedIn), 0u);
}

}  // namespace
}  // namespace leapp
