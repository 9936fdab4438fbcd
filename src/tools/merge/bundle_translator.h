// The part of libleapp.so that leapp::translate_bundle() calls. The tools do not link PyTorch.
#pragma once

#include <filesystem>

#include "leapp/tools/translate.h"

namespace leapp {

/// Implementation of translate_bundle().
struct BundleTranslator {
  const char* version;  ///< LEAPP_VERSION; both libraries must be of the same version
  BundleTranslation (*translate)(const std::filesystem::path& yaml, const BundleOptions& options);
};

/// Name of the following function in libleapp.so.
inline constexpr const char* kTranslatorSymbol = "leapp_bundle_translator";

}  // namespace leapp

extern "C" LEAPP_EXPORT const leapp::BundleTranslator* leapp_bundle_translator();
