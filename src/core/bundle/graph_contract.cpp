// B29: the contract in pipeline.configs.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "bundle/contract_rules.h"
#include "bundle/metadata_reader.h"

namespace leapp {
namespace {

class GraphContractParser {
 public:
  explicit GraphContractParser(const Metadata::Map& configs) : configs_(configs) {}

  ParsedGraphContract parse() {
    read_frequency();
    read_command_ranges();
    read_default_pose();
    read_capabilities();
    read_controller_owned_writes();
    return std::move(parsed_);
  }

 private:
  void fail(const char* key, std::string what) {
    if (!parsed_.fault) parsed_.fault = ContractFault{rule(29), key, std::move(what)};
  }

  void pass_over(const char* key) { parsed_.contract.not_understood.emplace_back(key); }

  void read_frequency() {
    const Metadata* const value = find_key(configs_, "frequency");
    if (value == nullptr || std::holds_alternative<std::monostate>(value->value)) return;
    const auto number = as_number(*value);
    if (!number) return pass_over("frequency");
    if (!(*number > 0) || !std::isfinite(*number)) {
      return fail("frequency", "expected a positive number of ticks per second");
    }
    parsed_.contract.frequency = *number;
  }

  void read_command_ranges() {
    const Metadata* const value = find_key(configs_, "command_ranges");
    if (value == nullptr) return;
    const auto* const map = std::get_if<Metadata::Map>(&value->value);
    if (map == nullptr) return pass_over("command_ranges");
    for (const auto& [element, range] : *map) {
      const auto bounds = as_numbers(range);
      if (!bounds || bounds->size() != 2 || !((*bounds)[0] <= (*bounds)[1])) {
        return fail("command_ranges", "the range of " + quote_for_message(element) +
                                          " must be [least, most], two numbers in that order");
      }
      parsed_.contract.command_ranges.push_back({element, (*bounds)[0], (*bounds)[1]});
    }
  }

  void read_default_pose() {
    const Metadata* const value = find_key(configs_, "default_pose");
    if (value == nullptr) return;
    const auto* const map = std::get_if<Metadata::Map>(&value->value);
    if (map == nullptr) return pass_over("default_pose");
    for (const auto& [joint, position] : *map) {
      const auto number = as_number(position);
      if (!number || !std::isfinite(*number)) {
        return fail("default_pose",
                    "the position of " + quote_for_message(joint) + " must be a finite number");
      }
      parsed_.contract.default_pose.emplace_back(joint, *number);
    }
  }

  void read_capabilities() {
    const Metadata* const value = find_key(configs_, "required_capabilities");
    if (value == nullptr) return;
    auto names = as_texts(*value);
    if (!names) return pass_over("required_capabilities");
    for (std::string& name : *names) add_capability(std::move(name));
  }

  /// Reads Isaac Lab's own requirements; ignores other forms.
  void read_controller_owned_writes() {
    const Metadata* value = find_key(configs_, "isaaclab");
    for (const char* const key : {"controller_owned_writes", "requirements"}) {
      const auto* const map = value ? std::get_if<Metadata::Map>(&value->value) : nullptr;
      value = map ? find_key(*map, key) : nullptr;
    }
    const auto* const list = value ? std::get_if<Metadata::List>(&value->value) : nullptr;
    if (list == nullptr) return;
    for (const Metadata& item : *list) {
      const auto* const map = std::get_if<Metadata::Map>(&item.value);
      const Metadata* const capability = map ? find_key(*map, "capability") : nullptr;
      auto name = capability ? as_text(*capability) : std::nullopt;
      if (name) add_capability(std::move(*name));
    }
  }

  void add_capability(std::string name) {
    std::vector<std::string>& all = parsed_.contract.required_capabilities;
    if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(std::move(name));
  }

  const Metadata::Map& configs_;
  ParsedGraphContract parsed_;
};

bool names_element(const Port& port, const std::string& element) {
  if (!port.semantics.kind || !port.semantics.kind->starts_with("command/")) return false;
  if (!port.semantics.element_names) return false;
  for (const auto& axis : *port.semantics.element_names) {
    const auto* const names = std::get_if<std::vector<std::string>>(&axis);
    if (names && std::find(names->begin(), names->end(), element) != names->end()) return true;
  }
  return false;
}

}  // namespace

ParsedGraphContract parse_contract(const Metadata::Map& configs) {
  return GraphContractParser(configs).parse();
}

std::optional<ContractFault> find_contract_fault(const Bundle& bundle) {
  ParsedGraphContract parsed = parse_contract(bundle.pipeline.configs);
  if (parsed.fault) return std::move(parsed.fault);
  for (const CommandRange& range : parsed.contract.command_ranges) {
    const bool named =
        std::any_of(bundle.models.begin(), bundle.models.end(), [&](const Model& model) {
          return std::any_of(model.inputs.begin(), model.inputs.end(),
                             [&](const Port& port) { return names_element(port, range.element); });
        });
    if (named) continue;
    return ContractFault{rule(29), "command_ranges",
                         "no input whose kind is 'command/..' has an element " +
                             quote_for_message(range.element) +
                             "; set kind and element_names of the command"};
  }
  return std::nullopt;
}

void add_contract(Metadata::Map& configs, const GraphContract& contract) {
  if (contract.frequency) set_key(configs, "frequency", {*contract.frequency});
  if (!contract.command_ranges.empty()) {
    Metadata::Map ranges;
    for (const CommandRange& range : contract.command_ranges) {
      ranges.emplace_back(range.element, to_metadata({range.lower, range.upper}));
    }
    set_key(configs, "command_ranges", {std::move(ranges)});
  }
  if (!contract.default_pose.empty()) {
    Metadata::Map pose;
    for (const auto& [joint, position] : contract.default_pose) {
      pose.emplace_back(joint, Metadata{position});
    }
    set_key(configs, "default_pose", {std::move(pose)});
  }
  if (!contract.required_capabilities.empty()) {
    Metadata::List names;
    for (const std::string& name : contract.required_capabilities) names.push_back({name});
    set_key(configs, "required_capabilities", {std::move(names)});
  }
}

}  // namespace leapp
