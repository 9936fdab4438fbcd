// Tests of reading TorchScript graphs, and of refusing others.
#include "trace/script_graph.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <gmock/gmock.h>
#include <torch/csrc/jit/ir/irparser.h>

#include "leapp/error.h"

namespace leapp::trace {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<torch::jit::Graph> parse(const std::string& text) {
  auto graph = std::make_shared<torch::jit::Graph>();
  torch::jit::parseIR(text, graph.get());
  return graph;
}

bool keep_all(const std::string&) {
  return true;
}

std::string refusal(const std::string& text) {
  try {
    read_script(*parse(text), {at::ones({2, 3})}, keep_all);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotTranslated);
    return error.what();
  }
  return "";
}

TEST(ScriptGraph, KeepsOperatorsTypesAndTheOrderOfPorts) {
  const auto graph = parse(R"(
    graph(%x : Tensor, %h : Tensor):
      %one : int = prim::Constant[value=1]()
      %list : Tensor[] = prim::ListConstruct(%x, %h)
      %both : Tensor = aten::cat(%list, %one)
      %y : Tensor = aten::tanh(%both)
      return (%y, %x))");
  const at::Tensor x = at::randn({2, 3});
  const at::Tensor h = at::randn({2, 1});
  const ScriptGraph read = read_script(*graph, {x, h}, keep_all);
  ASSERT_EQ(read.graph.ops().size(), 2U);
  EXPECT_EQ(read.graph.ops()[0].signature->qualified_name(), "aten::cat");
  EXPECT_EQ(read.graph.ops()[1].signature->qualified_name(), "aten::tanh");
  ASSERT_EQ(read.graph.outputs().size(), 2U);
  EXPECT_EQ(read.graph.outputs()[0].name, "out0");
  EXPECT_EQ(read.graph.type(read.graph.outputs()[0].value).shape, (Shape{2, 4}));
  EXPECT_EQ(read.graph.outputs()[1].value, read.graph.inputs()[0]);
  EXPECT_TRUE(at::equal(read.outputs[0], at::cat({x, h}, 1).tanh()));
}

TEST(ScriptGraph, TakesApartWhatIsNotKept) {
  const auto graph = parse(R"(
    graph(%x : Tensor, %w : Tensor):
      %none : NoneType = prim::Constant()
      %y : Tensor = aten::linear(%x, %w, %none)
      return (%y))");
  const auto keep = [](const std::string& name) { return name != "aten::linear"; };
  const ScriptGraph read = read_script(*graph, {at::ones({2, 3}), at::ones({4, 3})}, keep);
  for (const ir::Op& op : read.graph.ops()) EXPECT_NE(op.signature->name, "aten::linear");
  EXPECT_FALSE(read.graph.ops().empty());
  const auto none = [](const std::string&) { return false; };
  EXPECT_THROW(read_script(*graph, {at::ones({2, 3}), at::ones({4, 3})}, none), Error);
}

TEST(ScriptGraph, TheTensorsOfATupleOrAListAreOutputs) {
  for (const char* made : {"(Tensor, Tensor) = prim::TupleConstruct(%x, %y)",
                           "Tensor[] = prim::ListConstruct(%x, %y)"}) {
    const auto graph = parse(std::string("graph(%x : Tensor):\n"
                                         "  %y : Tensor = aten::relu(%x)\n"
                                         "  %both : ") +
                             made + "\n  return (%both)");
    const ScriptGraph read = read_script(*graph, {at::ones({2, 3})}, keep_all);
    ASSERT_EQ(read.graph.outputs().size(), 2U);
    EXPECT_EQ(read.graph.outputs()[1].name, "out1");
  }
}

TEST(ScriptGraph, DevicesBecomeTheCpu) {
  const auto graph = parse(R"(
    graph(%x : Tensor):
      %gpu : Device = prim::Constant[value="cuda:0"]()
      %no : bool = prim::Constant[value=0]()
      %six : int = prim::Constant[value=6]()
      %none : NoneType = prim::Constant()
      %y : Tensor = aten::to(%x, %gpu, %six, %no, %no, %none)
      return (%y))");
  EXPECT_EQ(read_script(*graph, {at::ones({2, 3})}, keep_all).graph.outputs().size(), 1U);
}

TEST(ScriptGraph, RefusesWhatOneRunDoesNotTell) {
  EXPECT_THAT(refusal(R"(
    graph(%x : Tensor):
      %yes : bool = prim::Constant[value=1]()
      %y : Tensor = prim::If(%yes)
        block0():
          %a : Tensor = aten::relu(%x)
          -> (%a)
        block1():
          -> (%x)
      return (%y))"),
              HasSubstr("the graph branches"));
  EXPECT_THAT(refusal(R"(
    graph(%x : Tensor):
      %y : Tensor = aten::relu_(%x)
      return (%y))"),
              HasSubstr("aten::relu_"));
  EXPECT_THAT(refusal(R"(
    graph(%x : Tensor):
      %none : NoneType = prim::Constant()
      %y : Tensor = aten::bernoulli(%x, %none)
      return (%y))"),
              HasSubstr("aten::bernoulli"));
  EXPECT_THAT(refusal(R"(
    graph(%x : Tensor):
      %y : Tensor = aten::nonzero(%x)
      return (%y))"),
              HasSubstr("aten::nonzero"));
  EXPECT_THAT(refusal(R"(
    graph(%x : Tensor):
      %n : int = aten::len(%x)
      %y : Tensor = aten::mul(%x, %n)
      return (%y))"),
              HasSubstr("aten::len"));
}

}  // namespace
}  // namespace leapp::trace
