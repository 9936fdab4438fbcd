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

}  // namespace
}  // namespace leapp
