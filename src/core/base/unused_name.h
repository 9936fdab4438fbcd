// The one search for a name that nothing else has yet: `wish` if it is free, else `wish_1`,
// `wish_2` and so on.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace leapp {

/// Returns the first of these names for which `is_taken(name)` is false. `number` is where the
/// search begins and where it ended, for a caller that asks for the same wish again.
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
  /// Takes a name that must be exactly this. Does nothing if it is taken.
  void add(const std::string& name) { used_.insert(name); }

  /// Takes `wish` or the first free name after it. Constant time, however often it is wished for.
  std::string take(const std::string& wish) {
    std::string name = unused_name(
        wish, [&](const std::string& each) { return used_.contains(each); }, numbers_[wish]);
    used_.insert(name);
    return name;
  }

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, int> numbers_;  // the last one tried, by wish
};

}  // namespace leapp
