// Bundles that run on hand-made passes.
#include "rehearse/rollout.h"

#include <limits>

#include "../compile/hand_made.h"
#include "../core/runtime/support.h"
#include "../session/test_backend.h"
#include "compile/wires.h"

namespace leapp::rehearse {
namespace {

using compile::connect;
using compile::describe_only;
using compile::testing::make_node;
using compile::testing::port;
using compile::testing::row;
using compile::testing::run;
using compile::testing::wire;

class RolloutTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { leapp::testing::find_libraries(); }

  // Returns a node whose file computes 2 x + 1.
  NodeOutcome validate(const Node& node, const std::string& file = "affine.onnx",
                       const std::string& backend = "onnx",
                       session::ExternalBackend* external = nullptr) const {
    ExportedNode compiled = describe_only(node);
    compiled.model.backend = backend;
    compiled.random = random_;
    if (!file.empty()) compiled.model.file = FileEntry{file, "", ""};
    const auto folder = leapp::testing::model_file("");
    return roll_out({compiled}, {}, folder, "log.txt", {}, {}, external).outcomes.at(0);
  }

  Node node_ = make_node(0, "n", {"x"}, {"y"});
  bool random_ = false;
};

// Returns a node whose state is its output of the previous tick; `outputs` and the state are given
// by pass.
Rollout roll_out_fed_back(const std::vector<double>& outputs, std::vector<State::Values> states) {
  Node node = make_node(0, "n", {}, {});
  node.outputs = {port("y")};
  for (const double value : outputs) run(node, {}, {row(value)});
  ExportedNode compiled = describe_only(node);
  compiled.model.backend = "onnx";
  compiled.model.file = FileEntry{"affine.onnx", "", ""};
  compiled.model.inputs.push_back({"x", DType::kFloat32, {1, 4}, {}});
  compiled.input_names.push_back("x");
  compiled.states.states.push_back({.origin = State::Origin::kCarried,
                                    .slot = {.name = "x"},
                                    .fed_by = State::Feed{0, "y", {}},
                                    .per_pass = std::move(states)});
  const std::vector<ExportedNode> nodes = {compiled};
  return roll_out(nodes, connect(nodes), leapp::testing::model_file(""), "log.txt", {});
}

TEST_F(RolloutTest, AModelThatComputesTheSamePasses) {
  run(node_, {row(1)}, {row(3)});
  run(node_, {row(2)}, {row(5)});
  const NodeOutcome outcome = validate(node_);
  EXPECT_EQ(outcome.node, "n");
  EXPECT_TRUE(outcome.passed);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.not_compared, "");
}

TEST_F(RolloutTest, AModelThatComputesSomethingElseFails) {
  run(node_, {row(1)}, {row(3)});
  run(node_, {row(2)}, {row(6)});
  const NodeOutcome outcome = validate(node_);
  EXPECT_FALSE(outcome.passed);
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.difference, "'y' differs in pass 2");
}

TEST_F(RolloutTest, AFileThatIsNotThereFails) {
  run(node_, {row(1)}, {row(3)});
  const NodeOutcome outcome = validate(node_, "none.onnx");
  EXPECT_FALSE(outcome.passed);
  EXPECT_NE(outcome.error.find("none.onnx"), std::string::npos) << outcome.error;
}

TEST_F(RolloutTest, APassWhoseValuesDoNotFitFails) {
  run(node_, {row(1)}, {row(3)});
  run(node_, {at::ones({1, 5})}, {at::ones({1, 5})});
  EXPECT_FALSE(validate(node_).passed);
}

TEST_F(RolloutTest, ANodeWithoutAModelPasses) {
  run(node_, {row(1)}, {row(9)});
  EXPECT_TRUE(validate(node_, "").passed);
}

TEST_F(RolloutTest, ANodeThatDrawsRandomNumbersIsRunAndNotCompared) {
  run(node_, {row(1)}, {row(9)});
  random_ = true;
  const NodeOutcome outcome = validate(node_);
  EXPECT_TRUE(outcome.passed);
  EXPECT_NE(outcome.not_compared, "");
  EXPECT_FALSE(validate(node_, "none.onnx").passed);
}

