// Noise ports of a pipeline: the numbers that its nodes read, and what changes them.
#include "runtime/noise_filler.h"

#include <gmock/gmock.h>

#include "bundle/golden_traces.h"
#include "bundle/noise_port.h"
#include "leapp/c.h"
#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace leapp::testing;

constexpr std::uint64_t kSeed = 0x123456789ABCDEF0;

Port noise_port(const std::string& name, NoiseDistribution distribution) {
  Port made = port(name);
  make_noise(made, distribution);
  return made;
}

/// Returns the elements of a draw as the format defines them.
std::vector<float> drawn(std::uint32_t port, std::uint64_t number,
                         NoiseDistribution distribution = NoiseDistribution::kNormal,
                         std::uint64_t seed = kSeed) {
  std::vector<float> elements(4);
  fill_noise(distribution, {.seed = seed, .port = port, .number = number}, elements);
  return elements;
}

class NoiseFillerTest : public InferenceManagerTest {
 protected:
  /// Adds policy: y = obs + z, half = y / 2, where z is normal. The noise port is listed first.
  void add_policy() {
    test.node("policy", "recurrent.onnx",
              {port("x"), noise_port("h_in", NoiseDistribution::kNormal)},
              {port("y"), port("h_out")})
        .input("policy/h_in")
        .input("policy/x")
        .output("policy/y")
        .output("policy/h_out");
  }

  void load(RuntimeOptions options = {}) {
    options.noise_seed = kSeed;
    manager_.emplace(test.write(), std::move(options));
  }

  std::vector<float> run(TensorMap inputs = {{"policy/x", row({0, 0, 0, 0})}}) {
    return floats(manager_->run_policy(inputs).at("policy/y"));
  }

  std::optional<InferenceManager> manager_;
};

TEST_F(NoiseFillerTest, b44_EachTickReadsTheDrawOfItsNumber) {
  add_policy();
  load();
  EXPECT_THAT(manager_->inputs(), ElementsAre("policy/x"));
  EXPECT_THAT(manager_->noise_inputs(), ElementsAre("policy/h_in"));
  EXPECT_EQ(manager_->input_port("policy/x").index(), 0U);
  EXPECT_EQ(manager_->input_port("policy/h_in").index(), 1U);
  EXPECT_FALSE(manager_->get_mock_input().contains("policy/h_in"));
  for (std::uint64_t tick = 0; tick < 3; ++tick) EXPECT_EQ(run(), drawn(0, tick));
  EXPECT_EQ(floats(manager_->value("policy", "h_in")), drawn(0, 2));
}

TEST_F(NoiseFillerTest, b44_PortsAreCountedInTheOrderOfTheModels) {
  test.node("late", "recurrent.onnx", {port("x"), noise_port("h_in", NoiseDistribution::kUniform)},
            {port("y"), port("h_out")})
      .node("early", "recurrent.onnx", {noise_port("x", NoiseDistribution::kNormal), port("h_in")},
            {port("y"), port("h_out")})
      .wire("early/y", "late/x")
      .input("early/x")
      .input("early/h_in")
      .input("late/h_in")
      .output("early/h_out")
      .output("late/y")
      .output("late/h_out")
      .merged({"early", "late"});
  for (const Merge merge : {Merge::kOff, Merge::kAuto}) {
    load({.merge = merge});
    EXPECT_EQ(manager_->description().size(), merge == Merge::kOff ? 2U : 1U);
    EXPECT_THAT(manager_->noise_inputs(), ElementsAre("late/h_in", "early/x"));
    manager_->run_policy({{"early/h_in", row({0, 0, 0, 0})}});
    EXPECT_EQ(floats(manager_->value("late", "h_in")), drawn(0, 0, NoiseDistribution::kUniform));
    EXPECT_EQ(floats(manager_->value("early", "x")), drawn(1, 0));
    EXPECT_EQ(floats(manager_->value("early", "y")), drawn(1, 0));  // computed again if merged
  }
}

