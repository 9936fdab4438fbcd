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
// c_sizes.c, compiled against this version of the header and against two other versions.
int run_c_sizes(const char* yaml, char* problem, size_t size);
int run_c_sizes_older(const char* yaml, char* problem, size_t size);
int run_c_sizes_newer(const char* yaml, char* problem, size_t size);
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

TEST(CTest, OptionsThatWereNotInitialisedAreRefused) {
  leapp_manager* robot = nullptr;
  leapp_options options{};
  EXPECT_EQ(leapp_load("nowhere.yaml", &options, &robot), LEAPP_VALUE);
  EXPECT_THAT(leapp_last_error(), ::testing::HasSubstr("options.size is 0"));
  EXPECT_EQ(robot, nullptr);
  EXPECT_EQ(leapp_options_init(&options, 0), LEAPP_VALUE);
  leapp_node_options node{};
  options.nodes = &node;
  options.node_count = 1;
  options.size = sizeof(options);
  EXPECT_EQ(leapp_load("nowhere.yaml", &options, &robot), LEAPP_VALUE);
  EXPECT_THAT(leapp_last_error(), ::testing::HasSubstr("the size of an entry is 0"));
  options.node_size = sizeof(node);
  EXPECT_EQ(leapp_load("nowhere.yaml", &options, &robot), LEAPP_VALUE);
  EXPECT_THAT(leapp_last_error(), ::testing::HasSubstr("entry 0 does not name its node"));
}

TEST(CTest, TheLimitOnTensorsCanBeSet) {
  find_libraries();
  TestBundle test;
  add_policy(test);
  const std::string yaml = test.write();
  leapp_options options;
  leapp_options_init(&options, sizeof(options));
  EXPECT_EQ(options.max_tensor_bytes, std::uint64_t{1} << 30);
  options.max_tensor_bytes = 16;
  leapp_manager* robot = nullptr;
  EXPECT_EQ(leapp_load(yaml.c_str(), &options, &robot), LEAPP_VALUE);
  EXPECT_THAT(leapp_last_error(), ::testing::HasSubstr("max_tensor_bytes"));
}

// Writes one golden tick of add_policy(), for verify().
std::filesystem::path write_with_golden(TestBundle& test) {
  add_policy(test);
  PolicyReference reference;
  const Tensor x = row({1, 1, 1, 1});
  const float y = reference.tick(1);
  const Tensor action = row({y, y, y, y});
  const std::filesystem::path file = test.folder() / "test_golden.safetensors";
  write_safetensors(file, {{"0/inputs/pre/x", x.view()}, {"0/outputs/post/y", action.view()}},
                    GoldenNotes{1, {}, {}, {}}.metadata());
  test.bundle().pipeline.golden = FileEntry{file.filename().string(), "", sha256_file(file)};
  return test.write();
}

TEST(CTest, ACallerMayHaveSmallerOrLargerStructs) {
  find_libraries();
  TestBundle test;
  const std::string yaml = write_with_golden(test);
  for (const auto caller : {run_c_sizes, run_c_sizes_older, run_c_sizes_newer}) {
    std::array<char, 1024> problem{};
    EXPECT_EQ(caller(yaml.c_str(), problem.data(), problem.size()), 0) << problem.data();
  }
}

TEST(CTest, AnIndexOutOfRangeIsSaid) {
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

TEST(CTest, PortsSayWhatTheyMean) {
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

TEST(CTest, InputsAreWrittenInPlaceAndGrowStale) {
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
