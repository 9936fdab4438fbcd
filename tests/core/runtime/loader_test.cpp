// Loading a bundle into a manager: its files, its nodes, and the options.
#include <gmock/gmock.h>

#include <chrono>
#include <fstream>

#include "leapp/inference_manager.h"
#include "test_bundle.h"

namespace leapp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace leapp::testing;

TEST_F(InferenceManagerTest, ThreadsHaveALimit) {
  test.node("n", "affine.onnx", {port("x")}, {port("y")}).input("n/x").output("n/y");
  const auto yaml = test.write();
  RuntimeOptions options;
  options.engine.threads = 100000;
  EXPECT_THAT(message_of([&] { InferenceManager(yaml, options); }),
              HasSubstr("threads must be at most"));
}

TEST_F(InferenceManagerTest, ChangedModelFileIsRefused) {
  add_policy(test);
  const auto yaml = test.write();
  std::ofstream(test.folder() / "policy.onnx", std::ios::app) << "x";
  EXPECT_THAT(message_of([&] { InferenceManager manager(yaml); }),
              HasSubstr("SHA256 checksum mismatch"));
}

TEST_F(InferenceManagerTest, UnknownBackendIsRefused) {
  add_policy(test);
  test.bundle().models[1].backend = "tflite";
  EXPECT_THAT(message_of([&] { InferenceManager manager(test.write()); }),
              HasSubstr("Unsupported backend"));
}

TEST_F(InferenceManagerTest, MissingFilesAreNotFound) {
  try {
    InferenceManager manager(test.folder() / "none.yaml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("not found"));
  }
}

TEST_F(InferenceManagerTest, ANodeWithoutAModelCanBeInspectedButNotRun) {
  test.node("pre", "", {port("x")}, {port("y")}).input("pre/x").output("pre/y");
  InferenceManager manager(test.write());
  EXPECT_THAT(manager.inputs(), ElementsAre("pre/x"));
  EXPECT_THAT(message_of([&] { manager.run_policy(manager.get_mock_input()); }),
              HasSubstr("node 'pre' was exported without a model (export_with=None"));
  EXPECT_THAT(message_of([&] { manager.prepare(); }), HasSubstr("without a model"));
}

TEST_F(InferenceManagerTest, OptionsThatMakeNoSenseAreRefused) {
  add_policy(test);
  const auto yaml = test.write();
  const auto refusal = [&](const RuntimeOptions& options) {
    return message_of([&] { InferenceManager bad(yaml, options); });
  };
  EXPECT_THAT(refusal({.engine = {.threads = -3}}), ::testing::EndsWith("[LP619]"));
  EXPECT_THAT(refusal({.nodes = {{"pre", {.threads = 2, .affinity = {0, 1, 2}}}}}),
              ::testing::AllOf(::testing::HasSubstr("pre"), ::testing::EndsWith("[LP619]")));
  EXPECT_THAT(refusal({.engine = {.threads = 2, .affinity = {100000}}}),
              HasSubstr("affinity names processor 100000; this machine has 0 to "));
  EXPECT_THAT(refusal({.deadline = std::chrono::nanoseconds(-1)}), ::testing::EndsWith("[LP619]"));
  EXPECT_THAT(refusal({.staleness = {{"pre/x", std::chrono::nanoseconds(-1)}}}),
              ::testing::AllOf(::testing::HasSubstr("pre/x"), ::testing::EndsWith("[LP619]")));
  InferenceManager manager(yaml);
  EXPECT_THAT(message_of([&] { manager.prepare(-1); }), ::testing::EndsWith("[LP003]"));
}

TEST_F(InferenceManagerTest, OptionsForUnknownNodesAreRefused) {
  add_policy(test);
  EXPECT_THAT(message_of([&] {
                InferenceManager manager(test.write(), {.nodes = {{"polcy", {}}}});
              }),
              HasSubstr("options name a node 'polcy'"));
}

}  // namespace
}  // namespace leapp
