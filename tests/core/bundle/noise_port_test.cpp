#include "bundle/noise_port.h"

#include <functional>

#include "support.h"

namespace leapp {
namespace {

using test::error_of;
using test::make_model;
using test::make_port;
using testing::HasSubstr;

/// Returns sampler -> tracker, whose inputs are a uniform and a normal noise port.
Bundle make_noisy() {
  Bundle bundle;
  bundle.models.push_back(
      make_model("sampler", {make_port("x"), make_port("u")}, {make_port("y")}));
  bundle.models.push_back(
      make_model("tracker", {make_port("z"), make_port("y")}, {make_port("a")}));
  make_noise(bundle.models[0].inputs[1], NoiseDistribution::kUniform);
  make_noise(bundle.models[1].inputs[0], NoiseDistribution::kNormal);
  bundle.pipeline.data_flow = {{{"sampler", "y"}, {{"tracker", "y"}}}};
  bundle.pipeline.inputs = {{"sampler", {"x", "u"}}, {"tracker", {"z"}}};
  bundle.pipeline.outputs = {{"tracker", {"a"}}};
  return bundle;
}

std::string noise_fault(const std::function<void(Bundle&)>& change) {
  Bundle bundle = make_noisy();
  change(bundle);
  return error_of(ErrorKind::kValue, [&] { check(bundle); });
}

std::string noise_fault_of_yaml(std::string_view from, std::string_view to) {
  const std::string yaml = test::replaced(to_yaml(make_noisy()), from, to);
  return error_of(ErrorKind::kValue, [&] { parse_bundle(yaml, "w.yaml"); });
}

TEST(NoisePort, TheExampleKeepsTheRulesAndComesBack) {
  const Bundle bundle = make_noisy();
  EXPECT_NO_THROW(check(bundle));
  EXPECT_EQ(parse_bundle(to_yaml(bundle), "w.yaml"), bundle);
  EXPECT_EQ(noise_ports(bundle), (std::vector<PortIndex>{{0, 1}, {1, 0}}));
  EXPECT_EQ(distribution_of(bundle.models[0].inputs[1]), NoiseDistribution::kUniform);
  EXPECT_EQ(distribution_of(bundle.models[1].inputs[0]), NoiseDistribution::kNormal);
}

TEST(NoisePort, b44_HasAKnownDistribution) {
  const auto expect_fault = [](std::string_view text) {
    EXPECT_THAT(noise_fault_of_yaml("distribution: uniform", text),
                HasSubstr("[B44] models.sampler.inputs[1].noise: "))
        << text;
  };
  expect_fault("distribution: cauchy");
  expect_fault("distribution: 1");
  expect_fault("distributions: uniform");
  expect_fault("distribution: uniform\n        seed: 1");
  EXPECT_THAT(noise_fault([](Bundle& b) {
                b.models[0].inputs[1].semantics.extra = {{"noise", {std::string("uniform")}}};
              }),
              HasSubstr("[B44]"));
}

TEST(NoisePort, b44_IsFloat32) {
  EXPECT_THAT(noise_fault([](Bundle& b) { b.models[0].inputs[1].dtype = DType::kFloat64; }),
              HasSubstr("[B44]"));
}

TEST(NoisePort, b44_IsAnInputOfThePipeline) {
  EXPECT_THAT(noise_fault([](Bundle& b) {
                b.pipeline.inputs.pop_back();
                b.pipeline.feedback_flow = {{{"tracker", "a"}, {{"tracker", "z"}}}};
              }),
              HasSubstr("[B44] models.tracker.inputs[0].noise: "));
}

TEST(NoisePort, b44_DoesNotDecideWhenItsNodeRuns) {
  EXPECT_THAT(noise_fault([](Bundle& b) {
                b.pipeline.schedule = {{.node = "tracker", .on_change = {"z"}}};
              }),
              HasSubstr("[B44] models.tracker.inputs[0].noise: "));
}

TEST(NoisePort, OtherInputsOfThisKindBelongToTheCaller) {
  Port port = make_port("noise");
  port.semantics.kind = "noise";
  EXPECT_FALSE(is_noise(port));
  make_noise(port, NoiseDistribution::kNormal);
  EXPECT_TRUE(is_noise(port));
  port.semantics.kind = "noise/level";
  EXPECT_FALSE(is_noise(port));
}

}  // namespace
}  // namespace leapp