TEST_F(NoiseFillerTest, AGivenValueIsKeptUntilInputsAreCleared) {
  add_policy();
  load();
  EXPECT_EQ(run({{"policy/x", row({0, 0, 0, 0})}, {"policy/h_in", row({1, 2, 3, 4})}}),
            (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(run(), drawn(0, 1));  // the number counts ticks, not draws
  manager_->set_input(manager_->input_port("policy/h_in"), row({5, 5, 5, 5})).value();
  manager_->tick().value();
  manager_->tick().value();
  EXPECT_EQ(floats(manager_->value("policy", "y"))[0], 5);
  EXPECT_EQ(run(), drawn(0, 4));
  manager_->set_input_value("policy", "h_in", row({6, 6, 6, 6}).view());
  EXPECT_EQ(run()[0], 6);
  EXPECT_EQ(run()[0], 6);
  manager_->reset();
  EXPECT_EQ(run(), drawn(0, 0));
  const std::vector<float> bound(4, 7);
  manager_->bind_input(manager_->input_port("policy/h_in"), bound);
  EXPECT_EQ(run()[0], 7);
  manager_->unbind_input(manager_->input_port("policy/h_in"));
  EXPECT_EQ(run(), drawn(0, 2));
}

TEST_F(NoiseFillerTest, AValueOfTheWrongShapeOrTypeIsRefused) {
  add_policy();
  load();
  const InputPort noise = manager_->input_port("policy/h_in");
  const std::vector<float> three(3);
  EXPECT_EQ(manager_->set_input(noise, three).failure().code(), Code::kPortShape);
  const std::vector<double> doubles(4);
  EXPECT_EQ(manager_->set_input(noise, doubles).failure().code(), Code::kPortType);
  EXPECT_EQ(run(), drawn(0, 0));
}

TEST_F(NoiseFillerTest, OnlyOtherInputsAreRequired) {
  add_policy();
  load();
  const std::string missing = message_of([&] { run({}); });
  EXPECT_THAT(missing, HasSubstr("input policy/x is missing; the pipeline takes: policy/x ["));
}

TEST_F(NoiseFillerTest, AResetRepeatsTheNoiseUnlessTheSeedChanges) {
  add_policy();
  load();
  run();
  manager_->reset();
  EXPECT_EQ(run(), drawn(0, 0));
  manager_->set_noise_seed(9).value();
  EXPECT_EQ(run(), drawn(0, 1, NoiseDistribution::kNormal, 9));
  manager_->reset_state().value();
  EXPECT_EQ(run(), drawn(0, 0, NoiseDistribution::kNormal, 9));
}

TEST_F(NoiseFillerTest, AnUndoneOrFailedTickIsDrawnAgain) {
  add_policy();
  load({.finite = {.inputs = true}});
  run();
  run();
  manager_->undo_tick().value();
  manager_->tick().value();
  EXPECT_EQ(floats(manager_->value("policy", "y")), drawn(0, 1));
  EXPECT_THROW(run({{"policy/x", row({0, 0, 0, NAN})}}), Error);
  EXPECT_EQ(run(), drawn(0, 2));
}

TEST_F(NoiseFillerTest, TheStateIncludesTheTick) {
  add_policy();
  load();
  run();
  const TensorMap state = manager_->state();
  const std::vector<float> next = run();
  run();
  manager_->set_state(state);
  EXPECT_EQ(run(), next);
  EXPECT_THROW(manager_->set_state({{"/tick", Tensor({1}, {std::int64_t{-1}})}}), Error);
}

TEST_F(NoiseFillerTest, PreparingDrawsNothing) {
  add_policy();
  load();
  manager_->prepare();
  EXPECT_EQ(run(), drawn(0, 0));
}

TEST_F(NoiseFillerTest, b44_EveryRunOfAScheduleHasADrawOfItsOwn) {
  test.node("step", "recurrent.onnx", {noise_port("x", NoiseDistribution::kNormal), port("h_in")},
            {port("y"), port("h_out")})
      .input("step/x")
      .input("step/h_in")
      .output("step/y")
      .output("step/h_out");
  test.bundle().pipeline.schedule = {
      {.node = "step", .every = 2, .repeat = 3, .carry = {{"y", "h_in"}}}};
  load();
  for (std::uint64_t tick = 0; tick < 4; ++tick) {
    const TensorMap out = manager_->run_policy({{"step/h_in", row({0, 0, 0, 0})}});
    const std::uint64_t first = tick / 2 * 2 * 3;  // of the last tick that ran the node
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(floats(out.at("step/y"))[i],
                drawn(0, first)[i] + drawn(0, first + 1)[i] + drawn(0, first + 2)[i]);
    }
  }
  manager_->undo_tick().value();
  manager_->undo_tick().value();
  manager_->tick().value();
  EXPECT_EQ(floats(manager_->value("step", "x")), drawn(0, 8));
}

TEST_F(NoiseFillerTest, TheFirstRunOfACarriedPortReadsItsDraw) {
  test.node("denoise", "affine.onnx", {noise_port("x", NoiseDistribution::kNormal)}, {port("y")})
      .input("denoise/x")
      .output("denoise/y");
  test.bundle().pipeline.schedule = {{.node = "denoise", .repeat = 2, .carry = {{"y", "x"}}}};
  load();
  manager_->tick().value();
  manager_->tick().value();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(floats(manager_->value("denoise", "y"))[i], 4 * drawn(0, 2)[i] + 3);
  }
}

