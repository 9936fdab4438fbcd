#include "compile/handover.h"

#include <limits>

#include "compile/wires.h"
#include "hand_made.h"

namespace leapp::compile {
namespace {

using testing::make_node;
using testing::row;
using testing::run;
using testing::wire;

std::optional<Diagnostic> difference(const std::vector<const Node*>& nodes) {
  std::vector<CompiledNode> compiled;
  for (const Node* node : nodes) compiled.push_back(describe_only(*node));
  return find_difference(compiled, connect(compiled));
}

// Two nodes in a row, of which the second took those values in.
std::optional<Diagnostic> after_handing_over(const std::vector<double>& put_out,
                                             const std::vector<double>& taken_in) {
  Node a = make_node(0, "a", {"x"}, {"y"});
  Node b = make_node(1, "b", {"y"}, {"z"});
  wire(b.inputs[0], 0, "y", static_cast<int>(taken_in.size()));
  for (const double value : put_out) run(a, {row(0)}, {row(value)});
  for (const double value : taken_in) run(b, {row(value)}, {row(0)});
  return difference({&a, &b});
}

TEST(HandoverTest, AWireCarriesWhatWasTakenIn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(after_handing_over({1, 2}, {1, 2}), std::nullopt);
  EXPECT_EQ(after_handing_over({nan}, {nan}), std::nullopt);
}

TEST(HandoverTest, AnInputThatWasSomethingElseIsNamedWithItsPass) {
  const auto found = after_handing_over({1, 2, 3}, {1, 2.5, 9});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code, Code::kHandover);
  EXPECT_EQ(found->node, "b");
  EXPECT_NE(found->text.find("in pass 2 of node 'b' its input 'y' was not what a/y"),
            std::string::npos)
      << found->text;
  EXPECT_NE(found->text.find("(largest difference 0.5)"), std::string::npos) << found->text;
}

TEST(HandoverTest, NodesAtDifferentRatesAreAnothersBusiness) {
  Node a = make_node(0, "a", {"x"}, {"y"});
  Node b = make_node(1, "b", {"y"}, {"z"});
  b.inputs[0].source = session::PortId{0, "y"};
  b.inputs[0].age.add({0, 0, 1});
  b.inputs[0].age.add({1, 0, 1});  // the first value once more: no steady distance
  for (const double value : {1, 2}) run(a, {row(0)}, {row(value)});
  for (const double value : {1, 1}) run(b, {row(value)}, {row(0)});
  EXPECT_EQ(difference({&a, &b}), std::nullopt);
}

// A node with a declared state that held and became those values, pass by pass.
std::optional<Diagnostic> after_keeping(const std::vector<std::pair<double, double>>& state) {
  Node node = make_node(0, "n", {"x"}, {"y"});
  node.states = {testing::port("h")};
  for (const auto& [before, after] : state) {
    run(node, {row(0)}, {row(0)});
    node.passes.back().states = {{.name = "h", .initial = row(before), .updated = row(after)}};
  }
  return difference({&node});
}

TEST(HandoverTest, AStateHoldsWhatThePassBeforeLeft) {
  EXPECT_EQ(after_keeping({{0, 1}, {1, 2}, {2, 3}}), std::nullopt);
  EXPECT_EQ(after_keeping({{0, 1}, {1, 2}, {0, 1}, {1, 2}}), std::nullopt);  // an episode begins
  const auto found = after_keeping({{0, 1}, {1, 2}, {5, 6}});
  ASSERT_TRUE(found);
  EXPECT_NE(found->text.find("in pass 3 of node 'n' its state 'h'"), std::string::npos)
      << found->text;
}

}  // namespace
}  // namespace leapp::compile
