#include "bundle/rule_reporter.h"

namespace leapp {

std::string to_string(const FieldPath& path) {
  std::string text;
  for (const auto& step : path) {
    if (const auto* const index = std::get_if<std::size_t>(&step)) {
      text += "[" + std::to_string(*index) + "]";
    } else {
      if (!text.empty()) text += ".";
      text += std::get<std::string>(step);
    }
  }
  return text;
}

std::string RuleReporter::message(Code code, const FieldPath& path, std::string_view what) const {
  std::string text = locate_(path);
  text.append("[").append(to_string(code)).append("] ");
  if (!path.empty()) text.append(to_string(path)).append(": ");
  return text.append(what);
}

}  // namespace leapp
