// Each call of LEAPP that can fail fails once while a bundle is loaded, runs and is recorded. The
// result is a clear error or the right value: no crash, no hang, no leak.
//
// LEAPP_LONG runs the whole sweep (make test-long); otherwise a seeded tenth of it runs.
// Calls of other libraries do not fail here; see docs/explanation/assurance.md.
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "../core/controller/supervisor_bench.h"
#include "base/temporary_folder.h"
#include "bundle/golden_traces.h"
#include "bundle/safetensors.h"
#include "bundle/staging.h"
#include "bundle/verified_files.h"
#include "faults.h"
#include "leapp/c.h"
#include "leapp/log.h"
#include "leapp/tools/replay.h"
#include "residue.h"

namespace leapp {
namespace {

using test::Residue;
using testing::PolicyBench;
using testing::SupervisorBench;

// One use of the runtime, from loading to the end. Returns the computed values.
using Scenario = std::function<std::string()>;

// The outcome of a run: its result, or its error.
struct Outcome {
  std::string value;
  std::string error;
  bool is_clear = true;  // an Error, or std::bad_alloc
};

Outcome run(const Scenario& scenario) {
  try {
    return {scenario(), {}, true};
  } catch (const Error& error) {
    return {{}, error.what(), error.code() != Code::kInternal};
  } catch (const std::bad_alloc&) {
    return {{}, "std::bad_alloc", true};
  } catch (const std::exception& error) {
    return {{}, error.what(), false};
  }
}

class SweepTest : public ::testing::TestWithParam<test::Fault> {
 protected:
  void sweep(const Scenario& scenario) {
    const test::Fault fault = GetParam();
    run(scenario);  // allocations that a process makes once
    const Outcome expected = run(scenario);
    ASSERT_EQ(expected.error, "");
    test::arm(fault, ~std::size_t{0});
    run(scenario);
    const std::size_t calls = test::calls_seen();
    test::disarm();
    const bool whole = std::getenv("LEAPP_LONG") != nullptr;
    std::mt19937 random(20261118);
    std::uniform_int_distribution<int> tenth(0, 9);
    std::size_t tried = 0;
    for (std::size_t i = 0; i < calls; ++i) {
      const bool chosen = tenth(random) == 0 || calls <= 20;
      if (!whole && !chosen) continue;
      ++tried;
      Attempt attempt = attempt_with(scenario, expected.value, i);
      // Memory that an error path allocates once per process is not a leak: the second run must
      // allocate none.
      if (!attempt.leaves_nothing) attempt = attempt_with(scenario, expected.value, i);
      SCOPED_TRACE(std::string(test::kFaultNames[static_cast<std::size_t>(fault)]) + " " +
                   std::to_string(i) + " of " + std::to_string(calls) + ": " +
                   attempt.error.data());
      EXPECT_TRUE(attempt.is_clear);
      EXPECT_TRUE(attempt.is_right);
      EXPECT_TRUE(attempt.leaves_nothing);
      if (HasFailure()) break;
    }
    RecordProperty("calls", static_cast<int>(calls));
    RecordProperty("failed", static_cast<int>(tried));
    const Outcome afterwards = run(scenario);
    EXPECT_EQ(afterwards.value, expected.value) << afterwards.error;
  }

  // Checks the outcome of a run in which call `index` failed.
  struct Attempt {
    std::array<char, 300> error{};
    bool is_clear = false;
    bool is_right = false;
    bool leaves_nothing = false;
  };

  static Attempt attempt_with(const Scenario& scenario, const std::string& expected,
                              std::size_t index) {
    Attempt attempt;
    const Residue before = Residue::now();
    test::arm(GetParam(), index);
    {
      const Outcome outcome = run(scenario);
      const bool failed = test::disarm();
      attempt.is_clear = outcome.is_clear && (failed || outcome.error.empty());
      attempt.is_right = !outcome.error.empty() || outcome.value == expected;
      outcome.error.copy(attempt.error.data(), attempt.error.size() - 1);
    }
    attempt.leaves_nothing = Residue::now() == before;
    return attempt;
  }

  // A policy with a state and an engine of this test, so only LEAPP's own calls can fail.
  static void fill(PolicyBench& bench) {
    const Port q = testing::named_port("q", "state/joint/position", {"hip", "knee"});
    const Port action = testing::named_port("action", "target/joint/position", {"hip", "knee"});
    bench.inputs = {q};
    bench.outputs = {action};
    bench.add_state("h", 2);
    bench.policy = [](auto in, auto out) {
      for (std::size_t i = 0; i < 2; ++i) {
        out[0][i] = in[0][i] + in[1][i];
        out[1][i] = out[0][i] / 2;
      }
      return true;
    };
    bench.robot.sensors = {
        {.name = "q", .kind = q.semantics.kind.value(), .elements = {"hip", "knee"}}};
    bench.robot.actuators = {
        {.name = "target", .kind = action.semantics.kind.value(), .elements = {"hip", "knee"}}};
  }

  void SetUp() override { former_ = set_log_sink({}); }
  void TearDown() override { set_log_sink(former_); }

