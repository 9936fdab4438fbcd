#include "state/rates.h"

#include <gmock/gmock.h>

#include "told.h"

namespace leapp::state {
namespace {

using testing::codes;
using ::testing::HasSubstr;
using Lines = std::vector<std::string>;
using Reads = std::vector<session::Age::Read>;

NodePort input(const std::string& name, NodeId from, const Reads& reads) {
  NodePort port = testing::port(name);
  port.source = session::PortId{from, "g"};
  for (const session::Age::Read& read : reads) port.age.add(read);
  return port;
}

Node planner(int completed) {
  Node node = testing::node_of("hi", 0, completed);
  node.outputs = {testing::port("g")};
  return node;
}

Node controller(std::vector<NodePort> inputs, int completed) {
  Node node = testing::node_of("lo", 1, completed);
  node.inputs = std::move(inputs);
  return node;
}

TEST(RatesTest, AVaryingAgeIsSaidAndASteadyOneIsNot) {
  const struct {
    const char* what;
    Reads reads;  // {pass, source_pass, completed}
    int planned;
    int controlled;
    const char* text;  // "": none
  } table[] = {
      {"once each", {{0, 0, 1}, {1, 1, 2}}, 2, 2, ""},
      {"the tick before", {{1, 0, 2}, {2, 1, 3}}, 3, 3, ""},
      {"nothing received", {}, 1, 4, ""},
      {"a planner in every second tick",
       {{0, 0, 1}, {1, 0, 1}, {2, 1, 2}, {3, 1, 2}},
       2,
       4,
       "'lo/g' receives 'hi/g', but node 'hi' ran twice and node 'lo' 4 times while tracing"},
      {"an old value now and then",
       {{0, 0, 1}, {1, 0, 2}, {2, 2, 3}},
       3,
       3,
       "'lo/g' receives 'hi/g' with a varying delay: pass 1 of node 'lo' received that of pass 1, "
       "pass 2 "
       "that of pass 1"},
  };
  for (const auto& line : table) {
    const Node hi = planner(line.planned);
    const Node lo = controller({input("g", 0, line.reads)}, line.controlled);
    const Node* nodes[] = {&hi, &lo};
    const Findings found = find_rates(nodes);
    const bool said = line.text[0] != 0;
    ASSERT_EQ(codes(found), said ? Lines{"LP309"} : Lines{}) << line.what;
    if (!said) continue;
    EXPECT_THAT(found[0].text, HasSubstr(line.text)) << line.what;
  }
}

TEST(RatesTest, APairIsSaidOnce) {
  const Reads slow = {{0, 0, 1}, {1, 0, 1}};
  const Node hi = planner(1);
  const Node lo = controller({input("g", 0, slow), input("again", 0, slow)}, 2);
  const Node* nodes[] = {&hi, &lo};
  EXPECT_EQ(codes(find_rates(nodes)), Lines{"LP309"});
}

TEST(RatesTest, AStaticOutputHasNoAge) {
  Node hi = planner(1);
  hi.outputs[0].is_static = true;
  const Node lo = controller({input("g", 0, {{0, 0, 1}, {1, 0, 1}})}, 2);
  const Node* nodes[] = {&hi, &lo};
  EXPECT_EQ(codes(find_rates(nodes)), Lines{});
}

TEST(RatesTest, OneTickWithTwoValuesOfAnOutput) {
  const Node camera = planner(2);
  const Node fusion =
      controller({input("left", 0, {{0, 0, 2}}), input("right", 0, {{0, 1, 2}})}, 1);
  const Node* nodes[] = {&camera, &fusion};
  const Findings found = find_rates(nodes);
  ASSERT_EQ(codes(found), Lines{"LP309"});
  EXPECT_THAT(found[0].text, HasSubstr("'lo/right' receives 'hi/g' of another pass than other"));
}

// Each letter is a pass of the node of that name.
TEST(RatesTest, NodesOfOneRateTakeTurns) {
  const struct {
    const char* runs;
    bool differ;
  } table[] = {
      {"ababab", false},    {"abababa", false},    {"aaaa", false},    {"aaabbb", false},
      {"aaaababab", false}, {"ababab ccc", false}, {"abbabb", true},   {"abbbbabbbb", true},
      {"aabaab", true},     {"abaabab", true},     {"abcbabcb", true},
  };
  for (const auto& [runs, differ] : table) {
    const Node a = testing::node_of("a", 'a');
    const Node b = testing::node_of("b", 'b');
    const Node c = testing::node_of("c", 'c');
    std::vector<const Node*> nodes;
    for (const Node* node : {&a, &b, &c}) {
      if (std::string(runs).find(node->name) != std::string::npos) nodes.push_back(node);
    }
    session::RunLog log;
    for (const char* run = runs; *run != 0; ++run) {
      if (*run != ' ') log.push_back({.node = *run});
    }
    EXPECT_EQ(run_at_other_rates(nodes, log), differ) << runs;
  }
}

}  // namespace
}  // namespace leapp::state
