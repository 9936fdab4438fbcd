#include <array>

#include "test_bundle.h"

extern "C" int run_c_program(const char* yaml, char* problem, size_t size);

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

}  // namespace
}  // namespace leapp
