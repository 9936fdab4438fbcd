#include "leapp/tools/replay.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "leapp/log.h"
#include "text.h"

namespace leapp::cli {
namespace {

struct ReplayArguments {
  std::string recording;
  std::string yaml;
  bool json = false;
  Tolerance tolerance = ReplayOptions{}.tolerance;
  std::string policy;
  EngineFlags engine;
};

int run_replay(const ReplayArguments& arguments) {
  const ReplayOptions options{arguments.engine.options(), arguments.tolerance, arguments.policy};
  const ReplayReport report = replay(arguments.recording, arguments.yaml, options);
  const auto& difference = report.difference;
  if (arguments.json) {
    nlohmann::ordered_json json = {{"ok", !difference.has_value()}, {"ticks", report.ticks}};
    if (difference) {
      json["difference"] = {{"tick", difference->tick},
                            {"port", difference->port},
                            {"element", difference->element},
                            {"recorded", difference->recorded},
                            {"computed", difference->computed}};
    }
    std::printf("%s\n", json_text(json).c_str());
  } else if (difference) {
    std::printf("tick %llu: %s[%zu] was %.9g, and is %.9g now\n",
                static_cast<unsigned long long>(difference->tick),
                printable(difference->port).c_str(), difference->element, difference->recorded,
                difference->computed);
  } else {
    std::printf("%s of the policy answered as recorded\n",
                count_text(static_cast<std::size_t>(report.ticks), "tick").c_str());
  }
  return difference ? kWrong : kDone;
}

}  // namespace

Command add_replay(CLI::App& program) {
  const auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* app = program.add_subcommand(
      "replay", "replay a recording of a controller, and report the first value that differs");
  app->add_option("recording", arguments->recording, "the .mcap file of a controller")->required();
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  app->add_option("--rtol", arguments->tolerance.rtol, "relative tolerance")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--atol", arguments->tolerance.atol, "absolute tolerance")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app->add_option("--policy", arguments->policy, "the policy of a supervisor's recording");
  arguments->engine.add_to(*app);
  arguments->engine.add_no_merge_to(*app);
  app->footer("Example: leapp replay run.mcap walker/walker.yaml");
  return {app, [arguments] { return run_replay(*arguments); }};
}

}  // namespace leapp::cli
