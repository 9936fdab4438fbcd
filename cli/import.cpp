#include "leapp/tools/import.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "leapp/log.h"
#include "text.h"

namespace leapp::cli {
namespace {

// Splits "key=value"; the value may contain more '='.
std::pair<std::string, std::string> setting_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error(Code::kCommandLine, "--set '" + text + "' is not of the form KEY=VALUE");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

Command add_import(CLI::App& program) {
  struct Arguments {
    std::string model;
    std::string target;
    std::string deploy;
    std::vector<std::string> settings;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = program.add_subcommand(
      "import", "convert a policy that another project exported as ONNX to a bundle");
  app->add_option("model", arguments->model, "the .onnx file")->required();
  app->add_option("-o,--output", arguments->target,
                  "output directory; its last part names the bundle")
      ->required();
  app->add_option(
      "--deploy", arguments->deploy,
      "unitree_rl_lab's deploy.yaml or rl_sar's config.yaml (default: the model's metadata)");
  app->add_option("--set", arguments->settings,
                  "KEY=VALUE, adds or replaces a key of the description")
      ->allow_extra_args(false);
  add_json(*app, arguments->json);
  app->footer(
      "Reads the metadata of mjlab, BeyondMimic, holosoma and Exploy.\n"
      "Example: leapp import policy.onnx -o out/walker --set frequency=50");
  return {app, [arguments] {
            ImportOptions options;
            options.deploy = arguments->deploy;
            for (const std::string& text : arguments->settings) {
              options.settings.push_back(setting_of(text));
            }
            const ImportedPolicy policy = import_onnx(arguments->model, arguments->target, options);
            if (arguments->json) {
              const nlohmann::ordered_json report = {{"bundle", policy.bundle.file.string()},
                                                     {"format", policy.format},
                                                     {"notes", policy.notes}};
              std::printf("%s\n", json_text(report).c_str());
            } else {
              std::printf("wrote %s, from %s\n", policy.bundle.file.c_str(), policy.format.c_str());
              for (const std::string& note : policy.notes)
                std::printf("note: %s\n", printable(note).c_str());
            }
            return kDone;
          }};
}

}  // namespace leapp::cli
