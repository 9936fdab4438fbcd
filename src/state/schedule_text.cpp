#include "state/schedule_text.h"

#include "base/join.h"

namespace leapp::state {
namespace {

std::string quoted(const std::string& text) {
  return "\"" + text + "\"";
}

std::string times(std::size_t count) {
  return count == 1 ? "once" : count == 2 ? "twice" : std::to_string(count) + " times";
}

std::string map_of(const std::map<std::string, std::string>& map) {
  return "{" +
         join(map,
              [](const auto& item) { return quoted(item.first) + ": " + quoted(item.second); }) +
         "}";
}

std::string declaration_of(const NodeSchedule& entry) {
  std::vector<std::string> keys;
  const auto add = [&](const char* key, const std::string& value) {
    keys.push_back(quoted(key) + ": " + value);
  };
  if (entry.every != 1) add("every", std::to_string(entry.every));
  if (entry.phase != 0) add("phase", std::to_string(entry.phase));
  if (entry.repeat != 1) add("repeat", std::to_string(entry.repeat));
  if (!entry.index.empty()) add("index", quoted(entry.index));
  if (entry.when) add("when", quoted(leapp::to_string(*entry.when)));
  if (!entry.on_change.empty()) add("on_change", "[" + join(entry.on_change, quoted) + "]");
  if (!entry.ages.empty()) add("age", map_of(entry.ages));
  return quoted(entry.node) + ": {" + (keys.empty() ? "" : join(keys)) + "}";
}

}  // namespace

std::string nth(std::int64_t number) {
  const bool is_teen = number % 100 / 10 == 1;
  const std::int64_t digit = is_teen ? 0 : number % 10;
  return std::to_string(number) + (digit == 1   ? "st"
                                   : digit == 2 ? "nd"
                                   : digit == 3 ? "rd"
                                                : "th");
}

std::string to_words(const NodeSchedule& entry) {
  std::string text = entry.every == 1 ? "in every tick" : "in every " + nth(entry.every) + " tick";
  if (entry.phase != 0) text += " from tick " + std::to_string(entry.phase) + " on";
  if (entry.when) text += " in which " + leapp::to_string(*entry.when) + " is true";
  if (!entry.on_change.empty()) text += " in which " + join(entry.on_change) + " changed";
  if (entry.repeat != 1) text += ", " + std::to_string(entry.repeat) + " times in a row";
  return text;
}

std::string describe_entry(const NodeSchedule& entry, const std::string& base, std::size_t seen) {
  std::string text = entry.node + ": " + to_words(entry);
  if (entry.node != base) text += " of " + base;
  for (const auto& [output, input] : entry.carry) {
    text += "; each run reads the " + output + " of the run before as its " + input;
  }
  if (!entry.index.empty()) text += "; " + entry.index + " counts the runs";
  for (const auto& [input, node] : entry.ages) text += "; " + input + " is the age of " + node;
  return text + ", seen " + times(seen);
}

std::string declaration_of(const std::vector<NodeSchedule>& entries) {
  return "leapp.start(schedule={" +
         join(entries, [](const NodeSchedule& entry) { return declaration_of(entry); }) + "})";
}

std::string ticks_in_words(const std::vector<int>& ticks) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < ticks.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ticks[i]);
  }
  return ticks.size() > kShown ? text + ", .." : text;
}

std::string counts_in_words(std::span<const session::Node* const> nodes) {
  return join(nodes, [](const session::Node* node) {
    return "'" + node->name + "' " + times(static_cast<std::size_t>(node->completed));
  });
}

std::string played_in_words(const session::Node& computing, const session::Node& playing) {
  return "node '" + computing.name + "' computed new outputs in " +
         std::to_string(computing.completed) + " of " + std::to_string(playing.completed) +
         " passes, and output results of an earlier pass in the others, as a policy with a queue "
         "of "
         "actions does";
}

}  // namespace leapp::state
