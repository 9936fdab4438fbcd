#include "bundle/timing.h"

#include <functional>

#include "bundle/wiring.h"
#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using test::make_model;
using test::make_port;
using testing::ElementsAre;
using testing::HasSubstr;

/// Returns planner -> tracker, a trigger whose output `run` is bool, and a denoising node.
Bundle make_scheduled() {
  Bundle bundle;
  bundle.models.push_back(
      make_model("trigger", {make_port("x")}, {make_port("run", {1}, DType::kBool)}));
  bundle.models.push_back(make_model("planner", {make_port("goal")}, {make_port("plan")}));
  bundle.models.push_back(make_model(
      "tracker", {make_port("plan"), make_port("age", {1}, DType::kInt64)}, {make_port("u")}));
  bundle.models.push_back(make_model(
      "denoise", {make_port("x_in"), make_port("step", {}, DType::kInt32)}, {make_port("x_out")}));
  bundle.pipeline.data_flow = {{{"planner", "plan"}, {{"tracker", "plan"}}}};
  bundle.pipeline.inputs = {{"denoise", {"x_in"}}, {"planner", {"goal"}}, {"trigger", {"x"}}};
  bundle.pipeline.outputs = {{"denoise", {"x_out"}}, {"tracker", {"u"}}, {"trigger", {"run"}}};
  bundle.pipeline.schedule = {
      {.node = "denoise", .repeat = 10, .carry = {{"x_out", "x_in"}}, .index = "step"},
      {.node = "planner",
       .every = 5,
       .phase = 2,
       .when = PortRef{"trigger", "run"},
       .on_change = {"goal"}},
      {.node = "tracker", .ages = {{"age", "planner"}}}};
  return bundle;
}

NodeSchedule& entry(Bundle& bundle, const std::string& node) {
  return *std::ranges::find(bundle.pipeline.schedule, node, &NodeSchedule::node);
}

std::string schedule_fault(const std::function<void(Bundle&)>& change) {
  Bundle bundle = make_scheduled();
  change(bundle);
  return error_of(ErrorKind::kValue, [&] { check(bundle); });
}

std::string fault_of_yaml(std::string_view from, std::string_view to) {
  const std::string yaml = test::replaced(to_yaml(make_scheduled()), from, to);
  return error_of(ErrorKind::kValue, [&] { parse_bundle(yaml, "w.yaml"); });
}

TEST(Timing, TheExampleKeepsTheRulesAndComesBack) {
  const Bundle bundle = make_scheduled();
  EXPECT_NO_THROW(check(bundle));
  EXPECT_EQ(parse_bundle(to_yaml(bundle), "w.yaml"), bundle);
}

