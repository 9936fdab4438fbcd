#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using test::make_model;
using test::make_port;
using testing::ElementsAre;
using testing::HasSubstr;

/// Nodes a, b, c, .. with input x and output y each, and wires between them.
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
  EXPECT_EQ(error_of(ErrorKind::kValue,
                     [] {
                       execution_order(wired(5, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}}));
                     }),
            "[B18] pipeline.data_flow.b/y: the forward wires form a cycle:\n"
            "  b/y -> c/x\n"
            "  c/y -> d/x\n"
            "  d/y -> b/x\n"
            "a value from the last tick belongs into feedback_flow");
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

}  // namespace
}  // namespace leapp
