#include "bundle/timing.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/utf8.h"

namespace leapp {
namespace {

std::optional<std::size_t> find(const std::vector<Port>& ports, std::string_view name) {
  const auto found = std::ranges::find(ports, name, &Port::name);
  if (found == ports.end()) return std::nullopt;
  return static_cast<std::size_t>(found - ports.begin());
}

std::string describe(const Port& port) {
  return std::string(name_of(port.dtype)) + " " + to_string(port.shape);
}

/// Resolves the entry of one node.
class Resolver {
 public:
  using Nodes = std::unordered_map<std::string_view, std::size_t>;

  Resolver(const Bundle& bundle, const Nodes& nodes, const RuleReporter& reporter,
           const NodeSchedule& schedule)
      : bundle_(bundle), nodes_(nodes), reporter_(reporter), schedule_(schedule) {}

  /// Returns the index of the node that the entry is about.
  std::size_t node() const {
    const auto found = nodes_.find(schedule_.node);
    if (found == nodes_.end()) fail(35, {}, no_model(schedule_.node));
    return found->second;
  }

  Timing resolve() const {
    Timing timing;
    timing.every = in_range("every", schedule_.every, 1, kMaxPeriod);
    timing.phase = in_range("phase", schedule_.phase, 0, kMaxPeriod);
    timing.repeat = in_range("repeat", schedule_.repeat, 1, kMaxRepeat);
    const Model& model = bundle_.models[node()];
    for (const auto& [output, input] : schedule_.carry) {
      timing.carry.push_back(resolve_carry(model, timing, output, input));
    }
    if (!schedule_.index.empty()) {
      timing.index = count_input(36, "index", model, schedule_.index);
      require_not_carried(36, "index", timing, *timing.index, schedule_.index);
    }
    if (schedule_.when) timing.when = resolve_condition(*schedule_.when);
    for (const auto& [input, source] : schedule_.ages) {
      timing.ages.push_back(resolve_age(model, timing, input, source));
    }
    for (const std::string& input : schedule_.on_change) {
      timing.on_change.push_back(resolve_watched(model, timing, input));
    }
    return timing;
  }

 private:
  [[noreturn]] void fail(int number, const std::string& key, const std::string& what) const {
    FieldPath path = {"pipeline", "schedule", schedule_.node};
    if (!key.empty()) path.emplace_back(key);
    reporter_.fail(rule(number), path, what);
  }

  static std::string no_model(const std::string& node) {
    return "there is no model " + quote_for_message(node);
  }

  std::int64_t in_range(const char* key, std::int64_t value, std::int64_t least,
                        std::int64_t most) const {
    if (value < least || value > most) {  // B35
      fail(35, key,
           std::string(key) + " must be " + std::to_string(least) + " to " + std::to_string(most) +
               ", not " + std::to_string(value));
    }
    return value;
  }

  std::size_t input_of(int number, const std::string& key, const Model& model,
                       const std::string& name) const {
    const std::optional<std::size_t> input = find(model.inputs, name);
    if (!input) {
      fail(number, key,
           "the model " + quote_for_message(model.name) + " has no input " +
               quote_for_message(name));
    }
    return *input;
  }

  /// Returns an input that receives a number from the runtime.
  std::size_t count_input(int number, const std::string& key, const Model& model,
                          const std::string& name) const {
    const std::size_t input = input_of(number, key, model, name);
    const Port& port = model.inputs[input];
    const bool is_integer = port.dtype == DType::kInt64 || port.dtype == DType::kInt32;
    if (!is_integer || element_count(port.shape) != 1) {
      fail(number, key,
           "the input " + quote_for_message(name) +
               " receives a number, so it must be int64 or int32 with one element, not " +
               describe(port));
    }
    return input;
  }

  void require_not_carried(int number, const std::string& key, const Timing& timing,
                           std::size_t input, const std::string& name) const {
    const auto carries = [&](const Timing::Carry& carry) { return carry.input == input; };
    if (std::ranges::any_of(timing.carry, carries)) {
      fail(number, key, "the input " + quote_for_message(name) + " is carried from run to run");
    }
  }

