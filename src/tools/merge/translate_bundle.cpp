#include <dlfcn.h>

#include "base/check.h"
#include "leapp/tools/translate.h"
#include "merge/bundle_translator.h"
#include "runtime/open_library.h"

namespace leapp {
namespace {

const BundleTranslator& open_translator() {
  const std::string library = LEAPP_TRACING_LIBRARY;
  std::string tried;
  void* const handle = open_library(library, tried);
  require(handle != nullptr, Code::kNoEngine,
          "translating a bundle needs PyTorch and the tracing part of LEAPP, but " + library +
              " could not be opened; tried:" + tried);
  void* const symbol = dlsym(handle, kTranslatorSymbol);
  const BundleTranslator* const translator =
      symbol == nullptr ? nullptr : reinterpret_cast<decltype(&leapp_bundle_translator)>(symbol)();
  require(translator != nullptr && std::string(translator->version) == LEAPP_VERSION,
          Code::kWrongEngine,
          library + " is of a different version than this one, " + LEAPP_VERSION +
              ": install both from the same release");
  return *translator;
}

}  // namespace

BundleTranslation translate_bundle(const std::filesystem::path& yaml,
                                   const BundleOptions& options) {
  return open_translator().translate(yaml, options);
}

}  // namespace leapp
