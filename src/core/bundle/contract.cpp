// Converts the extra keys of a port, and pipeline.configs, to a contract and back.
#include "leapp/contract.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/utf8.h"
#include "bundle/contract_rules.h"
#include "bundle/metadata_reader.h"
#include "leapp/error.h"

namespace leapp {
namespace {

bool is_finite_list(const std::vector<double>& numbers) {
  for (const double number : numbers) {
    if (!std::isfinite(number)) return false;
  }
  return true;
}

/// Reads the keys of one port. Keeps the first fault, and leaves out the key with the fault.
class PortContractParser {
 public:
  explicit PortContractParser(const Port& port) : port_(port) {}

  ParsedPortContract parse() {
    read_meaning();
    read_limits();
    read_max_age();
    read_fallback();
    read_history();
    return std::move(parsed_);
  }

 private:
  const Metadata* find(std::string_view key) const { return find_key(port_.semantics.extra, key); }

  void fail(int number, std::string_view key, std::string what) {
    if (!parsed_.fault) {
      parsed_.fault = ContractFault{rule(number), std::string(key), std::move(what)};
    }
  }

  void pass_over(std::string_view key) { parsed_.contract.not_understood.emplace_back(key); }

  std::int64_t last_dimension() const { return port_.shape.empty() ? 1 : port_.shape.back(); }

  /// Returns whether the list has one number for all elements, or one for each.
  bool fits(int number, std::string_view key, const std::vector<double>& numbers) {
    const std::int64_t size = last_dimension();
    if (numbers.size() == 1 || static_cast<std::int64_t>(numbers.size()) == size) return true;
    fail(number, key,
         std::to_string(numbers.size()) + " numbers, but the last dimension is " +
             std::to_string(size) + "; give one for all, or one for each element");
    return false;
  }

  void read_meaning() {  // B25
    const auto text = [&](std::string_view key) -> std::optional<std::string> {
      const Metadata* const value = find(key);
      if (value == nullptr) return std::nullopt;
      auto found = as_text(*value);
      if (!found) pass_over(key);
      return found;
    };
    parsed_.contract.unit = text("unit");
    parsed_.contract.frame = text("frame");
    const auto order = text("quaternion");
    if (!order) return;
    if (*order != "wxyz" && *order != "xyzw") {
      return fail(25, "quaternion", "expected wxyz or xyzw, found " + quote_for_message(*order));
    }
    if (last_dimension() < 4) {
      return fail(25, "quaternion",
                  "a quaternion is the last four elements of the last dimension, which has " +
                      std::to_string(last_dimension()));
    }
    parsed_.contract.quaternion =
        *order == "wxyz" ? QuaternionOrder::kWxyz : QuaternionOrder::kXyzw;
  }

  void read_limits() {  // B26
    const Metadata* const value = find("limits");
    if (value == nullptr) return;
    const auto* const map = std::get_if<Metadata::Map>(&value->value);
    if (map == nullptr || !has_only(*map, {"lower", "upper", "rate", "on_violation"})) {
      return pass_over("limits");
    }
    Limits limits;
    if (!read_bound(*map, "lower", limits.lower) || !read_bound(*map, "upper", limits.upper) ||
        !read_bound(*map, "rate", limits.rate) || !read_violation(*map, limits.on_violation) ||
        !are_ordered(limits)) {
      return;
    }
    for (const double rate : limits.rate) {
      if (!(rate > 0)) return fail(26, "limits", "a rate must be positive");
    }
    parsed_.contract.limits = std::move(limits);
  }

  bool read_bound(const Metadata::Map& map, std::string_view key, std::vector<double>& bound) {
    const Metadata* const value = find_key(map, key);
    if (value == nullptr) return true;
    auto numbers = as_numbers(*value);
    if (!numbers) {
      fail(26, "limits", std::string(key) + " must be a number or a list of numbers");
      return false;
    }
    for (const double number : *numbers) {
      if (!std::isnan(number)) continue;
      fail(26, "limits", std::string(key) + " contains NaN, which is not a limit");
      return false;
    }
    if (!fits(26, "limits", *numbers)) return false;
    bound = std::move(*numbers);
    return true;
  }

