#include "leapp/c_supervisor.h"

#include <array>

#include "../runtime/test_bundle.h"
#include "leapp/contract.h"

extern "C" int run_c_supervisor(const char* supervision, const char* description, char* problem,
                                size_t size);

namespace leapp {
namespace {

using namespace leapp::testing;

TEST(CSupervisor, ACProgramRuns) {
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
  const std::filesystem::path yaml = bundle.write();
  const std::filesystem::path robot = bundle.folder() / "robot.yaml";
  std::ofstream(robot) << "rate: 50\njoints: [a, b, c, d]\n"
                          "sensors: {q: {kind: state/joint/position}}\n"
                          "actuators: {target: {kind: target/joint/position}}\n";
  const std::filesystem::path supervision = bundle.folder() / "supervisor.yaml";
  const std::string name = yaml.filename().string();
  std::ofstream(supervision) << "policies: {first: {bundle: " << name
                             << "}, second: {bundle: " << name << "}}\n"
                             << "switches: [{from: first, to: second, when: {flag: go}}]\n";
  std::array<char, 512> problem{};
  const int failed =
      run_c_supervisor(supervision.c_str(), robot.c_str(), problem.data(), problem.size());
  EXPECT_EQ(failed, 0) << problem.data();
}

TEST(CSupervisor, ANullPointerIsAnErrorWithACode) {
  leapp_supervisor* supervisor = nullptr;
  std::size_t index = 0;
  std::int32_t emergency = 0;
  std::uint64_t counts[LEAPP_CAUSES];
  const double values[1] = {0};
  const auto expect_null = [](leapp_status status) {
    EXPECT_EQ(status, LEAPP_VALUE);
    EXPECT_STREQ(leapp_last_code(), "LP003");
  };
  expect_null(leapp_supervisor_load(nullptr, "robot.yaml", nullptr, &supervisor));
  expect_null(leapp_supervisor_load("supervisor.yaml", nullptr, nullptr, &supervisor));
  expect_null(leapp_supervisor_load("supervisor.yaml", "robot.yaml", nullptr, nullptr));
  expect_null(leapp_supervisor_find_policy(nullptr, "walk", &index));
  expect_null(leapp_supervisor_find_flag(nullptr, "go", &index));
  expect_null(leapp_supervisor_find_sensor(nullptr, "q", &index));
  expect_null(leapp_supervisor_find_actuator(nullptr, "m", &index));
  expect_null(leapp_supervisor_start(nullptr));
  expect_null(leapp_supervisor_stop(nullptr));
  expect_null(leapp_supervisor_request(nullptr, 0));
  expect_null(leapp_supervisor_set_flag(nullptr, 0, 1));
  expect_null(leapp_supervisor_emergency_stop(nullptr));
  expect_null(leapp_supervisor_clear_emergency_stop(nullptr));
  expect_null(leapp_supervisor_set_sensor(nullptr, 0, values, 1, 0));
  expect_null(leapp_supervisor_active(nullptr, &index, &emergency));
  expect_null(leapp_supervisor_switch_counts(nullptr, counts, LEAPP_SWITCH_EVENTS));
  expect_null(leapp_supervisor_counts(nullptr, 0, counts, LEAPP_CAUSES));
  EXPECT_EQ(leapp_supervisor_update(nullptr), LEAPP_INACTIVE);
  EXPECT_EQ(leapp_supervisor_actuator(nullptr, 0), nullptr);
  leapp_supervisor_free(nullptr);
}

}  // namespace
}  // namespace leapp
