// std::erase_if() for the flat hash maps of c10.
#pragma once

namespace leapp::session {

/// Erases the entries for which the condition holds.
template <typename Map, typename Condition>
void erase_where(Map& map, Condition&& condition) {
  for (auto it = map.begin(); it != map.end();) {
    if (condition(*it)) {
      it = map.erase(it);
    } else {
      ++it;
    }
  }
}

}  // namespace leapp::session