  bool read_violation(const Metadata::Map& map, OnViolation& on_violation) {
    const Metadata* const value = find_key(map, "on_violation");
    if (value == nullptr) return true;
    const auto word = as_text(*value);
    if (word == "clamp" || word == "stop") {
      on_violation = word == "stop" ? OnViolation::kStop : OnViolation::kClamp;
      return true;
    }
    fail(26, "limits", "on_violation must be clamp or stop");
    return false;
  }

  bool are_ordered(const Limits& limits) {
    if (limits.lower.empty() || limits.upper.empty()) return true;
    const std::size_t count = std::max(limits.lower.size(), limits.upper.size());
    for (std::size_t i = 0; i < count; ++i) {
      const double lower = limits.lower[limits.lower.size() == 1 ? 0 : i];
      const double upper = limits.upper[limits.upper.size() == 1 ? 0 : i];
      if (lower <= upper) continue;
      fail(26, "limits", "the lower limit of element " + std::to_string(i) + " is above the upper");
      return false;
    }
    return true;
  }

  void read_max_age() {  // B27
    const Metadata* const value = find("max_age_ms");
    if (value == nullptr) return;
    const auto number = as_number(*value);
    if (!number) return pass_over("max_age_ms");
    if (!(*number > 0) || !std::isfinite(*number)) {
      return fail(27, "max_age_ms", "expected a positive number of milliseconds");
    }
    parsed_.contract.max_age_ms = *number;
  }

  void read_fallback() {  // B27
    const Metadata* const value = find("fallback");
    if (value == nullptr) return;
    const auto word = as_text(*value);
    if (word == "hold") {
      parsed_.contract.fallback = Hold{};
    } else if (word == "damp") {
      parsed_.contract.fallback = Damp{};
    } else if (auto numbers = as_numbers(*value)) {
      if (!is_finite_list(*numbers)) return fail(27, "fallback", "a given output must be finite");
      if (fits(27, "fallback", *numbers)) parsed_.contract.fallback = std::move(*numbers);
    } else {
      pass_over("fallback");
    }
  }

  void read_history() {  // B28
    const Metadata* const value = find("history");
    if (value == nullptr) return;
    const auto* const map = std::get_if<Metadata::Map>(&value->value);
    if (map == nullptr || !has_only(*map, {"order", "start"})) return pass_over("history");
    History history;
    if (const Metadata* const order = find_key(*map, "order")) {
      const auto word = as_text(*order);
      if (word != "oldest_first" && word != "newest_first") {
        return fail(28, "history", "order must be oldest_first or newest_first");
      }
      if (word == "newest_first") history.order = HistoryOrder::kNewestFirst;
    }
    const Metadata* const start = find_key(*map, "start");
    if (start != nullptr && as_text(*start) != "repeat") {
      history.start = as_numbers(*start);
      if (!history.start || !is_finite_list(*history.start)) {
        return fail(28, "history", "start must be repeat, a finite number or a list of them");
      }
      if (!fits(28, "history", *history.start)) return;
    }
    parsed_.contract.history = std::move(history);
  }

