#include <dlfcn.h>

#include <string>

#include "base/check.h"
#include "leapp/engine.h"
#include "runtime/open_library.h"

namespace leapp {

const EnginePlugin& open_engine_plugin(const std::string& library) {
  std::string tried;
  void* const handle = open_library(library, tried);
  require(handle != nullptr, Code::kNoEngine,
          "The engine plugin '" + library + "' was not found or could not be opened; tried:" +
              tried + "\nLEAPP_ENGINE_PATH may name the directory that contains it.");
  void* const symbol = dlsym(handle, "leapp_engine_plugin");
  require(symbol != nullptr, Code::kWrongEngine,
          library + " is not a LEAPP engine: it does not export leapp_engine_plugin");
  const EnginePlugin* const plugin = reinterpret_cast<const EnginePlugin* (*)()>(symbol)();
  require(plugin != nullptr && plugin->abi == kEngineAbi, Code::kWrongEngine,
          library + " was built for engine interface " +
              (plugin == nullptr ? std::string("(none)") : std::to_string(plugin->abi)) +
              ", this runtime has " + std::to_string(kEngineAbi) +
              ": install both from the same release");
  return *plugin;
}

}  // namespace leapp
