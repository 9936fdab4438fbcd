// From small recordings to pure graphs.
#include "trace/purify.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "leapp/error.h"
#include "tape_writer.h"

namespace leapp::trace {
namespace {

using ::testing::HasSubstr;
using Names = std::vector<std::string>;

class PurifyTest : public ::testing::Test {
 protected:
  Purified run(const at::Tensor& output, const std::vector<StateSlot>& slots = {},
               const Names& refused = {}) {
    Recording recording;
    recording.tape = writer_.tape;
    recording.inputs = {{"x", input_}};
    recording.outputs = {{"y", writer_.var(output)}};
    recording.calls = calls_for(recording, slots);
    PurifyOptions options;
    options.keep = [&](const c10::OperatorHandle& op) {
      return std::find(refused.begin(), refused.end(), op.schema().name()) == refused.end();
    };
    options.name = [](const at::Tensor&) { return "weight"; };
    return purify(recording, slots, {x_}, options);
  }
  static Names names(const Purified& purified) {
    Names found;
    for (const ir::Op& op : purified.graph.ops()) found.push_back(op.signature->name);
    return found;
  }

  testing::TapeWriter writer_;
  const at::Tensor around_ = at::ones({3, 2});
  const at::Tensor x_ = around_.slice(0, 0, 2);
  const VarId input_ = writer_.input(x_);
  const at::Tensor weight_ = at::ones({2, 2});
};

TEST_F(PurifyTest, WritesInPlaceBecomeValues) {
  const at::Tensor y = writer_.mul(x_, weight_);
  writer_.add_in_place(y, x_);
  const Purified pure = run(y);
  EXPECT_EQ(names(pure), (Names{"aten::mul", "aten::add"}));
  EXPECT_EQ(pure.outputs, std::vector<ir::ValueId>{pure.graph.ops()[1].result()});
}

TEST_F(PurifyTest, AWriteThroughAViewReachesItsBase) {
  const at::Tensor y = writer_.mul(x_, weight_);
  const at::Tensor row = writer_.call("aten::select", "int", {y, 0, 0});
  writer_.zero(row);
  const Names found = names(run(y));
  EXPECT_THAT(found, ::testing::Contains("aten::select_scatter"));
  for (const std::string& name : found) EXPECT_FALSE(name.ends_with('_')) << name;
}

TEST_F(PurifyTest, WhatDependsOnNoInputIsAConstant) {
  const at::Tensor square = writer_.mul(weight_, weight_);
  const Purified pure = run(writer_.mul(x_, square));
  EXPECT_EQ(names(pure), Names{"aten::mul"});
  const auto constant = std::get<ir::ValueRef>(pure.graph.ops()[0].arguments[1]).id;
  EXPECT_TRUE(pure.graph.is_constant(constant));
  EXPECT_EQ(pure.graph.value(constant).name, "weight");
}

TEST_F(PurifyTest, OperatorsThatAreRefusedAreDecomposed) {
  const at::Tensor y = writer_.call("aten::linear", "", {x_, weight_, c10::IValue()});
  EXPECT_EQ(names(run(y)), Names{"aten::linear"});
  EXPECT_EQ(names(run(y, {}, {"aten::linear"})), Names{"aten::matmul"});
}

TEST_F(PurifyTest, AStateIsAnInputWithAValueAfterThePass) {
  const at::Tensor sum = at::zeros({2, 2});
  writer_.add_in_place(sum, x_);
  const VarId var = writer_.var(sum);
  const Purified pure = run(writer_.mul(sum, x_), {{.name = "sum", .before = var, .after = var}});
  EXPECT_EQ(names(pure), (Names{"aten::add", "aten::mul"}));
  EXPECT_EQ(pure.before, std::vector<ir::ValueId>{pure.graph.inputs()[1]});
  EXPECT_EQ(pure.after, std::vector<ir::ValueId>{pure.graph.ops()[0].result()});
}

TEST_F(PurifyTest, AConstantThatIsReadAtASiteBecomesAState) {
  const at::Tensor y = writer_.mul(x_, weight_);
  const StateSlot slot = {.name = "h", .sites = {{0, 1, -1}}, .value = weight_, .same_as = 0};
  const Purified pure = run(y, {slot});
  EXPECT_EQ(std::get<ir::ValueRef>(pure.graph.ops()[0].arguments[1]).id, pure.before[0]);
  EXPECT_EQ(pure.after, pure.before);
}

TEST_F(PurifyTest, MemoryAroundAnInputIsRefused) {
  const at::Tensor y = writer_.mul(x_, around_[2]);
  try {
    run(y);
    FAIL() << "memory that nobody gives was exported";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotPure);
    EXPECT_THAT(error.what(),
                HasSubstr("a tensor of shape [2] whose memory contains one of its inputs"));
  }
}

TEST_F(PurifyTest, AWriteAfterTracingIsAnError) {
  const at::Tensor y = writer_.mul(x_, weight_);
  weight_.add_(1);
  try {
    run(y);
    FAIL() << "a constant that changed was exported";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kChanged);
    EXPECT_THAT(error.what(),
                HasSubstr("the tensor 'weight' of shape [2, 2] changed after the trace"));
  }
}

}  // namespace
}  // namespace leapp::trace
