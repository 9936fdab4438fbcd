#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "leapp/engine.h"

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

}  // namespace

const EnginePlugin& open_engine_plugin(const std::string& library) {
  std::string tried;
  for (const std::string& path : candidates(library)) {
    // RTLD_GLOBAL would let symbols of the plugin's libraries replace the program's own.
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      tried += "\n  " + std::string(dlerror());
      continue;
    }
    void* symbol = dlsym(handle, "leapp_engine_plugin");
    if (symbol == nullptr) {
      throw Error(Code::kWrongEngine,
                  path + " is not a LEAPP engine: it does not export leapp_engine_plugin");
    }
    const EnginePlugin* plugin = reinterpret_cast<const EnginePlugin* (*)()>(symbol)();
    if (plugin == nullptr || plugin->abi != kEngineAbi) {
      throw Error(Code::kWrongEngine,
                  path + " was built for engine interface " +
                      (plugin == nullptr ? std::string("(none)") : std::to_string(plugin->abi)) +
                      ", this runtime has " + std::to_string(kEngineAbi) +
                      ": install both from the same release");
    }
    return *plugin;
  }
  throw Error(Code::kNoEngine, "The engine plugin '" + library +
                                   "' was not found or could not be opened; tried:" + tried +
                                   "\nLEAPP_ENGINE_PATH may name the directory that contains it.");
}

}  // namespace leapp
