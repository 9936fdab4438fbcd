// The commands of `leapp`. Each registers itself with the parser, and runs if it was selected.
//
// Exit codes, the same for all of them:
//   0  done
//   1  the bundle is invalid, or a tick failed or differs from its golden trace
//   2  the command line is invalid
//   3  this machine lacks something that the bundle needs: ONNX Runtime, libtorch, an execution
//   provider, a
//     compiler
//   4  bench only: a tick took longer than the period allows (with --strict)
//   5  diff only: the bundles differ
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "leapp/inference_manager.h"

namespace leapp::cli {

inline constexpr int kDone = 0;
inline constexpr int kWrong = 1;
inline constexpr int kUsage = 2;
inline constexpr int kLacking = 3;
inline constexpr int kTooSlow = 4;
inline constexpr int kDiffers = 5;

/// The maximum number of ticks of one command.
inline constexpr int kMaxTicks = 1'000'000'000;

/// Returns kUsage for a wrong option, kLacking, or kWrong.
int exit_code(const Error& error);

/// Adds "error", "code" and "exit_code" to a report.
void add_error(nlohmann::ordered_json& report, const Error& error);

/// A command. It returns the program's exit code.
using Run = std::function<int()>;

/// A command and its function.
struct Command {
  CLI::App* app = nullptr;
  Run run;
};

Command add_inspect(CLI::App& program);
Command add_check(CLI::App& program);
Command add_run(CLI::App& program);
Command add_bench(CLI::App& program);
Command add_build(CLI::App& program);
Command add_merge(CLI::App& program);
Command add_translate(CLI::App& program);
Command add_import(CLI::App& program);
Command add_bind(CLI::App& program);
Command add_replay(CLI::App& program);
Command add_verify(CLI::App& program);
Command add_view(CLI::App& program);
Command add_diff(CLI::App& program);
Command add_explain(CLI::App& program);
Command add_completion(CLI::App& program);

/// Options shared by the commands that run models.
struct EngineFlags {
  int threads = 1;
  std::vector<int> affinity;
  bool spinning = false;
  std::string provider;
  bool no_merge = false;
  bool no_translate = false;
  bool allow_outside_files = false;
  bool trust_code = false;
  bool allow_native = false;
  std::uint64_t noise_seed = 0;
  std::uint64_t max_tensor_bytes = BundleOptions{}.max_tensor_bytes;

  void add_to(CLI::App& app);
  void add_trust_to(CLI::App& app);     ///< the options that limit a bundle
  void add_no_merge_to(CLI::App& app);  ///< for commands that run more than one step
  RuntimeOptions options() const;
};

/// Adds the bundle's path as first argument, and --json.
void add_bundle(CLI::App& app, std::string& yaml);
void add_json(CLI::App& app, bool& json);

}  // namespace leapp::cli
