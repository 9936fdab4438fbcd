// Structs of the C interface, whose callers may have been compiled with other versions of them.
#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "bundle/golden_traces.h"
#include "leapp/c.h"
#include "test_bundle.h"

extern "C" {
// c_sizes.c, compiled against this version of the header and against two other versions.
int run_c_sizes(const char* yaml, char* problem, size_t size);
int run_c_sizes_older(const char* yaml, char* problem, size_t size);
int run_c_sizes_newer(const char* yaml, char* problem, size_t size);
}

namespace leapp {
namespace {

using namespace leapp::testing;

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

TEST(COptionsTest, OptionsThatWereNotInitialisedAreRefused) {
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

TEST(COptionsTest, TheLimitOnTensorsCanBeSet) {
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

TEST(COptionsTest, ACallerMayHaveSmallerOrLargerStructs) {
  find_libraries();
  TestBundle test;
  const std::string yaml = write_with_golden(test);
  for (const auto caller : {run_c_sizes, run_c_sizes_older, run_c_sizes_newer}) {
    std::array<char, 1024> problem{};
    EXPECT_EQ(caller(yaml.c_str(), problem.data(), problem.size()), 0) << problem.data();
  }
}

}  // namespace
}  // namespace leapp
