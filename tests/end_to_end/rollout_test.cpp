// The traced values, compared with those that the wires carry.

#include "workbench.h"

namespace leapp {
namespace {

using at::Tensor;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class RolloutTest : public testing::Workbench {
 protected:
  std::string log_of(const std::function<void()>& program, bool validate = true) {
    const at::NoGradGuard no_grad;
    begin();
    program();
    stop();
    compile_graph({.visualize = false, .validate = validate});
    return text_of("log.txt");
  }
};

// A node that doubles its input, and writes its result without an operator.
void pass_on(bool write) {
  const Tensor x = annotate::input_tensors("pi", {{"x", at::ones({3})}})[0];
  const Tensor y = annotate::output_tensors("pi", {{"y", x * 2}}, {.export_with = "onnx"})[0];
  if (write) y.mutable_data_ptr<float>()[1] += 0.5f;
  const Tensor z = annotate::input_tensors("pd", {{"y", y}})[0];
  annotate::output_tensors("pd", {{"tau", z * 3}}, {.export_with = "onnx"});
}

TEST_F(RolloutTest, AWriteThatNobodySawIsNamed) {
  const auto program = [] {
    pass_on(false);
    pass_on(true);
  };
  EXPECT_THAT(
      log_of(program),
      HasSubstr(
          ": the pipeline will not repeat the trace: in pass 2 of node "
          "'pd' its input 'y' was not the value that pi/y had returned, which the wire carries "
          "(largest difference 0.5)"));
  EXPECT_THAT(log_of(program, false), Not(HasSubstr("will not repeat")));
  EXPECT_THAT(log_of([] { pass_on(false); }), Not(HasSubstr("will not repeat")));
}

// A declared state that the program computes from the result of the previous pass.
std::function<void()> with_state(const std::function<Tensor(const Tensor&, int)>& between) {
  return [=] {
    Tensor h = at::full({3}, 0.5);
    for (int pass = 0; pass < 4; ++pass) {
      const Tensor x = annotate::input_tensors("pi", {{"x", at::randn({3})}})[0];
      const Tensor now = annotate::state_tensors("pi", {{"h", h}})[0];
      h = (now + x).tanh();
      annotate::update_state("pi", {{"h", h}});
      annotate::output_tensors("pi", {{"y", h * 2}}, {.export_with = "jit"});
      h = between(h, pass);
    }
  };
}

TEST_F(RolloutTest, AStateThatTheProgramChangesBetweenPassesIsNamed) {
  EXPECT_THAT(log_of(with_state([](const Tensor& h, int pass) { return pass == 1 ? h * 0.5 : h; })),
              AllOf(HasSubstr("in pass 3 of node 'pi' its state 'h' was not the value that pi/h "
                              "had returned in the pass before"),
                    HasSubstr("InferenceManager.set_input_value()")));
}

TEST_F(RolloutTest, AStateThatBeginsAnewIsNot) {
  EXPECT_THAT(log_of(with_state(
                  [](const Tensor& h, int pass) { return pass == 1 ? at::full({3}, 0.5) : h; })),
              Not(HasSubstr("will not repeat")));
}

TEST_F(RolloutTest, MemoryThatNodesShareAtDifferentRatesHoldsItsValue) {
  EXPECT_THAT(log_of([] {
                const Tensor shared = at::zeros({3});
                for (int tick = 0; tick < 6; ++tick) {
                  if (tick % 2 == 0) {
                    const Tensor x = annotate::input_tensors("slow", {{"x", at::randn({3})}})[0];
                    shared.mul_(0.5).add_(x);
                    annotate::output_tensors("slow", {{"y", x * 2}}, {.export_with = "jit"});
                  }
                  const Tensor x = annotate::input_tensors("fast", {{"x", at::randn({3})}})[0];
                  annotate::output_tensors("fast", {{"y", x + shared}}, {.export_with = "jit"});
                }
              }),
              Not(HasSubstr("will not repeat")));
}

TEST_F(RolloutTest, NotANumberIsEqualToItself) {
  EXPECT_THAT(log_of([] {
                for (int pass = 0; pass < 2; ++pass) {
                  const Tensor x = annotate::input_tensors("pi", {{"x", at::zeros({3})}})[0];
                  const Tensor y =
                      annotate::output_tensors("pi", {{"y", x / 0}}, {.export_with = "jit"})[0];
                  const Tensor z = annotate::input_tensors("pd", {{"y", y}})[0];
                  annotate::output_tensors("pd", {{"z", z.isnan()}}, {.export_with = "jit"});
                }
              }),
              Not(HasSubstr("will not repeat")));
}

}  // namespace
}  // namespace leapp
