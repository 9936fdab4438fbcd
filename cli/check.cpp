#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "text.h"

namespace leapp::cli {
namespace {

struct CheckArguments {
  std::string yaml;
  bool json = false;
  bool files_only = false;
  EngineFlags engine;
};

// The checks, in order; the first fault ends them.
int run_check(const CheckArguments& arguments) {
  nlohmann::ordered_json report = {{"bundle", arguments.yaml}};
  std::vector<std::string> done;
  try {
    const RuntimeOptions options = arguments.engine.options();
    const Bundle bundle = read_bundle(arguments.yaml, options.bundle);
    done.push_back("structure: " + count_text(bundle.models.size(), "node") + ", wires agree");
    verify_files(bundle, options.bundle);
    done.emplace_back("files: every checksum agrees");
    if (!arguments.files_only) {
      InferenceManager manager(arguments.yaml, options);
      // If a node has no model, no model is loaded, and the line of the tick reports it.
      const bool loaded = std::all_of(bundle.models.begin(), bundle.models.end(),
                                      [](const Model& model) { return model.file.has_value(); });
      if (loaded) {
        for (const std::string& line : manager.description()) done.push_back("model: " + line);
      }
      manager.run_policy(manager.get_mock_input());
      done.emplace_back("tick: runs on mock input");
    }
  } catch (const Error& error) {
    if (!arguments.json) {
      for (const std::string& line : done) std::printf("ok    %s\n", line.c_str());
      std::fflush(stdout);
      throw;
    }
    report["ok"] = false;
    report["checked"] = done;
    add_error(report, error);
    std::printf("%s\n", json_text(report).c_str());
    return exit_code(error);
  }
  if (arguments.json) {
    report["ok"] = true;
    report["checked"] = done;
    std::printf("%s\n", json_text(report).c_str());
  } else {
    for (const std::string& line : done) std::printf("ok    %s\n", line.c_str());
  }
  return kDone;
}

}  // namespace

Command add_check(CLI::App& program) {
  const auto arguments = std::make_shared<CheckArguments>();
  CLI::App* app = program.add_subcommand(
      "check", "verify a bundle: structure, wires, checksums, models, one tick on mock input");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  app->add_flag("--files-only", arguments->files_only, "do not load and run the models");
  arguments->engine.add_to(*app);
  arguments->engine.add_no_merge_to(*app);
  app->footer("Example: leapp check walker/walker.yaml");
  return {app, [arguments] { return run_check(*arguments); }};
}

}  // namespace leapp::cli
