#include "leapp/tools/merge.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "text.h"

namespace leapp::cli {

Command add_merge(CLI::App& program) {
  struct Arguments {
    std::string yaml;
    std::string target;
    std::string policy;
    bool json = false;
    EngineFlags engine;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = program.add_subcommand(
      "merge", "write a bundle with one ONNX file that computes a whole tick, with state as ports");
  add_bundle(*app, arguments->yaml);
  app->add_option("directory", arguments->target,
                  "output directory; its last part names the bundle")
      ->required();
  app->add_option("--policy", arguments->policy,
                  "also write this .onnx file for the controllers of mjlab and BeyondMimic");
  add_json(*app, arguments->json);
  arguments->engine.add_to(*app);
  app->footer("Example: leapp merge walker/walker.yaml merged/walker");
  return {app, [arguments] {
            const Bundle merged =
                merge_bundle(arguments->yaml, arguments->target, arguments->engine.options());
            if (!arguments->policy.empty()) {
              write_policy(merged.file, arguments->policy, arguments->engine.options());
            }
            const Model& model = merged.models[0];
            if (arguments->json) {
              nlohmann::ordered_json report = {{"bundle", merged.file.string()}};
              report["model"] = (merged.file.parent_path() / model.file->path).string();
              for (const Port& port : model.inputs) report["inputs"].push_back(port.name);
              for (const Port& port : model.outputs) report["outputs"].push_back(port.name);
              if (!arguments->policy.empty()) report["policy"] = arguments->policy;
              std::printf("%s\n", json_text(report).c_str());
            } else {
              std::printf("wrote %s: %s, %s\n", merged.file.c_str(),
                          count_text(model.inputs.size(), "input").c_str(),
                          count_text(model.outputs.size(), "output").c_str());
              if (!arguments->policy.empty()) std::printf("wrote %s\n", arguments->policy.c_str());
            }
            return kDone;
          }};
}

}  // namespace leapp::cli
