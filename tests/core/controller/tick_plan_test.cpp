#include "controller/tick_plan.h"

#include <limits>

#include "step_bench.h"

namespace leapp {
namespace {

using namespace std::chrono_literals;
using testing::add_legs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using testing::named_port;
using testing::PolicyBench;

TickPlan plan_of(const PolicyBench& bench) {
  const Bundle bundle = bench.bundle();
  const RobotBinding binding = bind(bundle, bench.robot);
  require_bound(binding, bundle, bench.robot);
  return make_tick_plan(bundle, bench.robot, binding, bench.options);
}

TEST(TickPlan, TurnsNamesIntoIndices) {
  PolicyBench bench;
  add_legs(bench, {.unit = "rad", .limits = Limits{{-1}, {1}, {10}}});
  add_contract(bench.inputs[0].semantics, {.max_age_ms = 16.7});
  bench.robot.actuators[0].unit = "deg";
  bench.robot.sensors.push_back({.name = "other", .kind = "state/other", .elements = {"a"}});
  bench.options.blend_in = 45ms;
  const TickPlan plan = plan_of(bench);
  EXPECT_EQ(plan.decimation, 2U);
  EXPECT_EQ(plan.period, 20ms);
  EXPECT_EQ(plan.blend_ticks, 5U);  // rounded up
  EXPECT_THAT(plan.sensors, ElementsAre(2, 1));
  EXPECT_THAT(plan.actuators, ElementsAre(2));
  ASSERT_EQ(plan.inputs.size(), 1U);
  EXPECT_EQ(plan.inputs[0].name, "pi/q");
  EXPECT_EQ(plan.inputs[0].sources[0].element, 1U);  // hip is the robot's second
  EXPECT_THAT(plan.inputs[0].sensors, ElementsAre(0));
  EXPECT_EQ(plan.inputs[0].max_age, 16700us);
  EXPECT_EQ(plan.inputs[0].every, 0U);
  ASSERT_EQ(plan.outputs.size(), 1U);
  EXPECT_EQ(plan.outputs[0].role, OutputPlan::Role::kPosition);
  EXPECT_EQ(plan.outputs[0].targets[1].element, 0U);
  EXPECT_DOUBLE_EQ(plan.outputs[0].targets[1].factor, std::numbers::pi / 180);
  EXPECT_EQ(plan.outputs[0].targets[1].measured->element, 0U);
  EXPECT_THAT(plan.outputs[0].bounds.step, ElementsAre(0.1, 0.1));
}

TEST(TickPlan, AnEnormousMaximumAgeSaturates) {
  PolicyBench bench;
  add_legs(bench);
  for (const double age : {1e300, 1e13, std::numeric_limits<double>::max()}) {
    add_contract(bench.inputs[0].semantics, {.max_age_ms = age});
    EXPECT_EQ(plan_of(bench).inputs[0].max_age, std::chrono::nanoseconds::max());
  }
}

TEST(TickPlan, TimeAxes) {
  PolicyBench bench;
  add_legs(bench);
  Port& q = bench.inputs[0];
  q.shape = {1, 3, 2};
  q.semantics.element_names =
      ElementNames{{}, TemporalAxis{40}, std::vector<std::string>{"hip", "knee"}};
  EXPECT_EQ(plan_of(bench).inputs[0].every, 2U);
  EXPECT_EQ(plan_of(bench).inputs[0].stride, 2U);
  q.semantics.element_names =
      ElementNames{{}, TemporalAxis{30}, std::vector<std::string>{"hip", "knee"}};
  EXPECT_THAT(message_of([&] { plan_of(bench); }), HasSubstr("a multiple of the other"));
}

TEST(TickPlan, NumbersForTimeStepsAreRefused) {
  PolicyBench bench;
  add_legs(bench);
  const auto set = [&](Port& port, const PortContract& contract) {
    port.shape = {1, 2, 3};  // the last dimension is the time axis
    port.semantics.element_names =
        ElementNames{{}, std::vector<std::string>{"hip", "knee"}, TemporalAxis{20}};
    port.semantics.extra.clear();
    add_contract(port.semantics, contract);
  };
  const auto refusal = [&] { return message_of([&] { plan_of(bench); }); };
  set(bench.inputs[0], {.limits = Limits{{-1}, {1}, {10}}});
  EXPECT_EQ(plan_of(bench).inputs[0].layout.steps, 3U);
  set(bench.inputs[0], {.limits = Limits{{}, {1, 2, 3}, {}}});
  EXPECT_THAT(refusal(), HasSubstr("'limits' has a number for each time step"));
  set(bench.inputs[0], {.history = History{{}, std::vector<double>{1, 2, 3}}});
  EXPECT_THAT(refusal(), HasSubstr("'history' has a number for each time step"));
  set(bench.inputs[0], {});
  set(bench.outputs[0], {.fallback = std::vector<double>{1, 2, 3}});
  EXPECT_THAT(refusal(), HasSubstr("'fallback' has a number for each time step"));
}

TEST(TickPlan, OutputsThatDriveNothingAreLeftOut) {
  PolicyBench bench;
  add_legs(bench);
  bench.outputs.insert(bench.outputs.begin(), named_port("value", "critic", {"v"}));
  const TickPlan plan = plan_of(bench);
  ASSERT_EQ(plan.outputs.size(), 1U);
  EXPECT_EQ(plan.outputs[0].port, 1U);
}

TEST(TickPlan, DampNeedsAMeaningAndAMeasuredPose) {
  PolicyBench bench;
  add_legs(bench, {.fallback = Damp{}});
  EXPECT_EQ(plan_of(bench).outputs.size(), 1U);
  bench.robot.sensors[0].elements = {"knee", "ankle"};
  bench.inputs[0] = named_port("q", "state/joint/position", {"knee", "ankle"});
  EXPECT_THAT(message_of([&] { plan_of(bench); }),
              HasSubstr("to damp, each of its joints needs a sensor"));
  bench.outputs[0].semantics.kind = bench.robot.actuators[0].kind = "target/hand";
  EXPECT_THAT(message_of([&] { plan_of(bench); }), HasSubstr("damp, which is not defined for"));
}

TEST(TickPlan, ThePoseIsMeasuredInAUnitThatCanBeConverted) {
  PolicyBench bench;
  add_legs(bench, {.unit = "rad"});
  bench.robot.sensors.insert(
      bench.robot.sensors.begin(),
      {.name = "rail", .kind = "state/joint/position", .elements = {"hip", "knee"}, .unit = "mm"});
  bench.robot.sensors[1].ports = {"pi/q"};  // the input is ambiguous otherwise
  bench.options.blend_in = 1s;
  const TickPlan plan = plan_of(bench);
  EXPECT_EQ(plan.outputs[0].targets[0].measured->sensor, 1U);
  bench.robot.sensors[1].unit = "mm";
  EXPECT_THAT(message_of([&] { plan_of(bench); }), HasSubstr("[LP652]"));
}

TEST(TickPlan, GainsNeedNoMeasuredPose) {
  PolicyBench bench;
  add_legs(bench);
  bench.outputs.push_back(named_port("kp", "kp", {"hip"}, {.fallback = Damp{}}));
  bench.robot.actuators.push_back({.name = "kp", .kind = "kp", .elements = {"hip"}});
  bench.options.blend_in = 1s;
  EXPECT_FALSE(plan_of(bench).outputs[1].targets[0].measured);
}

TEST(TickPlan, RolesOfKinds) {
  PolicyBench bench;
  add_legs(bench);
  using Role = OutputPlan::Role;
  for (const auto& [kind, role] : {std::pair{"kp", Role::kZeroWhenDamped},
                                   {"target/joint/velocity", Role::kZeroWhenDamped},
                                   {"target/joint/effort", Role::kZeroWhenDamped},
                                   {"target/joint/torques", Role::kZeroWhenDamped},
                                   {"kd", Role::kOther},
                                   {"target/joint/position", Role::kPosition}}) {
    bench.outputs[0].semantics.kind = bench.robot.actuators[0].kind = kind;
    EXPECT_EQ(plan_of(bench).outputs[0].role, role) << kind;
  }
}

}  // namespace
}  // namespace leapp
