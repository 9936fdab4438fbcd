#include "support.h"

namespace leapp {
namespace {

TEST(PortRef, IsSplitAtTheFirstSlash) {
  EXPECT_EQ(parse_port_ref("a/b"), (PortRef{"a", "b"}));
  EXPECT_EQ(parse_port_ref("a/b/c"), (PortRef{"a", "b/c"}));
  for (const char* text : {"", "/", "a", "a/", "/b"}) EXPECT_EQ(parse_port_ref(text), std::nullopt);
  EXPECT_EQ(to_string(PortRef{"a", "b/c"}), "a/b/c");
}

TEST(Bundle, FindsModelsAndPorts) {
  const Bundle bundle = test::make_bundle();
  EXPECT_EQ(bundle.find_model("policy"), &bundle.models[1]);
  EXPECT_EQ(bundle.find_model("nobody"), nullptr);
  EXPECT_EQ(bundle.find_input({"policy", "h_in"}), &bundle.models[1].inputs[1]);
  EXPECT_EQ(bundle.find_output({"policy", "h_in"}), nullptr);
  EXPECT_EQ(bundle.find_output({"nobody", "x"}), nullptr);
  EXPECT_EQ(bundle.find_input({"nobody", "x"}), nullptr);
  EXPECT_EQ(bundle.models[0].find_output("features"), &bundle.models[0].outputs[0]);
}

TEST(NodeSchedule, HasATextOfItsParts) {
  EXPECT_EQ(to_string(NodeSchedule{.node = "a"}), "every tick");
  EXPECT_EQ(to_string(NodeSchedule{.node = "a", .every = 5, .phase = 2}),
            "every 5 ticks, from tick 2 on");
  EXPECT_EQ(to_string(NodeSchedule{.node = "a",
                                   .repeat = 3,
                                   .carry = {{"y", "x"}},
                                   .index = "i",
                                   .when = PortRef{"trigger", "run"},
                                   .on_change = {"goal", "map"},
                                   .ages = {{"age", "planner"}}}),
            "when trigger/run, if goal, map changed, 3 runs, y to x, i counts the runs, "
            "age is the age of planner");
}

}  // namespace
}  // namespace leapp
