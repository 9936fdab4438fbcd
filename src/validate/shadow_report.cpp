// The results of a shadow run, as text and as data. Separate from the run itself, which needs
// libtorch.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "compare/comparison_json.h"
#include "leapp/log.h"
#include "leapp/trace/shadow.h"

namespace leapp {

bool ShadowReport::passed() const noexcept {
  return std::all_of(nodes.begin(), nodes.end(), [](const ShadowNodeReport& node) {
    return !node.not_compared.empty() || (node.compared > 0 && !node.first);
  });
}

std::string to_string(const ShadowReport& report) {
  std::string text;
  for (const ShadowNodeReport& node : report.nodes) {
    const bool differs = node.first.has_value();
    const bool compared = node.not_compared.empty() && node.compared > 0;
    text += std::string(differs    ? "WRONG "
                        : compared ? "ok    "
                                   : "?     ") +
            printable(node.node) + ": " + std::to_string(node.ticks) + " ticks";
    const auto add = [&](std::uint64_t count, const char* what) {
      if (count > 0) text += ", " + std::to_string(count) + what;
    };
    add(node.differing, " differ");
    add(node.unjudged, " not judged after a difference");
    add(node.abandoned, " begun but not completed");
    add(node.resets, " resets followed");
    if (!node.not_compared.empty()) text += "; not compared: " + printable(node.not_compared);
    if (node.not_compared.empty() && node.ticks == 0) text += "; the program never ran it";
    text += "\n";
    if (!differs) continue;
    const std::string& where = node.first->where;
    text += "      first: " + (where.empty() ? "" : where + ": ") + node.first->text + "\n";
  }
  for (const std::string& node : report.unknown) {
    text += "?     " + printable(node) + ": the bundle has no such node\n";
  }
  return text;
}

std::string to_json(const ShadowReport& report) {
  using Json = nlohmann::ordered_json;
  Json nodes = Json::array();
  for (const ShadowNodeReport& node : report.nodes) {
    Json first;
    if (node.first) {
      first = {{"port", node.first->port},
               {"tick", node.first->tick},
               {"where", node.first->where},
               {"text", node.first->text},
               {"comparison", to_json(node.first->comparison)}};
    }
    nodes.push_back({{"node", node.node},
                     {"ticks", node.ticks},
                     {"compared", node.compared},
                     {"differing", node.differing},
                     {"unjudged", node.unjudged},
                     {"abandoned", node.abandoned},
                     {"resets", node.resets},
                     {"not_compared", node.not_compared},
                     {"first", std::move(first)}});
  }
  const Json whole = {
      {"passed", report.passed()}, {"nodes", std::move(nodes)}, {"unknown", report.unknown}};
  return whole.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace leapp
