#include "leapp/c.h"

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "bundle/golden_traces.h"
#include "test_bundle.h"

extern "C" {
int run_c_program(const char* yaml, char* problem, size_t size);
}

namespace leapp {
namespace {

using namespace leapp::testing;

TEST(CTest, APlainCProgramDrivesARobot) {
  find_libraries();
  TestBundle test;
  add_policy(test);
  std::array<char, 1024> problem{};
  EXPECT_EQ(run_c_program(test.write().c_str(), problem.data(), problem.size()), 0)
      << problem.data();
}

TEST(CTest, TheStateOfAScheduleHasItsOwnSize) {
  find_libraries();
  TestBundle test;
  add_policy(test);
  test.bundle().pipeline.schedule = {{.node = "pre", .every = 2}};
  test.bundle().pipeline.merged.reset();
  leapp_manager* robot = nullptr;
  ASSERT_EQ(leapp_load(test.write().c_str(), nullptr, &robot), LEAPP_OK);
  const std::unique_ptr<leapp_manager, decltype(&leapp_free)> owner(robot, leapp_free);
  const std::array<float, 4> obs = {0.1f, 0.2f, 0.3f, 0.4f};
  const auto tick = [&] {
    EXPECT_EQ(leapp_set_input(robot, 0, obs.data(), sizeof(obs)), LEAPP_OK);
    EXPECT_EQ(leapp_tick(robot), LEAPP_OK);
    return *static_cast<const float*>(leapp_output(robot, 0));
  };
  tick();
  std::vector<std::byte> state(leapp_state_bytes(robot) + 1, std::byte{0xA5});
  EXPECT_GT(state.size(), 1 + 2 * sizeof(obs));  // the position, in addition to the feedback
  ASSERT_EQ(leapp_get_state(robot, state.data(), state.size() - 1), LEAPP_OK);
  EXPECT_EQ(state.back(), std::byte{0xA5});
  const float next = tick();
  EXPECT_EQ(leapp_set_state(robot, state.data(), state.size() - 1), LEAPP_OK);
  EXPECT_EQ(tick(), next);
}

// Returns the status of a call with a null argument, and its message.
void expect_refused(leapp_status status, const std::string& argument) {
  EXPECT_EQ(status, LEAPP_VALUE);
  EXPECT_EQ(leapp_last_error(), argument + " is null [LP003]");
  EXPECT_STREQ(leapp_last_code(), "LP003");
}

TEST(CTest, NullArgumentsAreRefused) {
  find_libraries();
  TestBundle test;
  add_policy(test);
  const std::string yaml = test.write();
  leapp_manager* robot = nullptr;
  expect_refused(leapp_load(nullptr, nullptr, &robot), "yaml");
  expect_refused(leapp_load(yaml.c_str(), nullptr, nullptr), "out");
  ASSERT_EQ(leapp_load(yaml.c_str(), nullptr, &robot), LEAPP_OK);
  const std::unique_ptr<leapp_manager, decltype(&leapp_free)> owner(robot, leapp_free);
  std::size_t index = 0;
  std::array<float, 8> values{};
  expect_refused(leapp_find_input(robot, nullptr, &index), "name");
  expect_refused(leapp_find_input(robot, "pre/x", nullptr), "input");
  expect_refused(leapp_find_output(robot, nullptr, &index), "name");
  expect_refused(leapp_find_output(robot, "post/y", nullptr), "output");
  expect_refused(leapp_input_info(robot, 0, nullptr, 0), "info");
  expect_refused(leapp_output_info(robot, 0, nullptr, 0), "info");
  expect_refused(leapp_set_input(robot, 0, nullptr, 16), "elements");
  expect_refused(leapp_set_input_value(robot, nullptr, "h", values.data(), 16), "node");
  expect_refused(leapp_set_input_value(robot, "policy", nullptr, values.data(), 16), "input");
  expect_refused(leapp_set_input_value(robot, "policy", "h", nullptr, 16), "elements");
  expect_refused(leapp_get_state(robot, nullptr, sizeof(values)), "state");
  expect_refused(leapp_set_state(robot, nullptr, sizeof(values)), "state");
  expect_refused(leapp_bind_input(robot, 0, nullptr, 16), "elements");
  expect_refused(leapp_bind_output(robot, 0, nullptr, 16), "elements");
  expect_refused(leapp_statistics(robot, nullptr, 0), "out");
  expect_refused(leapp_options_init(nullptr, sizeof(leapp_options)), "options");
  expect_refused(leapp_node_options_init(nullptr, sizeof(leapp_node_options)), "options");
}

TEST(CTest, ANullManagerIsRefused) {
  std::size_t index = 0;
  leapp_tensor_info info{};
  leapp_latency latency{};
  std::array<float, 4> values{};
  expect_refused(leapp_find_input(nullptr, "pre/x", &index), "manager");
  expect_refused(leapp_find_output(nullptr, "post/y", &index), "manager");
  expect_refused(leapp_input_info(nullptr, 0, &info, sizeof(info)), "manager");
  expect_refused(leapp_output_info(nullptr, 0, &info, sizeof(info)), "manager");
  expect_refused(leapp_set_input(nullptr, 0, values.data(), 16), "manager");
  expect_refused(leapp_bind_input(nullptr, 0, values.data(), 16), "manager");
  expect_refused(leapp_bind_output(nullptr, 0, values.data(), 16), "manager");
  expect_refused(leapp_touch(nullptr, 0), "manager");
  expect_refused(leapp_prepare(nullptr, 1), "manager");
  expect_refused(leapp_tick(nullptr), "manager");
  expect_refused(leapp_set_input_value(nullptr, "policy", "h", values.data(), 16), "manager");
  expect_refused(leapp_reset(nullptr), "manager");
  expect_refused(leapp_get_state(nullptr, values.data(), 16), "manager");
  expect_refused(leapp_set_state(nullptr, values.data(), 16), "manager");
  expect_refused(leapp_statistics(nullptr, &latency, sizeof(latency)), "manager");
  EXPECT_EQ(leapp_input_count(nullptr), 0u);
  EXPECT_EQ(leapp_output_count(nullptr), 0u);
  EXPECT_EQ(leapp_input_name(nullptr, 0), nullptr);
  EXPECT_EQ(leapp_output_name(nullptr, 0), nullptr);
  EXPECT_EQ(leapp_output(nullptr, 0), nullptr);
  EXPECT_EQ(leapp_state_bytes(nullptr), 0u);
}

TEST(CTest, LinesOfTheLogGoToTheSink) {
  std::string lines;
  const auto sink = [](void* context, leapp_log_level level, const char* line) {
    *static_cast<std::string*>(context) += std::to_string(level) + " " + line + "\n";
  };
  ASSERT_EQ(leapp_set_log_sink(sink, &lines, LEAPP_LOG_WARNING), LEAPP_OK);
  log(LogLevel::kInfo, "mild");
  log(LogLevel::kWarning, "hot");
  ASSERT_EQ(leapp_set_log_sink(nullptr, nullptr, LEAPP_LOG_WARNING), LEAPP_OK);
  log(LogLevel::kError, "unheard");
  EXPECT_EQ(lines, "2 hot\n");
}

}  // namespace
}  // namespace leapp