  LogSink former_;
};

INSTANTIATE_TEST_SUITE_P(
    Faults, SweepTest,
    ::testing::Values(test::Fault::kAllocation, test::Fault::kOpen, test::Fault::kRead,
                      test::Fault::kWrite, test::Fault::kMap, test::Fault::kSync,
                      test::Fault::kRename, test::Fault::kLink, test::Fault::kThread),
    [](const auto& each) { return test::kFaultNames[static_cast<std::size_t>(each.param)]; });

// Reads a file with calls that never fail here.
std::string content_of(const std::filesystem::path& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"),
                                                             &std::fclose);
  std::array<char, 100> text{};
  return file ? std::string(text.data(), std::fread(text.data(), 1, text.size(), file.get())) : "";
}

// Returns the values of a tick as text.
std::string text_of(std::span<const float> values) {
  std::string text;
  for (const float value : values) text += std::to_string(value) + " ";
  return text;
}

TEST_P(SweepTest, AManagerLoadsTicksAndWritesATimeline) {
  PolicyBench bench;
  fill(bench);
  const std::filesystem::path yaml = bench.write();
  const RuntimeOptions options = bench.controller_options().runtime;
  sweep([&] {
    InferenceManager manager(yaml, options);
    manager.trace_to(bench.folder() / "loop.pftrace");
    const InputPort q = manager.input_port("pi/q");
    const OutputPort action = manager.output_port("pi/action");
    std::string values;
    for (int tick = 0; tick < 3; ++tick) {
      manager.set_input(q, std::array{1.F, 2.F}).value();
      manager.tick().value();
      values += text_of(manager.output(action).values<float>());
    }
    manager.trace_to({});
    manager.set_state(manager.state());
    return values;
  });
}

TEST_P(SweepTest, AControllerRunsAndRecords) {
  PolicyBench bench;
  fill(bench);
  bench.options.recording = bench.folder() / "run.mcap";
  const std::filesystem::path yaml = bench.write();
  const ControllerOptions options = bench.controller_options();
  sweep([&] {
    bench.now = std::chrono::nanoseconds(0);
    Controller controller(yaml, bench.robot, options);
    controller.start();
    std::string values;
    for (int tick = 0; tick < 4; ++tick) {
      controller.set_sensor(0, std::array{1.0, 2.0}).value();
      controller.update();
      bench.now += std::chrono::milliseconds(10);
      for (const double value : controller.actuator_values(0)) {
        values += std::to_string(value) + " ";
      }
    }
    return values;
  });
}

TEST_P(SweepTest, ASupervisorSwitchesAndRecords) {
  SupervisorBench bench;
  bench.options.recording = bench.policies[0].folder() / "run.mcap";
  const Supervision supervision = bench.write();
  const ControllerOptions options = bench.controller_options();
  sweep([&] {
    bench.now = std::chrono::nanoseconds(0);
    Supervisor supervisor(supervision, bench.robot, options);
    supervisor.start();
    std::string values;
    for (int tick = 0; tick < 4; ++tick) {
      if (tick == 2) supervisor.request(1).value();
      bench.tick(supervisor);
      values += std::to_string(supervisor.actuator_values(0)[0]) + " ";
    }
    return values + std::to_string(supervisor.switches().size());
  });
}

TEST_P(SweepTest, ALargeFileIsMappedOrRefused) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "weights";
  write_bytes(path, std::string(10'000, 'w'));
  sweep([&] {
    const FileBytes file = FileBytes::mapped(path);
    file.require_unchanged();
    return std::to_string(file.bytes().size()) + static_cast<char>(file.bytes().back());
  });
}

TEST_P(SweepTest, AnExportReplacesTheFormerOneOrLeavesIt) {
  // An iterator over a directory of libstdc++ ends the process if it finds no memory.
  if (GetParam() == test::Fault::kAllocation) GTEST_SKIP();
  const TemporaryFolder folder;
  const std::filesystem::path target = folder.path() / "w";
  const auto content = [&] { return content_of(target / "w.yaml"); };
  const auto replace = [&](const std::string& with) {
    StagedDirectory staged(target);
    write_bytes(staged.path() / "w.yaml", with);
    staged.commit();
  };
  replace("former");
  write_bytes(target / "notes.txt", "of the user");  // carried over
  int exports = 0;
  sweep([&] {
    const std::string former = content();
    const std::string next = "export " + std::to_string(++exports);
    try {
      replace(next);
    } catch (...) {
      const std::string left = content();
      if (left != former && left != next) return "a part: " + left;
      throw;
    }
    return std::string(content() == next ? "replaced" : "not replaced");
  });
}

TEST_P(SweepTest, ACallOfTheCInterfaceFailsWithAStatus) {
  PolicyBench bench;
  fill(bench);
  const std::filesystem::path yaml = bench.write();
  sweep([&]() -> std::string {
    leapp_options options;
    leapp_manager* robot = nullptr;
    if (leapp_options_init(&options, sizeof options) != LEAPP_OK) return "options";
    // "a function" is not an ONNX model, so the expected result is an error with a code.
    const leapp_status status = leapp_load(yaml.c_str(), &options, &robot);
    leapp_free(robot);
    if (status == LEAPP_OK || leapp_last_code()[0] == '\0') return "no error";
    return "refused";
  });
}

}  // namespace
}  // namespace leapp
