#include "leapp/tools/build.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "commands.h"
#include "text.h"

namespace leapp::cli {
namespace {

struct BuildArguments {
  std::string yaml;
  std::string compiler;
  std::string flags;
  std::string folder;
  std::string source;
  bool json = false;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), std::istream_iterator<std::string>()};
}

int write_source(const BuildArguments& arguments) {
  const std::filesystem::path header = write_policy_source(arguments.yaml, arguments.source);
  if (arguments.json) {
    std::printf("%s\n", json_text({{"header", header.string()}}).c_str());
  } else {
    std::printf("wrote %s\n", header.c_str());
  }
  return kDone;
}

int compile(const BuildArguments& arguments) {
  const NativeBuild built = build_native(arguments.yaml, {.compiler = arguments.compiler,
                                                          .flags = words_of(arguments.flags),
                                                          .folder = arguments.folder});
  if (arguments.json) {
    const nlohmann::ordered_json report = {{"library", built.library.string()},
                                           {"record", built.record.string()},
                                           {"compiler", built.compiler},
                                           {"target", built.target},
                                           {"nodes", built.nodes}};
    std::printf("%s\n", json_text(report).c_str());
  } else {
    std::printf("built %s: %s for %s by %s\n", built.library.c_str(),
                count_text(built.nodes.size(), "node").c_str(), built.target.c_str(),
                built.compiler.c_str());
  }
  return kDone;
}

}  // namespace

Command add_build(CLI::App& program) {
  const auto arguments = std::make_shared<BuildArguments>();
  CLI::App* app = program.add_subcommand(
      "build",
      "compile the C++ nodes of a bundle into a library next to it, or write the sources "
      "of the whole policy");
  add_bundle(*app, arguments->yaml);
  auto* compiler = app->add_option(
      "--cxx", arguments->compiler,
      "the compiler, for example a cross compiler (default: $CXX, c++, g++ or clang++)");
  auto* flags = app->add_option("--flags", arguments->flags,
                                "additional compiler flags, as one argument: \"-march=native\"");
  auto* folder = app->add_option("--out", arguments->folder,
                                 "where to write the library (default: the bundle's directory)");
  app->add_option("--source", arguments->source,
                  "write the policy as a C++ class into this directory; compile nothing")
      ->excludes(compiler)
      ->excludes(flags)
      ->excludes(folder);
  add_json(*app, arguments->json);
  app->footer(
      "Example: leapp build walker/walker.yaml && leapp run walker/walker.yaml "
      "--allow-native");
  return {app, [arguments] {
            return arguments->source.empty() ? compile(*arguments) : write_source(*arguments);
          }};
}

}  // namespace leapp::cli
