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
      "replay the golden traces of a bundle on this machine: first each node, then the pipeline");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  arguments->engine.add_to(*app);
  arguments->engine.add_no_merge_to(*app);
  app->footer(
      "compile_graph(golden=N) writes the traces. Exits with 1 if a value differs from them by "
      "more\nthan the recorded tolerance.\nExample: leapp verify walker/walker.yaml");
  return {app, [arguments] { return run_verify(*arguments); }};
}

}  // namespace leapp::cli
