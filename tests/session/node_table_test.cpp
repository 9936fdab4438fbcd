#include "session/node_table.h"

#include <gmock/gmock.h>

#include <thread>

#include "placed_error_of.h"

namespace leapp::session {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::refused;

TEST(NodeTableTest, NumbersNodesInTheOrderTheyWereAdded) {
  NodeTable nodes;
  SessionNode& a = nodes.add("a", true);
  SessionNode& b = nodes.add("b", false);
  EXPECT_EQ(nodes.size(), 2U);
  EXPECT_EQ(a.id, 0);
  EXPECT_EQ(&nodes.at(1), &b);
  EXPECT_EQ(nodes.find("a"), &a);
  EXPECT_EQ(nodes.find("c"), nullptr);
  EXPECT_FALSE(b.traced);
  nodes.remove_last();
  EXPECT_EQ(nodes.find("b"), nullptr);
}

TEST(NodeTableTest, RefusesNamesThatNoNodeCanHave) {
  NodeTable nodes;
  EXPECT_EQ(refused([&] { nodes.add("a/b", true); }), Code::kBadName);
  EXPECT_EQ(nodes.size(), 0U);
}

TEST(NodeTableTest, CountsOpenAndRecordedPasses) {
  NodeTable nodes;
  SessionNode& a = nodes.add("a", true);
  SessionNode& b = nodes.add("b", true);
  nodes.open_pass(a, true, {});
  nodes.open_pass(b, false, {&nodes, 7});
  EXPECT_EQ(nodes.open_passes(), 2);
  EXPECT_EQ(nodes.recorded_passes(), 1);
  EXPECT_THAT(nodes.open_names(), ElementsAre("a", "b"));
  nodes.close_pass(a);
  nodes.close_pass(a);
  nodes.close_pass(b);
  EXPECT_EQ(nodes.open_passes(), 0);
  EXPECT_EQ(nodes.recorded_passes(), 0);
  EXPECT_THAT(nodes.open_names(), IsEmpty());
  EXPECT_EQ(b.pass.record.opened_at.position, 7);
}

TEST(NodeTableTest, RequiresAnOpenNodeOfTheCallingThread) {
  NodeTable nodes;
  SessionNode& a = nodes.add("a", true);
  const auto require = [&] { nodes.require_open("a", "output_tensors"); };
  const auto closed = testing::placed_error_of(require);
  ASSERT_TRUE(closed);
  EXPECT_EQ(closed->code, Code::kNodeNotOpen);
  EXPECT_THAT(closed->text, HasSubstr("annotate.output_tensors() for node 'a'"));
  nodes.open_pass(a, true, {});
  EXPECT_EQ(&nodes.require_open("a", "output_tensors"), &a);
  std::optional<Code> elsewhere;
  std::thread([&] { elsewhere = refused(require); }).join();
  EXPECT_EQ(elsewhere, Code::kWrongThread);
}

TEST(NodeTableTest, KnowsTheInnermostRunningFunction) {
  NodeTable nodes;
  EXPECT_EQ(nodes.running_function(), nullptr);
  nodes.enter_function("outer");
  nodes.enter_function("inner");
  EXPECT_EQ(*nodes.running_function(), "inner");
  nodes.leave_function("outer");
  EXPECT_EQ(*nodes.running_function(), "inner");
  nodes.leave_function("inner");
  nodes.leave_function("inner");
  EXPECT_EQ(nodes.running_function(), nullptr);
}

}  // namespace
}  // namespace leapp::session
