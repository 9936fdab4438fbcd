#include "leapp/tools/diff.h"

#include <cstdio>
#include <limits>

#include "commands.h"
#include "leapp/tools/view.h"
#include "pages.h"

namespace leapp::cli {
namespace {

struct DiffArguments {
  std::string before;
  std::string after;
  bool json = false;
  std::string html;
};

int run_diff(const DiffArguments& arguments) {
  ViewOptions options;  // inspecting allocates no tensors
  options.bundle.max_tensor_bytes = std::numeric_limits<std::uint64_t>::max();
  const BundleDiff found = diff(arguments.before, arguments.after, options.bundle);
  if (!arguments.html.empty()) {
    save_page(diff_page(arguments.before, arguments.after, options), arguments.html);
  }
  if (arguments.json) {
    std::printf("%s\n", to_json(found).c_str());
  } else {
    std::fputs(found.same() ? "the bundles are the same\n" : to_string(found).c_str(), stdout);
  }
  return found.same() ? kDone : kDiffers;
}

}  // namespace

Command add_diff(CLI::App& program) {
  const auto arguments = std::make_shared<DiffArguments>();
  CLI::App* app = program.add_subcommand(
      "diff", "compare two bundles: nodes, ports, semantics, wires, and weights by tensor");
  app->add_option("before", arguments->before, "the .yaml file of a bundle")->required();
  app->add_option("after", arguments->after, "the .yaml file of the other bundle")->required();
  add_json(*app, arguments->json);
  app->add_option("--html", arguments->html, "write the page of leapp view with the differences");
  app->footer("Example: leapp diff walker-1/walker.yaml walker-2/walker.yaml");
  return {app, [arguments] { return run_diff(*arguments); }};
}

}  // namespace leapp::cli
