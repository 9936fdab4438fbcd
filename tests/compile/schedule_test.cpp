#include "compile/schedule.h"

#include "compile/wires.h"
#include "hand_made.h"
#include "leapp/error.h"

namespace leapp::compile {
namespace {

using session::Node;
using testing::make_node;
using testing::wire;

using Entries = std::vector<NodeSchedule>;
using Carry = std::map<std::string, std::string>;

// encoder -> denoise, which reads the number of the run.
struct Denoiser {
  Node encoder = make_node(0, "encoder", {"image"}, {"z"});
  Node denoise = make_node(1, "denoise", {"x", "z", "i"}, {"y"});
  std::vector<ExportedNode> nodes;

  Denoiser() {
    wire(denoise.inputs[1], 0, "z");
    nodes = {describe_only(encoder), describe_only(denoise)};
  }
  Pipeline scheduled(const Entries& entries) {
    Bundle bundle = connect(nodes);
    add_schedule(entries, nodes, bundle);
    return bundle.pipeline;
  }
};

TEST(ScheduleTest, APeriodIsTakenAsItIs) {
  EXPECT_EQ(Denoiser().scheduled({{.node = "encoder", .every = 5, .phase = 2}}).schedule,
            (Entries{{.node = "encoder", .every = 5, .phase = 2}}));
  EXPECT_TRUE(Denoiser().scheduled({}).schedule.empty());
}

TEST(ScheduleTest, PortsHaveTheNamesOfTheModel) {
  Denoiser chain;
  chain.nodes[1].model.inputs[0].name = "x_in";
  chain.nodes[1].model.outputs[0].name = "x_out";
  const Pipeline pipeline = chain.scheduled(
      {{.node = "denoise", .repeat = 10, .carry = {{"y", "x"}}, .on_change = {"x"}}});
  EXPECT_EQ(pipeline.schedule.front().carry, (Carry{{"x_out", "x_in"}}));
  EXPECT_EQ(pipeline.schedule.front().on_change, std::vector<std::string>{"x_in"});
}

TEST(ScheduleTest, ANumberOfTheScheduleIsNoInputOfThePipeline) {
  const auto inputs = [](const NodeSchedule& entry) {
    return Denoiser().scheduled({entry}).inputs;
  };
  const std::vector<NodePorts> left = {{"denoise", {"x"}}, {"encoder", {"image"}}};
  EXPECT_EQ(inputs({.node = "denoise", .repeat = 2, .index = "i"}), left);
  EXPECT_EQ(inputs({.node = "denoise", .ages = {{"i", "encoder"}}}), left);
}

TEST(ScheduleTest, StatesGoFromRunToRun) {
  Node node = testing::with_states();
  ExportedNode exported = describe_only(node);
  exported.states.states.push_back(
      {.origin = state::State::Origin::kExplicit, .slot = {.name = "h"}});
  const std::vector<ExportedNode> nodes = {exported};
  Bundle bundle = connect(nodes);
  bundle.pipeline.feedback_flow = {{{"n", "h_out"}, {{"n", "h_in"}}}};
  add_schedule({{.node = "n", .repeat = 3}}, nodes, bundle);
  EXPECT_EQ(bundle.pipeline.schedule.front().carry, (Carry{{"h_out", "h_in"}}));
  bundle.pipeline.schedule.clear();
  add_schedule({{.node = "n", .every = 3}}, nodes, bundle);
  EXPECT_EQ(bundle.pipeline.schedule.front().carry, Carry{});
}

TEST(ScheduleTest, AConditionIsAPortOfItsModel) {
  Denoiser chain;
  const Pipeline pipeline =
      chain.scheduled({{.node = "denoise", .when = PortRef{"encoder", "image"}}});
  EXPECT_EQ(pipeline.schedule.front().when, (PortRef{"encoder", "image"}));
  chain.nodes[0].model.inputs.clear();  // it reached no output
  chain.nodes[0].keep_names();
  try {
    chain.scheduled({{.node = "denoise", .when = PortRef{"encoder", "image"}}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kRates);
  }
}

}  // namespace
}  // namespace leapp::compile
