#include "leapp/c_controller.h"

#include <array>
#include <limits>

#include "../runtime/test_bundle.h"
#include "base/temporary_folder.h"
#include "leapp/contract.h"

extern "C" int run_c_controller(const char* bundle, const char* description, char* problem,
                                size_t size);

namespace leapp {
namespace {

using namespace leapp::testing;

TEST(CController, ACProgramRuns) {
  find_libraries();
  TestBundle bundle;
  Port x = port("x");
  Port y = port("y");
  for (Port* const each : {&x, &y}) {
    each->semantics.element_names = ElementNames{std::vector<std::string>{"a", "b", "c", "d"}};
  }
  x.semantics.kind = "state/joint/position";
  add_contract(x.semantics, {.max_age_ms = 1e6});
  y.semantics.kind = "target/joint/position";
  bundle.node("pi", "affine.onnx", {x}, {y}).input("pi/x").output("pi/y");
  bundle.bundle().pipeline.configs = {{"frequency", {std::int64_t{50}}}};
  const std::filesystem::path robot = bundle.folder() / "robot.yaml";
  std::ofstream(robot) << "rate: 50\njoints: [a, b, c, d]\n"
                          "sensors: {q: {kind: state/joint/position}}\n"
                          "actuators: {target: {kind: target/joint/position}}\n";
  std::array<char, 512> problem{};
  const int failed =
      run_c_controller(bundle.write().c_str(), robot.c_str(), problem.data(), problem.size());
  EXPECT_EQ(failed, 0) << problem.data();
}

TEST(CController, ANullPointerIsAnErrorWithACode) {
  leapp_controller* controller = nullptr;
  std::size_t index = 0;
  std::uint64_t counts[LEAPP_CAUSES];
  const double values[1] = {0};
  const auto expect_null = [](leapp_status status) {
    EXPECT_EQ(status, LEAPP_VALUE);
    EXPECT_STREQ(leapp_last_code(), "LP003");
  };
  expect_null(leapp_controller_options_init(nullptr, sizeof(leapp_controller_options)));
  expect_null(leapp_controller_load(nullptr, "robot.yaml", nullptr, &controller));
  expect_null(leapp_controller_load("walker.yaml", nullptr, nullptr, &controller));
  expect_null(leapp_controller_load("walker.yaml", "robot.yaml", nullptr, nullptr));
  expect_null(leapp_controller_find_sensor(nullptr, "q", &index));
  expect_null(leapp_controller_find_actuator(nullptr, "m", &index));
  expect_null(leapp_controller_start(nullptr));
  expect_null(leapp_controller_stop(nullptr));
  expect_null(leapp_controller_set_sensor(nullptr, 0, values, 1, 0));
  expect_null(leapp_controller_counts(nullptr, counts, LEAPP_CAUSES));
  EXPECT_EQ(leapp_controller_update(nullptr), LEAPP_INACTIVE);
  EXPECT_EQ(leapp_controller_actuator(nullptr, 0), nullptr);
  leapp_controller_free(nullptr);
}

TEST(CController, OptionsAreChecked) {
  const TemporaryFolder folder;
  const std::filesystem::path robot = folder.path() / "robot.yaml";
  std::ofstream(robot) << "rate: 50\n";
  leapp_controller* controller = nullptr;
  const auto code_of = [&](const leapp_controller_options& options) {
    leapp_controller_load("nowhere.yaml", robot.c_str(), &options, &controller);
    return std::string(leapp_last_code());
  };
  leapp_controller_options options;
  ASSERT_EQ(leapp_controller_options_init(&options, sizeof options), LEAPP_OK);
  EXPECT_EQ(code_of(options), "LP004");
  options.frequency = 50;
  options.linear = options.worker = 1;
  options.deadline = 0.5;
  options.blend_in = 0.5;
  options.recording = "run.mcap";
  EXPECT_EQ(code_of(options), "LP004");
  for (const double seconds : {-1.0, 2e9, std::numeric_limits<double>::quiet_NaN()}) {
    leapp_controller_options bad = options;
    bad.deadline = seconds;
    EXPECT_EQ(code_of(bad), "LP653");
    bad = options;
    bad.blend_in = seconds;
    EXPECT_EQ(code_of(bad), "LP653");
  }
  options.size = 1;
  EXPECT_EQ(code_of(options), "LP653");
}

}  // namespace
}  // namespace leapp
