#include "state/delayed.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include "leapp/error.h"
#include "told.h"

namespace leapp::state {
namespace {

using testing::before;
using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

// An input of node 0 that receives its own output `a`, `delay` ticks old, as soon as there is one.
NodePort input(const std::string& name, int delay) {
  NodePort port = testing::port(name);
  port.source = session::PortId{0, "a"};
  for (int pass = delay; pass < delay + 2; ++pass) port.age.add({pass, pass - delay, pass});
  return port;
}

// Returns a policy that reads its past actions. In pass k, an input that is d ticks old receives k
// - d; before the first action it receives `start`.
Node policy(std::vector<NodePort> inputs, int passes, const std::vector<double>& start) {
  Node node = testing::node_of("pi", 0, passes);
  node.outputs = {testing::port("a")};
  node.inputs = std::move(inputs);
  for (int k = 0; k < passes; ++k) {
    Pass& pass = node.passes.emplace_back();
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const int delay = node.inputs[i].age.first().pass;
      pass.inputs.push_back(at::full({1}, k < delay ? start[i] : k - delay));
    }
  }
  return node;
}

NodeStates delayed(const Node& node, const Lines& used, Findings* remarks = nullptr) {
  const Node* nodes[] = {&node};
  NodeStates states = {.node = &node};
  Findings said;
  add_delays(states, used, nodes, said);
  if (remarks != nullptr) *remarks = said;
  return states;
}

// "a_1_ago of pi/a", "a_2_ago of #0"
Lines told(const NodeStates& found) {
  Lines lines;
  for (const State& link : found.states) {
    lines.push_back(link.slot.name + " of " +
                    (link.fed_by->state ? "#" + std::to_string(*link.fed_by->state)
                                        : "pi/" + link.fed_by->output));
  }
  for (const auto& [input, link] : found.received) {
    lines.push_back(input + " of #" + std::to_string(link));
  }
  return lines;
}

TEST(DelayedTest, EachTickMoreThanAWireIsALink) {
  const struct {
    const char* what;
    int delay;
    Lines links;
  } table[] = {
      {"a wire", 1, {}},
      {"two ticks", 2, {"a_1_ago of pi/a", "in of #0"}},
      {"three ticks", 3, {"a_1_ago of pi/a", "a_2_ago of #0", "in of #1"}},
  };
  for (const auto& line : table) {
    const Node node = policy({input("in", line.delay)}, 6, {-1});
    EXPECT_EQ(told(delayed(node, {"in"})), line.links) << line.what;
    EXPECT_EQ(told(delayed(node, {})), Lines{}) << line.what << " that nobody uses";
  }
}

TEST(DelayedTest, ALinkBeginsWithWhatTheInputHeld) {
  const Node node = policy({input("in", 3)}, 6, {-1});
  Findings remarks;
  const std::vector<State> links = delayed(node, {"in"}, &remarks).states;
  ASSERT_EQ(links.size(), 2);
  EXPECT_EQ(testing::numbers({links[0].slot.value, links[1].slot.value}), "-1 -1");
  EXPECT_EQ(before(links[1]), "-1 -1 0 1 2 2");
  ASSERT_EQ(remarks.size(), 1);
  EXPECT_EQ(remarks[0].code, Code::kFoundState);
  EXPECT_EQ(remarks[0].level, LogLevel::kInfo);
  EXPECT_EQ(remarks[0].text,
            "input 'in' of node 'pi' receives pi/a of 3 ticks ago, which 'a_2_ago' keeps until "
            "then");
}

TEST(DelayedTest, InputsShareLinksAsFarAsTheyBeginAlike) {
  const Node alike = policy({input("two", 2), input("three", 3)}, 6, {-1, -1});
  EXPECT_EQ(told(delayed(alike, {"two", "three"})),
            (Lines{"a_1_ago of pi/a", "a_2_ago of #0", "three of #1", "two of #0"}));
  const Node unlike = policy({input("two", 2), input("three", 3)}, 6, {-1, -2});
  EXPECT_EQ(
      told(delayed(unlike, {"two", "three"})),
      (Lines{"a_1_ago of pi/a", "a_1_ago_1 of pi/a", "a_2_ago of #1", "three of #2", "two of #0"}));
}

// The value that the input had before it first received one is the initial value of its links.
TEST(DelayedTest, PassesBeforeTheFirstValueMustBeKept) {
  NodePort late = testing::port("in");
  late.source = session::PortId{0, "a"};
  for (int pass = 5; pass < 7; ++pass) late.age.add({pass, pass - 2, pass});
  EXPECT_NO_THROW(delayed(policy({late}, 5, {-1}), {"in"}));
  try {
    delayed(policy({late}, 4, {-1}), {"in"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDelayTooLong);
  }
}

TEST(DelayedTest, TooFewPassesAreAnError) {
  const Node node = policy({input("in", 3)}, 2, {-1});
  try {
    delayed(node, {"in"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDelayTooLong);
    EXPECT_THAT(error.what(), HasSubstr("known only for the first 2 passes"));
    EXPECT_THAT(error.what(), HasSubstr("max_cached_io=3"));
  }
}

TEST(DelayedTest, ModelsThatAreTakenAsTheyAreHaveNoLinks) {
  const Node wire = policy({input("in", 1)}, 3, {-1});
  const Node* wires[] = {&wire};
  EXPECT_NO_THROW(refuse_delays(wire, wires));
  const Node late = policy({input("in", 2)}, 3, {-1});
  const Node* nodes[] = {&late};
  try {
    refuse_delays(late, nodes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kDelayOfOwnModel);
  }
}

TEST(DelayedTest, AStaticOutputIsNeverLate) {
  Node node = policy({input("in", 3)}, 6, {-1});
  EXPECT_EQ(delay_of(node, node.inputs[0], node), 3);
  node.outputs[0].is_static = true;
  EXPECT_EQ(delay_of(node, node.inputs[0], node), 1);
}

}  // namespace
}  // namespace leapp::state
