// Names of ports in a model format whose inputs and outputs share one namespace, such as ONNX.
//
// A name on both sides, such as a state "h", becomes "h_in" and "h_out" in the model and in the
// bundle. Callers may still use "h": a port has its own name and, if no other port has it, the
// annotated name.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace leapp {

inline constexpr std::string_view kInputSuffix = "_in";
inline constexpr std::string_view kOutputSuffix = "_out";

/// Appends the suffixes to each name that inputs and outputs share.
inline void separate_names(std::vector<std::string>& inputs, std::vector<std::string>& outputs) {
  const std::vector<std::string> annotated = inputs;
  for (std::string& input : inputs) {
    if (std::ranges::count(outputs, input) > 0) input += kInputSuffix;
  }
  for (std::string& output : outputs) {
    if (std::ranges::count(annotated, output) > 0) output += kOutputSuffix;
  }
}

/// Returns `find(name)`, or `find(name + suffix)` if the first result is empty (null, or no value).
template <typename Find>
auto find_as_annotated(std::string_view name, std::string_view suffix, Find&& find) {
  std::string key(name);
  auto found = find(key);
  if (!found) found = find(key += suffix);
  return found;
}

}  // namespace leapp
