#include "runtime/open_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

namespace leapp {
namespace {

// Returns the directory of the library (or program) that contains this code.
std::filesystem::path own_folder() {
  static const char anchor = 0;
  Dl_info info{};
  if (dladdr(&anchor, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return std::filesystem::absolute(info.dli_fname, ignored).parent_path();
}

std::vector<std::string> candidates(const std::string& library) {
  if (library.find('/') != std::string::npos) return {library};
  std::vector<std::string> paths;
  if (const char* folders = std::getenv("LEAPP_ENGINE_PATH")) {
    std::string_view rest = folders;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) paths.push_back((std::filesystem::path(rest.substr(0, end)) / library).string());
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  paths.push_back((own_folder() / library).string());
  paths.push_back(library);
  return paths;
}

// Directories that may contain libtorch, in addition to the system's library path. The search is
// the same as for ONNX Runtime.
std::vector<std::filesystem::path> libtorch_folders() {
  if (const char* root = std::getenv("LIBTORCH_ROOT"); root != nullptr && *root != '\0') {
    return {std::filesystem::path(root) / "lib"};
  }
  std::vector<std::filesystem::path> folders;
  if (const char* environment = std::getenv("VIRTUAL_ENV")) {
    std::error_code ignored;
    const auto library = std::filesystem::path(environment) / "lib";
    for (const auto& entry : std::filesystem::directory_iterator(library, ignored)) {
      folders.push_back(entry.path() / "site-packages/torch/lib");
    }
  }
  return folders;
}

void* open_first(const std::vector<std::string>& paths, std::string& tried) {
  for (const std::string& path : paths) {
    // RTLD_GLOBAL would let symbols of the library's own libraries replace the program's.
    if (void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    tried += "\n  " + std::string(dlerror());
  }
  return nullptr;
}

}  // namespace

void* open_library(const std::string& library, std::string& tried) {
  const std::vector<std::string> paths = candidates(library);
  if (std::getenv("LIBTORCH_ROOT") == nullptr) {
    std::string without_search;  // the last attempt meets the same errors
    if (void* const handle = open_first(paths, without_search)) return handle;
  }
  for (const std::filesystem::path& folder : libtorch_folders()) {
    if (dlopen((folder / "libtorch.so").c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) break;
  }
  return open_first(paths, tried);  // finds the opened libtorch by its name
}

}  // namespace leapp