  const Port& port_;
  ParsedPortContract parsed_;
};

[[noreturn]] void throw_fault(const ContractFault& fault, const std::string& where) {
  throw Error(fault.code,
              "[" + to_string(fault.code) + "] " + where + ": " + fault.key + ": " + fault.what);
}

Metadata limits_to_metadata(const Limits& limits) {
  Metadata::Map map;
  const auto add = [&](const char* key, const std::vector<double>& numbers) {
    if (!numbers.empty()) map.emplace_back(key, to_metadata(numbers));
  };
  add("lower", limits.lower);
  add("upper", limits.upper);
  add("rate", limits.rate);
  if (limits.on_violation == OnViolation::kStop) {
    map.emplace_back("on_violation", Metadata{std::string("stop")});
  }
  return {std::move(map)};
}

Metadata fallback_to_metadata(const Fallback& fallback) {
  if (std::holds_alternative<Hold>(fallback)) return {std::string("hold")};
  if (std::holds_alternative<Damp>(fallback)) return {std::string("damp")};
  return to_metadata(std::get<std::vector<double>>(fallback));
}

Metadata history_to_metadata(const History& history) {
  Metadata::Map map;
  map.emplace_back(
      "order", Metadata{std::string(history.order == HistoryOrder::kOldestFirst ? "oldest_first"
                                                                                : "newest_first")});
  map.emplace_back("start",
                   history.start ? to_metadata(*history.start) : Metadata{std::string("repeat")});
  return {std::move(map)};
}

}  // namespace

ParsedPortContract parse_contract(const Port& port) {
  return PortContractParser(port).parse();
}

std::optional<ContractFault> find_contract_fault(const Port& port) {
  return parse_contract(port).fault;
}

std::optional<ContractFault> find_contract_fault(const Port& port, PortSide side) {
  ParsedPortContract parsed = parse_contract(port);
  if (parsed.fault) return std::move(parsed.fault);
  const PortContract& contract = parsed.contract;
  if (side == PortSide::kOutput && contract.max_age_ms) {
    return ContractFault{rule(27), "max_age_ms", "only inputs can have max_age"};
  }
  if (side == PortSide::kInput && contract.fallback) {
    return ContractFault{rule(27), "fallback", "an input has no fallback; only outputs do"};
  }
  if (!contract.history) return std::nullopt;
  const ElementNames names = port.semantics.element_names.value_or(ElementNames{});
  const bool has_time = std::any_of(names.begin(), names.end(), [](const auto& axis) {
    return std::holds_alternative<TemporalAxis>(axis);
  });
  if (side == PortSide::kInput && has_time) return std::nullopt;
  return ContractFault{rule(28), "history",
                       "only an input with a TemporalAxis among its element_names has a history"};
}

void require_contract(const Bundle& bundle) {
  for (const Model& model : bundle.models) {
    const auto require_ports = [&](const std::vector<Port>& ports, PortSide side) {
      for (const Port& port : ports) {
        if (const auto fault = find_contract_fault(port, side)) {
          throw_fault(*fault, model.name + "/" + port.name);
        }
      }
    };
    require_ports(model.inputs, PortSide::kInput);
    require_ports(model.outputs, PortSide::kOutput);
  }
  if (const auto fault = find_contract_fault(bundle)) throw_fault(*fault, "pipeline.configs");
}

PortContract contract_of(const Port& port) {
  ParsedPortContract parsed = parse_contract(port);
  if (parsed.fault) throw_fault(*parsed.fault, "port " + quote_for_message(port.name));
  return std::move(parsed.contract);
}

GraphContract contract_of(const Pipeline& pipeline) {
  ParsedGraphContract parsed = parse_contract(pipeline.configs);
  if (parsed.fault) throw_fault(*parsed.fault, "pipeline.configs");
  return std::move(parsed.contract);
}

void add_contract(Semantics& semantics, const PortContract& contract) {
  Metadata::Map& keys = semantics.extra;
  if (contract.unit) set_key(keys, "unit", {*contract.unit});
  if (contract.frame) set_key(keys, "frame", {*contract.frame});
  if (contract.quaternion) {
    set_key(keys, "quaternion",
            {std::string(*contract.quaternion == QuaternionOrder::kWxyz ? "wxyz" : "xyzw")});
  }
  if (contract.limits) set_key(keys, "limits", limits_to_metadata(*contract.limits));
  if (contract.max_age_ms) set_key(keys, "max_age_ms", {*contract.max_age_ms});
  if (contract.fallback) set_key(keys, "fallback", fallback_to_metadata(*contract.fallback));
  if (contract.history) set_key(keys, "history", history_to_metadata(*contract.history));
}

}  // namespace leapp