TEST_F(NoiseFillerTest, GoldenTicksFeedTheTracedNoise) {
  add_policy();
  const Tensor zeros = row({0, 0, 0, 0});
  const Tensor traced = row({1, 2, 3, 4});
  const std::filesystem::path file = test.folder() / "test_golden.safetensors";
  write_safetensors(file,
                    {{"0/inputs/policy/x", zeros.view()},
                     {"0/inputs/policy/h_in", traced.view()},
                     {"0/outputs/policy/y", traced.view()}},
                    GoldenNotes{1, {}, {}, {}}.metadata());
  test.bundle().pipeline.golden = FileEntry{file.filename().string(), "", sha256_file(file)};
  load();
  EXPECT_THAT(manager_->verify().left_out,
              ElementsAre(::testing::Pair("policy/h_out", ::testing::_)));
  for (const PortVerification& check : manager_->verify().checks) {
    EXPECT_TRUE(check.comparison.passed()) << check.port;
  }
}

TEST_F(NoiseFillerTest, CHasTheSamePortsAndSeeds) {
  add_policy();
  leapp_options options;
  ASSERT_EQ(leapp_options_init(&options, sizeof(options)), LEAPP_OK);
  options.noise_seed = kSeed;
  leapp_manager* loaded = nullptr;
  ASSERT_EQ(leapp_load(test.write().c_str(), &options, &loaded), LEAPP_OK);
  const std::unique_ptr<leapp_manager, decltype(&leapp_free)> owner(loaded, leapp_free);
  EXPECT_EQ(leapp_input_count(loaded), 1U);
  ASSERT_EQ(leapp_noise_input_count(loaded), 1U);
  EXPECT_STREQ(leapp_input_name(loaded, 1), "policy/h_in");
  EXPECT_EQ(leapp_input_name(loaded, 2), nullptr);
  std::size_t noise = 0;
  ASSERT_EQ(leapp_find_input(loaded, "policy/h_in", &noise), LEAPP_OK);
  EXPECT_EQ(noise, 1U);
  const std::vector<float> zeros(4);
  const auto tick = [&] {
    EXPECT_EQ(leapp_set_input(loaded, 0, zeros.data(), 4 * sizeof(float)), LEAPP_OK);
    EXPECT_EQ(leapp_tick(loaded), LEAPP_OK);
    const auto* const y = static_cast<const float*>(leapp_output(loaded, 0));
    return std::vector<float>(y, y + 4);
  };
  EXPECT_EQ(tick(), drawn(0, 0));
  EXPECT_EQ(leapp_set_noise_seed(loaded, 1), LEAPP_OK);
  EXPECT_EQ(tick(), drawn(0, 1, NoiseDistribution::kNormal, 1));
  const std::vector<float> ones(4, 1);
  EXPECT_EQ(leapp_set_input(loaded, noise, ones.data(), 4 * sizeof(float)), LEAPP_OK);
  EXPECT_EQ(tick(), ones);
  EXPECT_EQ(leapp_set_noise_seed(nullptr, 1), LEAPP_VALUE);
  EXPECT_EQ(leapp_noise_input_count(nullptr), 0U);
}

TEST_F(NoiseFillerTest, AMovedFromManagerHasNoNoise) {
  add_policy();
  load();
  InferenceManager other = std::move(*manager_);
  EXPECT_THAT(manager_->noise_inputs(), IsEmpty());
  EXPECT_FALSE(manager_->set_noise_seed(1).ok());
}

}  // namespace
}  // namespace leapp
