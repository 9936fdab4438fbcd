// The prefix of backends in bundles that older readers would compute wrongly: B41.
//
// NVIDIA's leapp 0.7.2 ignores keys that it does not know, so it would run every node of a schedule
// in every tick, and leave noise at zero. It does refuse a backend that it does not know.
#pragma once

#include <algorithm>
#include <string_view>
#include <variant>

#include "bundle/metadata_reader.h"
#include "leapp/bundle.h"

namespace leapp {

/// Start of `backend` in the YAML of such a bundle. Model::backend is without it.
inline constexpr std::string_view kBackendPrefix = "leapp/";

/// Returns whether the runtime fills this input with random numbers: its kind is `noise`, and its
/// field `noise` states a distribution.
inline bool is_noise(const Port& input) {
  const Metadata* const noise = find_key(input.semantics.extra, "noise");
  return input.semantics.kind == "noise" && noise != nullptr &&
         std::holds_alternative<Metadata::Map>(noise->value);
}

/// Returns the reason why backends of this bundle need the prefix, as a noun; null if they do not.
inline const char* find_need_of_prefix(const Bundle& bundle) {
  if (!bundle.pipeline.schedule.empty()) return "a schedule";
  const auto has_noise = [](const Model& model) {
    return std::any_of(model.inputs.begin(), model.inputs.end(), is_noise);
  };
  return std::any_of(bundle.models.begin(), bundle.models.end(), has_noise) ? "a noise port"
                                                                            : nullptr;
}

}  // namespace leapp
