#include "leapp/tools/view.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "leapp/log.h"
#include "pages.h"
#include "text.h"

extern char** environ;

namespace leapp::cli {
namespace {

struct ViewArguments {
  std::string yaml;
  std::string out;
  std::string bench;
  std::string recording;
  std::string policy;
  std::string robot;
  bool no_open = false;
  bool json = false;
};

// Opens the desktop's browser, if there is a desktop.
bool open_page(const std::string& file) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  std::string program = "xdg-open";
  std::string page = file;
  char* const arguments[] = {program.data(), page.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ) != 0) {
    return false;
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run_view(const ViewArguments& arguments) {
  ViewOptions options;  // inspecting allocates no tensors
  options.bundle.max_tensor_bytes = std::numeric_limits<std::uint64_t>::max();
  options.bench = arguments.bench;
  options.recording = arguments.recording;
  options.policy = arguments.policy;
  options.robot = arguments.robot;
  const std::string file = arguments.out.empty()
                               ? std::filesystem::path(arguments.yaml).stem().string() + ".html"
                               : arguments.out;
  save_page(view_page(arguments.yaml, options), file);
  const bool opened = !arguments.no_open && open_page(file);
  if (arguments.json) {
    std::printf("%s\n", json_text({{"page", file}, {"opened", opened}}).c_str());
  } else {
    std::printf("%s%s\n", printable(file).c_str(), opened ? " (opened)" : "");
  }
  return kDone;
}

}  // namespace

void save_page(const std::string& page, const std::string& file) {
  std::ofstream stream(file, std::ios::binary);
  stream << page;
  stream.close();
  if (!stream) throw Error(Code::kIo, "could not write " + file);
}

Command add_view(CLI::App& program) {
  const auto arguments = std::make_shared<ViewArguments>();
  CLI::App* app =
      program.add_subcommand("view", "write one HTML page that shows a bundle, and open it");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  app->add_option("--out", arguments->out,
                  "the page to write (default: NAME.html in the working directory)");
  app->add_flag("--no-open", arguments->no_open, "do not open the page");
  app->add_option("--bench", arguments->bench,
                  "show latencies from the output of leapp bench --json");
  app->add_option("--recording", arguments->recording,
                  "show a recording of a controller, an .mcap file");
  app->add_option("--policy", arguments->policy, "the policy of a supervisor's recording");
  app->add_option("--robot", arguments->robot,
                  "show the binding to a robot, given by its .yaml file");
  app->footer("Example: leapp view walker/walker.yaml --robot robot.yaml");
  return {app, [arguments] { return run_view(*arguments); }};
}

}  // namespace leapp::cli
