#include <cstdio>

#include "commands.h"

namespace leapp::cli {
namespace {

struct VerifyArguments {
  std::string yaml;
  bool json = false;
  EngineFlags engine;
};

int run_verify(const VerifyArguments& arguments) {
  const InferenceManager manager(arguments.yaml, arguments.engine.options());
  const Verification verification = manager.verify();
  std::printf("%s%s", (arguments.json ? to_json(verification) : to_string(verification)).c_str(),
              arguments.json ? "\n" : "");
  return verification.passed() ? kDone : kWrong;
}

}  // namespace

Command add_verify(CLI::App& program) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* app = program.add_subcommand(
      "verify",
      "replay the golden traces of a bundle on this machine: each node, then the pipeline");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  arguments->engine.add_to(*app);
  arguments->engine.add_no_merge_to(*app);
  app->footer(
      "The traces are ticks that compile_graph(golden=N) kept. Exits with 1 when a value is "
      "further "
      "from them\nthan the tolerance they come with.\nExample: leapp verify walker/walker.yaml");
  return {app, [arguments] { return run_verify(*arguments); }};
}

}  // namespace leapp::cli
