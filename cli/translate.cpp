#include "leapp/tools/translate.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "text.h"

namespace leapp::cli {
namespace {

void print(const BundleTranslation& done, const std::string& yaml) {
  for (const NodeTranslation& node : done.nodes) {
    std::printf("%s: %s\n", node.node.c_str(),
                node.left_out.empty() ? "translation added"
                                      : ("stays TorchScript: " + node.left_out).c_str());
  }
  if (done.merged) {
    for (const std::vector<std::string>& group : *done.merged) {
      std::string names;
      for (const std::string& node : group) names += (names.empty() ? "" : ", ") + node;
      std::printf("merged: %s\n", names.c_str());
    }
  }
  std::printf(done.changed ? "wrote %s\n" : "nothing to add to %s\n", yaml.c_str());
}

nlohmann::ordered_json to_report(const BundleTranslation& done, const std::string& yaml) {
  nlohmann::ordered_json report = {{"bundle", yaml}, {"changed", done.changed}};
  report["nodes"] = nlohmann::ordered_json::array();
  for (const NodeTranslation& node : done.nodes) {
    nlohmann::ordered_json entry = {{"node", node.node}, {"translated", node.left_out.empty()}};
    if (!node.left_out.empty()) entry["left_out"] = node.left_out;
    report["nodes"].push_back(std::move(entry));
  }
  if (done.merged) report["merged"] = *done.merged;
  return report;
}

}  // namespace

Command add_translate(CLI::App& program) {
  struct Arguments {
    std::string yaml;
    bool json = false;
    EngineFlags limits;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = program.add_subcommand(
      "translate", "add ONNX translations and merged nodes to a bundle of another exporter");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  arguments->limits.add_trust_to(*app);
  app->footer(
      "Needs PyTorch. Adds only what repeats the results of the bundle on its golden ticks and on\n"
      "made-up inputs. Example: leapp translate walker/walker.yaml");
  return {app, [arguments] {
            const BundleTranslation done =
                translate_bundle(arguments->yaml, arguments->limits.options().bundle);
            if (arguments->json) {
              std::printf("%s\n", json_text(to_report(done, arguments->yaml)).c_str());
            } else {
              print(done, arguments->yaml);
            }
            return kDone;
          }};
}

}  // namespace leapp::cli