  Timing::Carry resolve_carry(const Model& model, const Timing& timing, const std::string& output,
                              const std::string& input) const {  // B36
    const std::optional<std::size_t> from = find(model.outputs, output);
    if (!from) {
      fail(36, "carry",
           "the model " + quote_for_message(model.name) + " has no output " +
               quote_for_message(output));
    }
    const std::size_t to = input_of(36, "carry", model, input);
    require_not_carried(36, "carry", timing, to, input);
    const Port& source = model.outputs[*from];
    const Port& target = model.inputs[to];
    if (source.shape != target.shape || source.dtype != target.dtype) {
      fail(36, "carry",
           "the output " + quote_for_message(output) + " is " + describe(source) + ", the input " +
               quote_for_message(input) + " that reads it is " + describe(target));
    }
    return {*from, to};
  }

  Timing::Condition resolve_condition(const PortRef& ref) const {  // B37
    const auto found = nodes_.find(ref.node);
    if (found == nodes_.end()) fail(37, "when", no_model(ref.node));
    const Model& model = bundle_.models[found->second];
    const std::optional<std::size_t> output = find(model.outputs, ref.port);
    const std::optional<std::size_t> input = find(model.inputs, ref.port);
    if (!output && !input) {
      fail(37, "when",
           "the model " + quote_for_message(ref.node) + " has no port " +
               quote_for_message(ref.port));
    }
    if (output && input) {
      fail(
          37, "when",
          quote_for_message(to_string(ref)) +
              " is both an input and an output, so the condition is ambiguous; rename one of them");
    }
    const Port& port = output ? model.outputs[*output] : model.inputs[*input];
    if (port.dtype != DType::kBool || element_count(port.shape) != 1) {
      fail(37, "when",
           "a condition must be bool with one element; " + quote_for_message(to_string(ref)) +
               " is " + describe(port));
    }
    return {output.has_value(), {found->second, output ? *output : *input}};
  }

  std::size_t resolve_watched(const Model& model, const Timing& timing,
                              const std::string& name) const {  // B38
    const std::size_t input = input_of(38, "on_change", model, name);
    if (std::ranges::find(timing.on_change, input) != timing.on_change.end()) {
      fail(38, "on_change", "the input " + quote_for_message(name) + " is listed twice");
    }
    require_not_carried(38, "on_change", timing, input, name);
    const auto fed = [&](const Timing::Age& age) { return age.input == input; };
    if (timing.index == input || std::ranges::any_of(timing.ages, fed)) {
      fail(38, "on_change",
           "the input " + quote_for_message(name) +
               " receives its value from the schedule, so the schedule cannot depend on it");
    }
    return input;
  }

  Timing::Age resolve_age(const Model& model, const Timing& timing, const std::string& name,
                          const std::string& source) const {  // B39
    const std::size_t input = count_input(39, "age", model, name);
    require_not_carried(39, "age", timing, input, name);
    const auto found = nodes_.find(source);
    if (found == nodes_.end()) fail(39, "age", no_model(source));
    return {input, found->second};
  }

  const Bundle& bundle_;
  const Nodes& nodes_;
  const RuleReporter& reporter_;
  const NodeSchedule& schedule_;
};

}  // namespace

std::vector<Timing> resolve_schedule(const Bundle& bundle, const RuleReporter& reporter) {
  std::vector<Timing> timings(bundle.models.size());
  if (bundle.pipeline.schedule.empty()) return timings;
  Resolver::Nodes nodes;
  for (std::size_t i = 0; i < bundle.models.size(); ++i) nodes[bundle.models[i].name] = i;
  std::vector<bool> seen(timings.size(), false);
  for (const NodeSchedule& schedule : bundle.pipeline.schedule) {
    const Resolver resolver(bundle, nodes, reporter, schedule);
    const std::size_t node = resolver.node();
    if (seen[node]) {
      reporter.fail(rule(35), {"pipeline", "schedule", schedule.node},
                    "two entries have this node");
    }
    seen[node] = true;
    timings[node] = resolver.resolve();
  }
  for (std::size_t node = 0; node < timings.size(); ++node) {
    const std::optional<Timing::Condition>& when = timings[node].when;
    if (!when || when->is_output) continue;
    for (const Timing::Carry& carry : timings[when->port.node].carry) {
      if (carry.input != when->port.port) continue;
      reporter.fail(rule(37), {"pipeline", "schedule", bundle.models[node].name, "when"},
                    "the condition is an input that is carried from run to run; name the output");
    }
  }
  return timings;
}

}  // namespace leapp