TEST_F(RolloutTest, AnExternalBackendRunsModelsThatNoEngineCan) {
  run(node_, {row(1)}, {row(3)});
  EXPECT_NE(validate(node_, "net.pt2", "pt2").not_compared, "");
  leapp::testing::TestBackend external;
  double factor = 3;
  external.runs = [&](const std::filesystem::path& file, const std::vector<at::Tensor>& inputs) {
    EXPECT_EQ(file.filename(), "net.pt2");
    return std::vector<at::Tensor>{inputs.at(0) * factor};
  };
  EXPECT_TRUE(validate(node_, "net.pt2", "pt2", &external).passed);
  EXPECT_EQ(validate(node_, "net.pt2", "pt2", &external).not_compared, "");
  factor = 4;
  EXPECT_FALSE(validate(node_, "net.pt2", "pt2", &external).passed);
}

// The value of an inferred state is the model's result, whatever its hypothesis claims.
TEST_F(RolloutTest, AStateThatWasFoundIsRolledOn) {
  const auto rolled = [](double second) {
    return roll_out_fed_back({3, second}, {{row(1), row(4)}, {row(4), {}}});
  };
  EXPECT_TRUE(rolled(7).outcomes.at(0).passed);
  EXPECT_EQ(rolled(9).outcomes.at(0).difference, "'y' differs in pass 2");
}

// Its value after the first pass is unknown, because the program wrote to it before the second one.
TEST_F(RolloutTest, AStateThatWasWrittenToSinceIsTakenAsItWasFound) {
  const auto rolled = [](double found) {
    return roll_out_fed_back({3, 2 * found + 1}, {{row(1), {}}, {row(found), {}}});
  };
  EXPECT_FALSE(rolled(3).difference);
  const Rollout changed = rolled(8);
  EXPECT_TRUE(changed.outcomes.at(0).passed);
  ASSERT_TRUE(changed.difference);
  EXPECT_EQ(changed.difference->code, Code::kHandover);
}

std::optional<Diagnostic> difference(const std::vector<const Node*>& nodes) {
  std::vector<ExportedNode> compiled;
  for (const Node* node : nodes) compiled.push_back(describe_only(*node));
  return roll_out(compiled, connect(compiled), "", "log.txt", {}).difference;
}

// Two nodes in a row; the second one received those values.
std::optional<Diagnostic> after_handing_over(const std::vector<double>& put_out,
                                             const std::vector<double>& taken_in) {
  Node a = make_node(0, "a", {"x"}, {"y"});
  Node b = make_node(1, "b", {"y"}, {"z"});
  wire(b.inputs[0], 0, "y", static_cast<int>(taken_in.size()));
  for (const double value : put_out) run(a, {row(0)}, {row(value)});
  for (const double value : taken_in) run(b, {row(value)}, {row(0)});
  return difference({&a, &b});
}

TEST(WiresOfRolloutTest, AWireCarriesWhatWasTakenIn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(after_handing_over({1, 2}, {1, 2}), std::nullopt);
  EXPECT_EQ(after_handing_over({nan}, {nan}), std::nullopt);
}

TEST(WiresOfRolloutTest, AnInputThatWasSomethingElseIsNamedWithItsPass) {
  const auto found = after_handing_over({1, 2, 3}, {1, 2.5, 9});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, Code::kHandover);
  EXPECT_EQ(found->node, "b");
  EXPECT_NE(found->text.find("in pass 2 of node 'b' its input 'y' was not the value that a/y"),
            std::string::npos)
      << found->text;
  EXPECT_NE(found->text.find("(largest difference 0.5)"), std::string::npos) << found->text;
}

