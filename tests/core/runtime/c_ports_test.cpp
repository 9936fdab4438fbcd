// Ports of the C interface: their descriptions and their memory.
#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "leapp/c.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using namespace leapp::testing;

TEST(CPortsTest, AnIndexOutOfRangeIsSaid) {
  find_libraries();
  TestBundle test;
  add_policy(test);
  leapp_manager* robot = nullptr;
  ASSERT_EQ(leapp_load(test.write().c_str(), nullptr, &robot), LEAPP_OK) << leapp_last_error();
  const std::unique_ptr<leapp_manager, decltype(&leapp_free)> owner(robot, leapp_free);
  const float x[4] = {};
  const auto expect_said = [](bool failed) {
    EXPECT_TRUE(failed);
    EXPECT_STREQ(leapp_last_code(), "LP601");
    EXPECT_EQ(leapp_load(nullptr, nullptr, nullptr), LEAPP_VALUE);  // another error in the meantime
  };
  expect_said(leapp_set_input(robot, 1, x, sizeof x) == LEAPP_VALUE);
  expect_said(leapp_bind_input(robot, 1, x, sizeof x) == LEAPP_VALUE);
  expect_said(leapp_bind_output(robot, 1, nullptr, 0) == LEAPP_VALUE);
  expect_said(leapp_touch(robot, 1) == LEAPP_VALUE);
  expect_said(leapp_input(robot, 1) == nullptr);
  expect_said(leapp_output(robot, 1) == nullptr);
  expect_said(leapp_input_name(robot, 1) == nullptr);
  expect_said(leapp_output_name(robot, 1) == nullptr);
  expect_said(leapp_input_kind(robot, 1) == nullptr);
  expect_said(leapp_output_element(robot, 1, 0, 0) == nullptr);
  expect_said(leapp_output_text(robot, 1, "unit") == nullptr);
  expect_said(leapp_output_age(robot, 1) == -1);
}

TEST(CPortsTest, OutputsHaveAnAgeInTicks) {
  find_libraries();
  TestBundle test;
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  for (const bool scheduled : {false, true}) {
    if (scheduled) test.bundle().pipeline.schedule = {{.node = "n", .every = 3}};
    leapp_manager* robot = nullptr;
    ASSERT_EQ(leapp_load(test.write().c_str(), nullptr, &robot), LEAPP_OK) << leapp_last_error();
    const std::unique_ptr<leapp_manager, decltype(&leapp_free)> owner(robot, leapp_free);
    const float x[4] = {};
    ASSERT_EQ(leapp_set_input(robot, 0, x, sizeof x), LEAPP_OK);
    EXPECT_EQ(leapp_output_age(robot, 0), -1);
    for (const std::int64_t age : {0, 1, 2, 0}) {
      ASSERT_EQ(leapp_tick(robot), LEAPP_OK);
      EXPECT_EQ(leapp_output_age(robot, 0), scheduled ? age : 0);
    }
  }
  EXPECT_EQ(leapp_output_age(nullptr, 0), -1);
}

TEST(CPortsTest, PortsSayWhatTheyMean) {
  find_libraries();
  TestBundle test;
  Port x = port("x");
  x.semantics.kind = "state/joint/position";
  x.semantics.element_names = ElementNames{std::vector<std::string>{"a", "b", "c", "d"}};
  x.semantics.extra = {{"unit", {std::string("rad")}}, {"level", {3.0}}};
  test.node("n", "affine.onnx", {x}, {port("y")}).input("n/x").output("n/y");
  leapp_manager* robot = nullptr;
  ASSERT_EQ(leapp_load(test.write().c_str(), nullptr, &robot), LEAPP_OK) << leapp_last_error();
  const std::unique_ptr<leapp_manager, decltype(&leapp_free)> owner(robot, leapp_free);
  EXPECT_STREQ(leapp_input_kind(robot, 0), "state/joint/position");
  EXPECT_STREQ(leapp_input_element(robot, 0, 1, 2), "c");
  EXPECT_EQ(leapp_input_element(robot, 0, 0, 0), nullptr);
  EXPECT_EQ(leapp_input_element(robot, 0, 1, 4), nullptr);
  EXPECT_EQ(leapp_output_kind(robot, 0), nullptr);
  EXPECT_EQ(leapp_output_element(robot, 0, 1, 0), nullptr);
  EXPECT_STREQ(leapp_input_text(robot, 0, "unit"), "rad");
  EXPECT_EQ(leapp_input_text(robot, 0, "level"), nullptr);
  EXPECT_EQ(leapp_input_text(robot, 0, nullptr), nullptr);
  EXPECT_EQ(leapp_output_text(robot, 0, "unit"), nullptr);
  EXPECT_EQ(leapp_input_kind(robot, 1), nullptr);
  EXPECT_EQ(leapp_input_kind(nullptr, 0), nullptr);
}

TEST(CPortsTest, InputsAreWrittenInPlaceAndGrowStale) {
  find_libraries();
  TestBundle test;
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  const std::string yaml = test.write();
  int misses = 0;
  const leapp_staleness limit{.input = "n/x", .seconds = 3600};
  leapp_node_options node;
  leapp_node_options_init(&node, sizeof(node));
  node.node = "n";
  node.provider = "cpu";
  leapp_options options;
  leapp_options_init(&options, sizeof(options));
  options.nodes = &node;
  options.node_size = sizeof(node);
  options.node_count = 1;
  options.staleness = &limit;
  options.staleness_size = sizeof(limit);
  options.staleness_count = 1;
  options.deadline = 1e-9;
  options.on_deadline_miss = [](void* context, uint64_t, double took, double deadline) {
    *static_cast<int*>(context) += took > deadline ? 1 : 0;
  };
  options.deadline_context = &misses;
  leapp_manager* robot = nullptr;
  ASSERT_EQ(leapp_load(yaml.c_str(), &options, &robot), LEAPP_OK) << leapp_last_error();
  std::unique_ptr<leapp_manager, decltype(&leapp_free)> owner(robot, leapp_free);
  auto* x = static_cast<float*>(leapp_input(robot, 0));
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(leapp_input(robot, 1), nullptr);
  x[0] = 4;
  ASSERT_EQ(leapp_touch(robot, 0), LEAPP_OK);
  ASSERT_EQ(leapp_tick(robot), LEAPP_OK) << leapp_last_error();
  EXPECT_EQ(static_cast<const float*>(leapp_output(robot, 0))[0], 9);
  EXPECT_EQ(misses, 1);
  const leapp_staleness none{.input = "n/x", .seconds = 0};
  options.staleness = &none;
  ASSERT_EQ(leapp_load(yaml.c_str(), &options, &robot), LEAPP_OK) << leapp_last_error();
  owner.reset(robot);
  ASSERT_EQ(leapp_touch(robot, 0), LEAPP_OK);
  EXPECT_EQ(leapp_tick(robot), LEAPP_VALUE);
  EXPECT_STREQ(leapp_last_code(), "LP605");
  node.node = "nobody";
  EXPECT_EQ(leapp_load(yaml.c_str(), &options, &robot), LEAPP_VALUE);
}

}  // namespace
}  // namespace leapp
