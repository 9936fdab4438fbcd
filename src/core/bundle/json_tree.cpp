#include "bundle/json_tree.h"

#include <nlohmann/json.hpp>

namespace leapp {

nlohmann::ordered_json parse_json(std::string_view text) {
  using Json = nlohmann::ordered_json;
  constexpr int kMostLevels = 100;
  bool too_deep = false;
  const auto keep = [&](int depth, Json::parse_event_t, const Json&) {
    too_deep = too_deep || depth > kMostLevels;
    return !too_deep;
  };
  Json json = Json::parse(text, keep, false);
  return too_deep ? Json(Json::value_t::discarded) : json;
}

}  // namespace leapp