// A slow node, and one that ran in each of its ticks on that many of its values.
std::optional<Diagnostic> at_two_rates(const std::vector<double>& put_out,
                                       const std::vector<double>& taken_in, int every) {
  Node slow = make_node(0, "slow", {"x"}, {"y"});
  Node fast = make_node(1, "fast", {"y"}, {"z"});
  wire(fast.inputs[0], 0, "y");
  fast.inputs[0].age.add({1, 0, 1});  // no steady distance
  state::Ticks ticks;
  for (std::size_t i = 0; i < put_out.size(); ++i) {
    run(slow, {row(0)}, {row(put_out[i])});
    const auto pass = static_cast<int>(i);
    ticks.add(0, {every * pass, pass, pass});
  }
  for (std::size_t i = 0; i < taken_in.size(); ++i) {
    run(fast, {row(taken_in[i])}, {row(0)});
    const auto pass = static_cast<int>(i);
    ticks.add(1, {pass, pass, pass});
  }
  ticks.set_count(static_cast<int>(taken_in.size()));
  const std::vector<ExportedNode> compiled = {describe_only(slow), describe_only(fast)};
  return roll_out(compiled, connect(compiled), "", "log.txt", {}, ticks).difference;
}

TEST(WiresOfRolloutTest, AWireOfAScheduleCarriesTheLatestValue) {
  EXPECT_EQ(at_two_rates({1, 2}, {1, 1, 1, 2, 2, 2}, 3), std::nullopt);
  const auto found = at_two_rates({1, 2}, {1, 1, 5, 2}, 3);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, Code::kHandover);
  EXPECT_EQ(found->node, "fast");
  EXPECT_TRUE(at_two_rates({1, 2}, {1, 1, 1, 2}, 2));
}

TEST(WiresOfRolloutTest, LaterRunsOfATickReadTheRunBefore) {
  for (const double third : {30, 31}) {
    Node node = make_node(0, "n", {"x"}, {"y"});
    state::Ticks ticks;
    ticks.add(0, {0, 0, 2});
    ticks.add(0, {1, 3, 5});
    ticks.set_count(2);
    const double taken[] = {1, 20, third, 4, 50, 60};
    const double put_out[] = {20, 30, 7, 50, 60, 8};
    for (int i = 0; i < 6; ++i) run(node, {row(taken[i])}, {row(put_out[i])});
    const std::vector<ExportedNode> compiled = {describe_only(node)};
    Bundle bundle = connect(compiled);
    bundle.pipeline.schedule = {{.node = "n", .repeat = 3, .carry = {{"y", "x"}}}};
    EXPECT_EQ(roll_out(compiled, bundle, "", "log.txt", {}, ticks).difference.has_value(),
              third != 30);
  }
}

TEST(WiresOfRolloutTest, NodesAtDifferentRatesAreAnothersBusiness) {
  Node a = make_node(0, "a", {"x"}, {"y"});
  Node b = make_node(1, "b", {"y"}, {"z"});
  b.inputs[0].source = session::PortId{0, "y"};
  b.inputs[0].age.add({0, 0, 1});
  b.inputs[0].age.add({1, 0, 1});  // the first value again, so the distance is not constant
  for (const double value : {1, 2}) run(a, {row(0)}, {row(value)});
  for (const double value : {1, 1}) run(b, {row(value)}, {row(0)});
  EXPECT_EQ(difference({&a, &b}), std::nullopt);
}

// Returns a node with a declared state, with the values before and after each pass.
std::optional<Diagnostic> after_keeping(const std::vector<std::pair<double, double>>& state) {
  Node node = make_node(0, "n", {"x"}, {"y"});
  node.states = {port("h")};
  for (const auto& [before, after] : state) {
    run(node, {row(0)}, {row(0)});
    node.passes.back().states = {{.name = "h", .initial = row(before), .updated = row(after)}};
  }
  return difference({&node});
}

TEST(WiresOfRolloutTest, AStateHoldsWhatThePassBeforeLeft) {
  EXPECT_EQ(after_keeping({{0, 1}, {1, 2}, {2, 3}}), std::nullopt);
  EXPECT_EQ(after_keeping({{0, 1}, {1, 2}, {0, 1}, {1, 2}}), std::nullopt);  // a new episode begins
  const auto found = after_keeping({{0, 1}, {1, 2}, {5, 6}});
  ASSERT_TRUE(found);
  EXPECT_NE(found->text.find("in pass 3 of node 'n' its state 'h'"), std::string::npos)
      << found->text;
}

}  // namespace
}  // namespace leapp::rehearse
