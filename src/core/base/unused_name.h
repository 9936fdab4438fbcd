// The search for an unused name: `wish` if it is free, otherwise `wish_1`, `wish_2` and so on.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace leapp {

/// Returns the first of these names for which `is_taken(name)` is false. `number` is the number at
/// which the search begins, and receives the number at which it ended, for repeated calls with the
/// same wish.
template <typename IsTaken>
std::string unused_name(const std::string& wish, IsTaken&& is_taken, int& number) {
  std::string name = number == 0 ? wish : wish + "_" + std::to_string(number);
  while (is_taken(name)) name = wish + "_" + std::to_string(++number);
  return name;
}

template <typename IsTaken>
std::string unused_name(const std::string& wish, IsTaken&& is_taken) {
  int number = 0;
  return unused_name(wish, is_taken, number);
}

/// The names of one namespace. Not thread-safe.
class UsedNames {
 public:
  /// Reserves exactly this name. Does nothing if it is already taken.
  void add(const std::string& name) { used_.insert(name); }

  /// Reserves `wish` or the first free name after it. Takes constant time, also for repeated
  /// wishes.
  std::string take(const std::string& wish) {
    std::string name = unused_name(
        wish, [&](const std::string& each) { return used_.contains(each); }, numbers_[wish]);
    used_.insert(name);
    return name;
  }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> numbers_;  // the last number tried, by wish
};

}  // namespace leapp