TEST(Timing, b22_TheLayoutOfASchedule) {
  EXPECT_THAT(to_yaml(make_scheduled()), HasSubstr(R"(
  schedule:
    denoise:
      carry:
        x_out: x_in
      index: step
      repeat: 10
    planner:
      every: 5
      on_change: [goal]
      phase: 2
      when: trigger/run
    tracker:
      age:
        age: planner
)"));
  Bundle other = make_scheduled();
  std::swap(other.pipeline.schedule[0], other.pipeline.schedule[2]);
  EXPECT_EQ(to_yaml(other), to_yaml(make_scheduled()));
}

TEST(Timing, IsDueFromItsPhaseOn) {
  const Timing timing{.every = 3, .phase = 1};
  std::vector<bool> due;
  for (std::uint64_t tick = 0; tick < 6; ++tick) due.push_back(timing.is_due(tick));
  EXPECT_THAT(due, ElementsAre(false, true, false, false, true, false));
}

TEST(Timing, b35_EveryPhaseAndRepeatHaveARange) {
  const auto with = [](auto member, std::int64_t value) {
    return schedule_fault([&](Bundle& b) { entry(b, "planner").*member = value; });
  };
  EXPECT_THAT(
      with(&NodeSchedule::every, 0),
      HasSubstr("[B35] pipeline.schedule.planner.every: every must be 1 to 1000000000, not 0"));
  EXPECT_THAT(with(&NodeSchedule::every, -5), HasSubstr("[B35]"));
  EXPECT_THAT(with(&NodeSchedule::phase, -1), HasSubstr("[B35] pipeline.schedule.planner.phase"));
  EXPECT_THAT(with(&NodeSchedule::repeat, 0), HasSubstr("[B35] pipeline.schedule.planner.repeat"));
  EXPECT_THAT(with(&NodeSchedule::repeat, 100'001), HasSubstr("[B35]"));
}

TEST(Timing, b35_EntriesNameNodesOnce) {
  EXPECT_THAT(schedule_fault([](Bundle& b) { b.pipeline.schedule[0].node = "nobody"; }),
              HasSubstr("[B35] pipeline.schedule.nobody: there is no model 'nobody'"));
  EXPECT_THAT(schedule_fault([](Bundle& b) { b.pipeline.schedule[0] = {.node = "planner"}; }),
              HasSubstr("[B35] pipeline.schedule.planner: two entries have this node"));
}

TEST(Timing, b35_OtherKeysAndTypesAreRefused) {
  EXPECT_THAT(fault_of_yaml("every: 5", "hertz: 5"),
              HasSubstr("[B35] pipeline.schedule.planner.hertz: a schedule has no key 'hertz'"));
  EXPECT_THAT(fault_of_yaml("every: 5", "every: often"), HasSubstr("[B35]"));
  EXPECT_THAT(fault_of_yaml("every: 5", "every: 5.0"), HasSubstr("[B35]"));
  EXPECT_THAT(fault_of_yaml("      index: step\n", "      index: [step]\n"), HasSubstr("[B36]"));
  EXPECT_THAT(fault_of_yaml("trigger/run\n", "trigger\n"), HasSubstr("[B37]"));
  EXPECT_THAT(fault_of_yaml("on_change: [goal]", "on_change: goal"), HasSubstr("[B38]"));
  EXPECT_THAT(fault_of_yaml("        age: planner\n", "        - age\n"), HasSubstr("[B39]"));
}

TEST(Timing, b36_CarriedPortsExistAndFit) {
  const auto carry = [](const char* output, const char* input) {
    return schedule_fault([&](Bundle& b) { entry(b, "denoise").carry = {{output, input}}; });
  };
  EXPECT_THAT(
      carry("y", "x_in"),
      HasSubstr("[B36] pipeline.schedule.denoise.carry: the model 'denoise' has no output 'y'"));
  EXPECT_THAT(carry("x_out", "y"), HasSubstr("[B36]"));
  EXPECT_THAT(schedule_fault([](Bundle& b) { b.models[3].inputs[0].shape = {4}; }),
              HasSubstr("the output 'x_out' is float32 [1, 4], the input 'x_in' that reads it is "
                        "float32 [4]"));
  EXPECT_THAT(schedule_fault([](Bundle& b) { b.models[3].inputs[0].dtype = DType::kFloat64; }),
              HasSubstr("[B36]"));
  EXPECT_THAT(schedule_fault([](Bundle& b) {
                b.models[3].outputs.push_back(make_port("z"));
                b.pipeline.outputs[0].ports.emplace_back("z");
                entry(b, "denoise").carry["z"] = "x_in";
              }),
              HasSubstr("[B36]"));
}

TEST(Timing, b36_TheIndexIsAnIntegerThatNothingElseFeeds) {
  EXPECT_THAT(schedule_fault([](Bundle& b) { entry(b, "denoise").index = "x_in"; }),
              HasSubstr("[B36]"));
  EXPECT_THAT(schedule_fault([](Bundle& b) { b.models[3].inputs[1].shape = {2}; }),
              HasSubstr("must be int64 or int32 with one element, not int32 [2]"));
  EXPECT_THAT(schedule_fault([](Bundle& b) { b.pipeline.inputs[0].ports.emplace_back("step"); }),
              HasSubstr("[B16] pipeline.schedule.denoise.index: the input 'denoise/step' has two "
                        "sources: the pipeline's inputs and the schedule"));
}

TEST(Timing, b37_AConditionIsABool) {
  const auto when = [](const PortRef& port) {
    return schedule_fault([&](Bundle& b) { entry(b, "planner").when = port; });
  };
  EXPECT_THAT(when({"nobody", "run"}), HasSubstr("[B37] pipeline.schedule.planner.when"));
  EXPECT_THAT(when({"trigger", "walk"}), HasSubstr("[B37]"));
  EXPECT_THAT(when({"trigger", "x"}), HasSubstr("[B37]"));
  EXPECT_THAT(schedule_fault([](Bundle& b) { b.models[0].outputs[0].shape = {2}; }),
              HasSubstr("[B37]"));
  EXPECT_THAT(schedule_fault([](Bundle& b) {
                b.models[0].inputs[0].name = "run";
                b.pipeline.inputs[2].ports = {"run"};
              }),
              HasSubstr("'trigger/run' is both an input and an output"));
}

TEST(Timing, b37_AnInputOfThePipelineMayDecide) {
  Bundle bundle = make_scheduled();
  bundle.models[1].inputs.push_back(make_port("go", {}, DType::kBool));
  bundle.pipeline.inputs[1].ports.emplace_back("go");
  entry(bundle, "planner").when = PortRef{"planner", "go"};
  EXPECT_NO_THROW(check(bundle));
  bundle.pipeline.inputs[1].ports.pop_back();
  bundle.models[0].outputs[0].shape = {};
  bundle.pipeline.data_flow.push_back({{"trigger", "run"}, {{"planner", "go"}}});
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { check(bundle); }),
              HasSubstr("[B37] pipeline.schedule.planner.when: the input 'planner/go' is fed by a "
                        "wire of this tick; name that output: trigger/run"));
}

TEST(Timing, b37_ACarriedInputDecidesNothing) {
  Bundle bundle = make_scheduled();
  bundle.models[3].inputs.push_back(make_port("on", {}, DType::kBool));
  bundle.models[3].outputs.push_back(make_port("off", {}, DType::kBool));
  bundle.pipeline.inputs[0].ports.emplace_back("on");
  bundle.pipeline.outputs[0].ports.emplace_back("off");
  entry(bundle, "denoise").carry["off"] = "on";
  entry(bundle, "planner").when = PortRef{"denoise", "on"};
  EXPECT_THAT(error_of(ErrorKind::kValue, [&] { check(bundle); }), HasSubstr("[B37]"));
}

TEST(Timing, b38_WatchedInputsExistOnceAndAreNotFedByTheSchedule) {
  const auto watch = [](const char* node, std::vector<std::string> inputs) {
    return schedule_fault([&](Bundle& b) { entry(b, node).on_change = std::move(inputs); });
  };
  EXPECT_THAT(watch("planner", {"gaol"}), HasSubstr("[B38] pipeline.schedule.planner.on_change"));
  EXPECT_THAT(watch("planner", {"goal", "goal"}), HasSubstr("is listed twice"));
  EXPECT_THAT(watch("denoise", {"x_in"}), HasSubstr("[B38]"));
  EXPECT_THAT(watch("denoise", {"step"}), HasSubstr("[B38]"));
  EXPECT_THAT(watch("tracker", {"age"}), HasSubstr("[B38]"));
}

TEST(Timing, b39_AgesAreIntegersOfNodesThatExist) {
  const auto age = [](const char* input, const char* node) {
    return schedule_fault([&](Bundle& b) { entry(b, "tracker").ages = {{input, node}}; });
  };
  EXPECT_THAT(age("age", "nobody"), HasSubstr("[B39] pipeline.schedule.tracker.age"));
  EXPECT_THAT(age("old", "planner"), HasSubstr("[B39]"));
  EXPECT_THAT(age("plan", "planner"), HasSubstr("[B39]"));
  EXPECT_THAT(schedule_fault([](Bundle& b) {
                b.pipeline.inputs.push_back({"tracker", {"age"}});
              }),
              HasSubstr("[B16]"));
}

TEST(Timing, b16_AnInputThatTheScheduleNoLongerFeedsHasNoSource) {
  EXPECT_THAT(
      schedule_fault([](Bundle& b) { entry(b, "tracker").ages.clear(); }),
      HasSubstr("[B16] models.tracker.inputs[1].name: the input 'tracker/age' has no source"));
}

TEST(Timing, b18_ConditionsAndAgesAreEdges) {
  Bundle bundle = make_scheduled();
  // the planner's condition is the output of a later node
  std::swap(bundle.models[0], bundle.models[1]);
  EXPECT_THAT(execution_order(bundle), ElementsAre(1, 0, 2, 3));
  entry(bundle, "tracker").ages = {{"age", "tracker"}};
  EXPECT_THAT(
      error_of(ErrorKind::kValue, [&] { check(bundle); }),
      HasSubstr("[B18] pipeline.schedule.tracker: the forward wires and the schedule form a "
                "cycle:\n  tracker -> tracker (the schedule of the second depends on the "
                "first)"));
}

TEST(Timing, b18_AConditionMayNotWaitForItsOwnReader) {
  EXPECT_THAT(schedule_fault([](Bundle& b) {
                b.pipeline.inputs.pop_back();
                b.pipeline.data_flow.push_back({{"tracker", "u"}, {{"trigger", "x"}}});
              }),
              HasSubstr("[B18]"));
}

TEST(Timing, b41_BackendsHaveAPrefix) {
  EXPECT_THAT(to_yaml(make_scheduled()), HasSubstr("backend: leapp/onnx\n"));
  EXPECT_THAT(
      fault_of_yaml("backend: leapp/onnx", "backend: onnx"),
      HasSubstr("[B41] models.trigger.parameters.backend: the bundle has a schedule, so this "
                "must be 'leapp/onnx'"));
  Bundle noise = make_scheduled();
  noise.pipeline.schedule.clear();
  noise.models[2].inputs.pop_back();
  noise.models[3].inputs.pop_back();
  EXPECT_THAT(to_yaml(noise), HasSubstr("backend: onnx\n"));
  noise.models[3].inputs[0].semantics.kind = "noise";
  noise.models[3].inputs[0].semantics.extra = {
      {"noise", {Metadata::Map{{"distribution", {std::string("normal")}}}}}};
  const std::string yaml = to_yaml(noise);
  EXPECT_THAT(yaml, HasSubstr("backend: leapp/onnx\n"));
  EXPECT_EQ(parse_bundle(yaml, "w.yaml"), noise);
  EXPECT_THAT(error_of(ErrorKind::kValue,
                       [&] { parse_bundle(test::replaced(yaml, "leapp/onnx", "onnx"), "w.yaml"); }),
              HasSubstr("[B41] models.trigger.parameters.backend: the bundle has a noise port"));
}

}  // namespace
}  // namespace leapp
