// The prefix of backends in bundles that older readers would compute wrongly: B41.
//
// NVIDIA's leapp 0.7.2 ignores keys that it does not know, so it would run every node of a schedule
// in every tick, and leave noise at zero. It does refuse a backend that it does not know.
#pragma once

#include <string_view>

#include "bundle/noise_port.h"
#include "leapp/bundle.h"

namespace leapp {

/// Start of `backend` in the YAML of such a bundle. Model::backend is without it.
inline constexpr std::string_view kBackendPrefix = "leapp/";

/// Returns the reason why backends of this bundle need the prefix, as a noun; null if they do not.
inline const char* find_need_of_prefix(const Bundle& bundle) {
  if (!bundle.pipeline.schedule.empty()) return "a schedule";
  return noise_ports(bundle).empty() ? nullptr : "a noise port";
}

}  // namespace leapp
