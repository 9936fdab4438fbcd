#include "build/source_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "base/check.h"
#include "base/temporary_folder.h"

extern char** environ;

namespace leapp {
namespace {

constexpr const char* kNoneThere =
    "there is no C++ compiler. Install one ('apt-get install g++'), or name it with CXX";

bool is_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// Runs the compiler with its output in a file. Returns its exit status, or -1 if it did not start.
int run_program(const std::vector<std::string>& words, const std::filesystem::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int started =
      posix_spawnp(&process, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (started != 0) return -1;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  constexpr int kNotStarted = 127;  // posix_spawn() does not report this under qemu
  return WIFEXITED(status) && WEXITSTATUS(status) != kNotStarted ? WEXITSTATUS(status) : -1;
}

std::string first_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  constexpr std::size_t kMost = 2000;
  if (text.size() > kMost) text = text.substr(0, kMost) + "..";
  return text;
}

}  // namespace

std::string find_compiler() {
  const char* chosen = std::getenv("CXX");
  if (chosen != nullptr && *chosen != '\0' && is_program(chosen)) return chosen;
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (is_program(name)) return name;
  }
  return {};
}

std::string ask_compiler(const std::string& compiler, const std::string& option) {
  require(!compiler.empty(), Code::kNoCompiler, kNoneThere);
  const TemporaryFolder folder;
  const std::filesystem::path output = folder.path() / "said";
  const int status = run_program({compiler, option}, output);
  const std::string said = first_lines(output);
  require(status == 0, Code::kNoCompiler,
          "the compiler '" + compiler + "' could not be run; name another one with --cxx or CXX");
  return said;
}

void compile_sources(const std::vector<std::filesystem::path>& sources,
                     const std::filesystem::path& library, const CompileCommand& command) {
  const std::string compiler = command.compiler.empty() ? find_compiler() : command.compiler;
  require(!compiler.empty(), Code::kNoCompiler, kNoneThere);
  std::vector<std::string> words = {compiler, "-std=c++20", "-shared", "-fPIC"};
  words.insert(words.end(), command.flags.begin(), command.flags.end());
  words.insert(words.end(), {"-o", library.string()});
  for (const std::filesystem::path& source : sources) words.push_back(source.string());
  const std::filesystem::path output = library.string() + ".log";
  const int status = run_program(words, output);
  const std::string said = first_lines(output);
  std::error_code ignored;
  std::filesystem::remove(output, ignored);
  require(status >= 0, Code::kNoCompiler, "the compiler '" + compiler + "' could not be run");
  require(status == 0, Code::kNoCompiler,
          "'" + compiler + "' failed on " + sources.front().filename().string() + ": " + said);
}

}  // namespace leapp
