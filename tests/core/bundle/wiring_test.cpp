#include "bundle/wiring.h"

#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using test::make_model;
using test::make_port;
using testing::ElementsAre;
using testing::HasSubstr;

/// Returns nodes a, b, c, .., each with an input x and an output y, and wires between them.
Bundle wired(std::size_t count, const std::vector<std::pair<int, int>>& edges) {
  Bundle bundle;
  const auto name = [](int i) { return std::string(1, static_cast<char>('a' + i)); };
  for (std::size_t i = 0; i < count; ++i) {
    bundle.models.push_back(
        make_model(name(static_cast<int>(i)), {make_port("x")}, {make_port("y")}));
  }
  for (const auto& [from, to] : edges) {
    bundle.pipeline.data_flow.push_back({{name(from), "y"}, {{name(to), "x"}}});
  }
  return bundle;
}

TEST(ExecutionOrder, KeepsTheOrderOfModelsWhereItIsFreeTo) {
  EXPECT_THAT(execution_order(wired(3, {})), ElementsAre(0, 1, 2));
  EXPECT_THAT(execution_order(wired(4, {{2, 1}, {1, 0}})), ElementsAre(2, 1, 0, 3));
}

TEST(ExecutionOrder, b18_ACycleIsPrintedEdgeByEdge) {
  EXPECT_THAT(error_of(ErrorKind::kValue,
                       [] {
                         execution_order(wired(5, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}}));
                       }),
              testing::AllOf(testing::StartsWith("[B18] pipeline.data_flow.b/y: "),
                             HasSubstr("\n  b/y -> c/x\n  c/y -> d/x\n  d/y -> b/x\n")));
  EXPECT_THAT(error_of(ErrorKind::kValue,
                       [] {
                         execution_order(wired(1, {{0, 0}}));
                       }),
              HasSubstr("  a/y -> a/x\n"));
}

TEST(ExecutionOrder, b18_AReadCycleNamesTheLine) {
  Bundle bundle = wired(2, {{0, 1}, {1, 0}});
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { parse_bundle(to_yaml(bundle), "w.yaml"); }),
              testing::StartsWith("w.yaml:41:10: [B18] "));
}

TEST(ExecutionOrder, b18_ALongCycleIsCut) {
  Bundle bundle;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i);
    bundle.models.push_back(make_model(name, {make_port("x")}, {make_port("y")}));
    bundle.pipeline.data_flow.push_back({{name, "y"}, {{std::to_string((i + 1) % 1000), "x"}}});
  }
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { execution_order(bundle); }),
              HasSubstr("\n  and 980 more\n"));
}

TEST(ExecutionOrder, b15_AWireToNowhere) {
  Bundle bundle = wired(1, {});
  bundle.pipeline.data_flow = {{{"z", "y"}, {{"a", "x"}}}};
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { execution_order(bundle); }),
              HasSubstr("[B15] pipeline.data_flow.z/y: there is no model 'z'"));
}

TEST(ExecutionOrder, b15_AWireToAPortThatIsNotThere) {
  Bundle bundle = wired(2, {});
  bundle.pipeline.feedback_flow = {{{"a", "z"}, {{"b", "x"}}}};
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { Wiring{bundle}; }),
              HasSubstr("[B15] pipeline.feedback_flow.a/z: the model 'a' has no output 'z'"));
}

TEST(WiringTest, SaysWhereEveryInputComesFrom) {
  const Bundle bundle = test::make_bundle();
  const Wiring wiring(bundle);
  for (const Wiring::Connection& wire : wiring.connections()) {
    const auto& source = wiring.source_of(wire.target);
    ASSERT_TRUE(source);
    EXPECT_EQ(source->output, wire.source);
    EXPECT_EQ(source->last_tick, wire.last_tick);
  }
  for (const NodePorts& node : bundle.pipeline.inputs) {
    for (std::size_t i = 0; i < bundle.models.size(); ++i) {
      for (std::size_t k = 0; k < bundle.models[i].inputs.size(); ++k) {
        const PortRef ref = input_ref(bundle, {i, k});
        if (ref.node != node.node || std::ranges::count(node.ports, ref.port) == 0) continue;
        EXPECT_FALSE(wiring.source_of({i, k})) << to_string(ref);
      }
    }
  }
}

// A source that runs earlier in the tick has run once more when its reader runs.
TEST(WiringTest, CountsTheRunsOfTheSource) {
  Bundle bundle = wired(3, {{0, 1}});
  bundle.pipeline.feedback_flow = {{{"b", "y"}, {{"a", "x"}}}, {{"a", "y"}, {{"c", "x"}}}};
  const Wiring wiring(bundle);
  EXPECT_THAT(wiring.order(), ElementsAre(0, 1, 2));
  EXPECT_EQ(wiring.source_of({1, 0})->runs_ago, 1u);  // forward
  EXPECT_EQ(wiring.source_of({0, 0})->runs_ago, 1u);  // b runs later
  EXPECT_EQ(wiring.source_of({2, 0})->runs_ago, 2u);  // a has already run
  bundle.pipeline.feedback_flow = {{{"c", "y"}, {{"c", "x"}}}};
  EXPECT_EQ(Wiring(bundle).source_of({2, 0})->runs_ago, 1u);  // its own output
}

}  // namespace
}  // namespace leapp
