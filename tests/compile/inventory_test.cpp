// Constants that a node exports.
#include "compile/inventory.h"

#include <cmath>

#include "../session/tracing.h"
#include "session/session.h"
#include "state/infer.h"

namespace leapp::compile {
namespace {

using at::Tensor;
using session::HeldTensor;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

HeldTensor held(const Tensor& tensor, const std::string& path,
                HeldTensor::Kind kind = HeldTensor::Kind::kOther, const std::string& module = "") {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes(), path, kind,
          module};
}

class ConstantsTest : public leapp::testing::Tracing {
 protected:
  void SetUp() override {
    Tracing::SetUp();
    begin();
  }
  NodeInventory collect(std::vector<HeldTensor> holders = {}) {
    stop();
    nodes_ = session::Session::instance().nodes();
    const state::Paths no_path = [](const Tensor&) { return std::string(); };
    const state::Inference inference = state::infer_states(nodes_, nodes_, no_path);
    return collect_constants(inference.nodes.at(0), Holders(std::move(holders)), no_path, {});
  }
  static std::vector<std::string> paths_in(const NodeInventory& inventory) {
    std::vector<std::string> paths;
    for (const ExportedConstant& each : inventory.constants) paths.push_back(each.path);
    return paths;
  }

  std::vector<const session::Node*> nodes_;
};

TEST_F(ConstantsTest, ATensorFromOutsideIsListedOnceWithItsRange) {
  const Tensor command = at::zeros({1, 3});
  const Tensor x = in("n", at::ones({1, 3}));
  out("n", (x + command) * command);
  const NodeInventory found = collect({held(command, "env.command")});
  ASSERT_EQ(found.constants.size(), 1U);
  EXPECT_EQ(found.constants[0].path, "env.command");
  EXPECT_EQ(found.constants[0].op, "aten::add");
  EXPECT_EQ(found.constants[0].shape, (Shape{1, 3}));
  EXPECT_EQ(found.constants[0].max, 0);
  EXPECT_FALSE(found.constants[0].acknowledged);
}

TEST_F(ConstantsTest, WhatIsComputedFromConstantsIsListedByItsSource) {
  const Tensor offset = at::full({2}, 0.5);
  const Tensor x = in("n", at::ones({2}));
  out("n", x + (offset * 2).cos());
  const NodeInventory found = collect({held(offset, "env.offset")});
  EXPECT_THAT(paths_in(found), ElementsAre("env.offset"));
  EXPECT_EQ(found.constants[0].min, 0.5);
}

TEST_F(ConstantsTest, WhatReachesNoOutputIsNotListed) {
  const Tensor unused = at::ones({2});
  const Tensor x = in("n", at::ones({2}));
  const Tensor dropped = x + unused;
  out("n", x * 2);
  EXPECT_THAT(collect({held(unused, "env.unused")}).constants, IsEmpty());
}

TEST_F(ConstantsTest, StateAndShapesAreNotListed) {
  Tensor sum = at::zeros({2});
  const Tensor shape = at::ones({2});
  for (int i = 0; i < 2; ++i) {
    sum.add_(in("n", at::ones({2})));
    out("n", sum * 2 + at::zeros_like(shape));
  }
  EXPECT_THAT(collect().constants, IsEmpty());
}

TEST_F(ConstantsTest, ParametersAndBuffersAreCounted) {
  const Tensor weight = at::ones({4, 2});
  const Tensor mean = at::ones({2});
  Tensor loose = at::ones({2}).requires_grad_();
  const Tensor x = in("n", at::ones({1, 2}));
  out("n", ((x - mean).matmul(weight.t())).sum() + loose.detach() * 1 + loose);
  const NodeInventory found = collect(
      {held(weight, "p.net.weight", HeldTensor::Kind::kParameter, "p.net"), held(weight, "p.alias"),
       held(mean, "p.net.mean", HeldTensor::Kind::kBuffer, "p.net"),
       held(loose, "p.loose", HeldTensor::Kind::kParameter, "")});
  EXPECT_THAT(found.constants, IsEmpty());
  EXPECT_THAT(found.weights, ::testing::UnorderedElementsAre(ExportedWeights{"p.net", 1, 1, 10},
                                                             ExportedWeights{"", 1, 0, 2}));
}

TEST_F(ConstantsTest, AnOutputThatIsAConstantIsListed) {
  const Tensor command = at::ones({2});
  const Tensor x = in("n", at::ones({2}));
  annotate::output_tensors("n", {{"y", x * 2}},
                           {.static_outputs = {{"limits", command}}, .export_with = "jit"});
  EXPECT_THAT(collect({held(command, "p.command")}).constants, IsEmpty());  // a declared buffer
}

TEST_F(ConstantsTest, TheUserAcknowledgesByNameOrTensor) {
  const Tensor a = at::ones({2});
  const Tensor b = at::ones({2});
  const Tensor c = at::ones({2});
  const Tensor x = in("n", at::ones({2}));
  annotate::output_tensors(
      "n", {{"y", x + a + b + c}},
      {.export_with = "jit", .constants = {{"p.a", {}}, {"", b}, {"p.other", {}}}});
  const NodeInventory found = collect({held(a, "p.a"), held(b, "p.b"), held(c, "p.c")});
  std::vector<bool> acknowledged;
  for (const ExportedConstant& each : found.constants) acknowledged.push_back(each.acknowledged);
  EXPECT_THAT(acknowledged, ElementsAre(true, true, false));
  EXPECT_THAT(unused_acknowledgements(*nodes_[0], found), ElementsAre("p.other"));
  const std::string block = to_block(found, 5);
  EXPECT_EQ(block.find("p.a"), std::string::npos);
  EXPECT_NE(block.find("p.c"), std::string::npos);
  EXPECT_EQ(to_block({.node = "n"}, 5), "");
}

TEST(HoldersTest, FindsTheExactTensorBeforeTheMemoryAroundIt) {
  const Tensor whole = at::zeros({8});
  const Tensor part = whole.slice(0, 2, 4);
  const Tensor other = at::zeros({8});
  const Holders holders({held(whole, "whole"), held(part, "part")});
  EXPECT_EQ(holders.find(part.const_data_ptr())->path, "part");
  EXPECT_EQ(holders.find(whole.slice(0, 1).const_data_ptr())->path, "whole");
  EXPECT_EQ(holders.find(whole.slice(0, 6).const_data_ptr())->path, "whole");
  EXPECT_EQ(holders.find(other.const_data_ptr()), nullptr);
  EXPECT_EQ(holders.find(nullptr), nullptr);
}

TEST(HoldersTest, AModuleWinsOverOtherHolders) {
  const Tensor weight = at::zeros({8});
  const Holders holders(
      {held(weight, "alias"), held(weight, "net.weight", HeldTensor::Kind::kParameter, "net")});
  EXPECT_EQ(holders.find(weight.const_data_ptr())->path, "net.weight");
}

}  // namespace
}  // namespace leapp::compile
