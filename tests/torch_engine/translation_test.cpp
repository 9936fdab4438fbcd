// Tests of the TorchScript programs that run in ONNX Runtime, and of their results.
#include "torch_engine/translation.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/ir/irparser.h>

namespace leapp {
namespace {

TorchProgram parse(const std::string& text) {
  TorchProgram program;
  program.graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, program.graph.get());
  return program;
}

Port port(const std::string& name, Shape shape = {2, 3}, DType dtype = DType::kFloat32) {
  return {name, dtype, std::move(shape), {}};
}

Model model(std::vector<Port> inputs, std::vector<Port> outputs) {
  Model made;
  made.name = "n";
  made.inputs = std::move(inputs);
  made.outputs = std::move(outputs);
  return made;
}

// One name on both sides, as for state.
constexpr const char* kRecurrent = R"(
  graph(%x : Tensor, %h : Tensor):
    %one : int = prim::Constant[value=1]()
    %keep : bool = prim::Constant[value=0]()
    %sum : Tensor = aten::add(%x, %h, %one)
    %h_out : Tensor = aten::tanh(%sum)
    %best : Tensor = aten::argmax(%h_out, %one, %keep)
    return (%h_out, %best))";

TEST(Translation, GivesWhatTorchScriptGives) {
  const Model signature =
      model({port("x"), port("h")}, {port("h"), port("best", {2}, DType::kInt64)});
  const auto engine = translate(signature, parse(kRecurrent), {});
  ASSERT_NE(engine, nullptr);
  const at::Tensor x = at::randn({2, 3});
  const at::Tensor h = at::randn({2, 3});
  at::Tensor next = at::empty({2, 3});
  at::Tensor best = at::empty({2}, at::kLong);
  const ConstTensorView inputs[] = {{x.const_data_ptr(), DType::kFloat32, {2, 3}},
                                    {h.const_data_ptr(), DType::kFloat32, {2, 3}}};
  const TensorView outputs[] = {{next.data_ptr(), DType::kFloat32, {2, 3}},
                                {best.data_ptr(), DType::kInt64, {2}}};
  engine->bind(inputs, outputs)->run().value();
  const at::Tensor expected = (x + h).tanh();
  EXPECT_TRUE(at::allclose(next, expected, 1e-6, 1e-6));
  EXPECT_TRUE(at::equal(best, expected.argmax(1)));
}

TEST(Translation, DrawsNothingFromTheProgramsGenerator) {
  at::manual_seed(7);
  const at::Tensor undisturbed = at::rand({4});
  at::manual_seed(7);
  translate(model({port("x"), port("h")}, {port("h"), port("best", {2}, DType::kInt64)}),
            parse(kRecurrent), {});
  EXPECT_TRUE(at::equal(at::rand({4}), undisturbed));
}

TEST(Translation, LeavesTheRestToLibtorch) {
  const Model one = model({port("x")}, {port("y")});
  EXPECT_EQ(translate(one, parse(R"(
    graph(%x : Tensor):
      %y : Tensor = aten::relu_(%x)
      return (%y))"),
                      {}),
            nullptr)
      << "it writes to its input";
  EXPECT_EQ(translate(model({port("x")}, {port("y", {3, 3})}), parse(R"(
    graph(%x : Tensor):
      %y : Tensor = aten::relu(%x)
      return (%y))"),
                      {}),
            nullptr)
      << "it returns another shape than is declared";
  EXPECT_EQ(translate(model({port("x")}, {port("y", {2, 3}, DType::kComplex64)}), parse(R"(
    graph(%x : Tensor):
      %y : Tensor = aten::complex(%x, %x)
      return (%y))"),
                      {}),
            nullptr)
      << "ONNX Runtime has no complex numbers";
}

}  // namespace
}  // namespace leapp
