// leapp: inspects, checks, verifies, runs, measures, builds, merges, translates, imports and
// compares bundles, binds them to a robot, replays recordings and explains errors. Needs neither
// Python nor PyTorch, except for translate.
#include <cstdio>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "commands.h"
#include "leapp/log.h"
#include "text.h"

namespace leapp::cli {

void EngineFlags::add_to(CLI::App& app) {
  app.add_option("--threads", threads, "threads inside one operator; 0: the engine decides")
      ->capture_default_str();
  app.add_option("--affinity", affinity, "one processor for each additional thread")
      ->delimiter(',');
  app.add_flag("--spinning", spinning, "idle threads keep a core busy, for a shorter latency");
  app.add_option("--provider", provider, "cpu, cuda, ..: where models run");
  app.add_flag("--no-translate", no_translate, "run TorchScript in libtorch, not in ONNX Runtime");
  app.add_flag("--allow-outside-files", allow_outside_files,
               "allow model files outside the bundle's directory");
  app.add_option("--noise-seed", noise_seed, "seed of the noise ports")->capture_default_str();
  add_trust_to(app);
}

void EngineFlags::add_trust_to(CLI::App& app) {
  app.add_flag("--trust-code", trust_code,
               "allow models that contain executable code; use it only if you trust the author");
  app.add_flag("--allow-native", allow_native,
               "run the libraries that 'leapp build' compiled from C++ nodes");
  app.add_option("--max-tensor-bytes", max_tensor_bytes, "limit for the tensors of one tick")
      ->capture_default_str();
}

void EngineFlags::add_no_merge_to(CLI::App& app) {
  app.add_flag("--no-merge", no_merge, "do not merge nodes");
}

RuntimeOptions EngineFlags::options() const {
  RuntimeOptions options;
  options.engine.threads = threads;
  options.engine.affinity = affinity;
  options.engine.spinning = spinning;
  options.engine.provider = provider;
  options.engine.translate = !no_translate;
  options.merge = no_merge ? Merge::kOff : Merge::kAuto;
  options.bundle.allow_outside_files = allow_outside_files;
  options.bundle.trust = trust_code ? Trust::kCode : Trust::kData;
  options.bundle.allow_native = allow_native;
  options.bundle.max_tensor_bytes = max_tensor_bytes;
  options.noise_seed = noise_seed;
  return options;
}

void add_bundle(CLI::App& app, std::string& yaml) {
  app.add_option("bundle", yaml, "the .yaml file of a bundle")->required();
}

void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print one JSON object instead of text");
}

int exit_code(const Error& error) {
  switch (error.code()) {
    case Code::kRuntimeOptions:
    case Code::kCommandLine:
      return kUsage;
    case Code::kNoEngine:
    case Code::kWrongEngine:
    case Code::kNoProvider:
    case Code::kNoCompiler:
    case Code::kNotBuilt:
    case Code::kStaleBuild:
      return kLacking;
    default:
      return kWrong;
  }
}

void add_error(nlohmann::ordered_json& report, const Error& error) {
  report["error"] = error.what();
  report["code"] = to_string(error.code());
  report["exit_code"] = exit_code(error);
}

namespace {

constexpr const char* kExitCodes =
    "Exit codes: 0 success; 1 the bundle is invalid, or a tick failed or differs from the "
    "trace;\n2 the command line is invalid; 3 this machine lacks something that the bundle needs "
    "(ONNX\nRuntime, libtorch, an execution provider, a compiler); 4 too slow (bench --strict);\n5 "
    "different (diff).";

// The parser would only report that a subcommand is required.
std::string unknown_first_word(int argc, char** argv, const std::vector<Command>& commands) {
  if (argc < 2) return {};
  const std::string word = argv[1];
  for (const char* option : {"--help", "-h", "--version"}) {
    if (word == option) return {};
  }
  std::string names;
  for (const Command& command : commands) {
    if (command.app->get_name() == word) return {};
    names += (names.empty() ? "" : ", ") + command.app->get_name();
  }
  constexpr std::size_t kMostShown = 80;
  return std::string(word.starts_with('-') ? "unknown option '" : "unknown command '") +
         printable(word.substr(0, kMostShown)) + (word.size() > kMostShown ? ".." : "") +
         "'; the commands are: " + names + " (leapp --help)";
}

// If one JSON object was requested, a failure is printed as one too.
int say_failure(const Command& command, const Error& error) {
  const CLI::Option* json = command.app->get_option_no_throw("--json");
  if (json != nullptr && json->count() > 0) {
    nlohmann::ordered_json report = {{"ok", false}};
    add_error(report, error);
    std::printf("%s\n", json_text(report).c_str());
  } else {
    std::fprintf(stderr, "leapp: %s\n", error.what());
  }
  return exit_code(error);
}

int main(int argc, char** argv) {
  set_log_sink(
      [](LogLevel, std::string_view line) {
        std::fprintf(stderr, "leapp: warning: %.*s\n", static_cast<int>(line.size()), line.data());
      },
      LogLevel::kWarning);
  CLI::App program(
      "Inspect, compare, check, verify, run, measure, build, merge and translate exported policy "
      "pipelines, "
      "bind them to a robot, replay recordings, and import policies of other projects.",
      "leapp");
  program.set_version_flag("--version", "leapp " LEAPP_VERSION);
  program.require_subcommand(1);
  program.footer(kExitCodes);
  std::vector<Command> commands;
  for (const auto add :
       {add_inspect, add_view, add_diff, add_check, add_verify, add_run, add_bench, add_build,
        add_merge, add_translate, add_import, add_bind, add_replay, add_explain, add_completion}) {
    commands.push_back(add(program));
    commands.back().app->footer(commands.back().app->get_footer() + "\n\n" + kExitCodes);
  }
  if (const std::string unknown = unknown_first_word(argc, argv, commands); !unknown.empty()) {
    std::fprintf(stderr, "leapp: %s\n", unknown.c_str());
    return kUsage;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return program.exit(error) == 0 ? kDone : kUsage;
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    try {
      const int code = command.run();
      if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        return say_failure(command, Error(Code::kIo, "standard output could not be written"));
      }
      return code;
    } catch (const Error& error) {
      return say_failure(command, error);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      return say_failure(command, Error(Code::kInternal, error.what()));
    }
  }
  return kUsage;
}

}  // namespace
}  // namespace leapp::cli

int main(int argc, char** argv) {
  try {
    return leapp::cli::main(argc, argv);
  } catch (const std::bad_alloc&) {  // reports errors without a request for help
    std::fputs("leapp: out of memory [LP008]\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "leapp: %s [LP001]\n", error.what());
  }
  return leapp::cli::kWrong;
}
