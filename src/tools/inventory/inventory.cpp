#include "leapp/tools/inventory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/input_file.h"
#include "bundle/json_tree.h"
#include "leapp/error.h"

namespace leapp {
namespace {

using Json = nlohmann::ordered_json;

// Returns 152076 as "152,076".
std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > 0; i -= 3) {
    text.insert(static_cast<std::size_t>(i), ",");
  }
  return text;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string short_text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", number);
  return text;
}

std::string range_of(const ExportedConstant& constant) {
  const bool empty = std::ranges::count(constant.shape, 0) > 0;
  std::string text = short_text(constant.min) + " .. " + short_text(constant.max);
  if (empty) {
    text = "no elements";
  } else if (constant.min == constant.max) {
    const bool single = element_count(constant.shape) == 1;
    text = (single ? "" : "all ") + short_text(constant.min);
    if (constant.min == 0 && !single) text = "all zeros";
  }
  return text + (constant.has_nan ? ", with NaN" : "");
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t size : shape) {
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  }
  return "[" + text + "]";
}

bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (text.substr(0, star) != pattern.substr(0, star)) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t i = star; i <= text.size(); ++i) {
    if (matches(rest, text.substr(i))) return true;
  }
  return false;
}

Json json_of(double number) {
  if (std::isfinite(number)) return number;
  return number > 0 ? "inf" : "-inf";
}

double number_in(const Json& json) {
  if (json.is_number()) return json.get<double>();
  return json == "inf" ? INFINITY : -INFINITY;
}

Json json_of(const ExportedWeights& weights) {
  return {{"module", weights.module},
          {"parameters", weights.parameters},
          {"buffers", weights.buffers},
          {"values", weights.values},
          {"text", to_string(weights)}};
}

Json json_of(const ExportedConstant& constant) {
  const bool is_number = constant.kind == ExportedConstant::Kind::kNumber;
  Json json = {{"kind", is_number ? "number" : "tensor"},
               {"path", constant.path},
               {"where", constant.where},
               {"op", constant.op},
               {"dtype", name_of(constant.dtype)}};
  if (!is_number) json["shape"] = constant.shape;
  json["min"] = json_of(constant.min);
  json["max"] = json_of(constant.max);
  json["has_nan"] = constant.has_nan;
  json["acknowledged"] = constant.acknowledged;
  json["text"] = to_string(constant);
  return json;
}

ExportedWeights weights_in(const Json& json) {
  return {json.at("module").get<std::string>(), json.at("parameters").get<std::int64_t>(),
          json.at("buffers").get<std::int64_t>(), json.at("values").get<std::int64_t>()};
}

ExportedConstant constant_in(const Json& json) {
  const bool is_number = json.at("kind") == "number";
  ExportedConstant constant{
      .kind = is_number ? ExportedConstant::Kind::kNumber : ExportedConstant::Kind::kTensor,
      .path = json.at("path").get<std::string>(),
      .where = json.at("where").get<std::string>(),
      .op = json.at("op").get<std::string>(),
      .dtype = dtype_from_name(json.at("dtype").get<std::string>()).value_or(DType::kFloat32)};
  if (!is_number) constant.shape = json.at("shape").get<Shape>();
  constant.min = number_in(json.at("min"));
  constant.max = number_in(json.at("max"));
  constant.has_nan = json.at("has_nan").get<bool>();
  constant.acknowledged = json.at("acknowledged").get<bool>();
  return constant;
}

NodeInventory node_in(const Json& json) {
  NodeInventory node{.node = json.at("node").get<std::string>()};
  for (const Json& each : json.at("weights")) node.weights.push_back(weights_in(each));
  for (const Json& each : json.at("constants")) node.constants.push_back(constant_in(each));
  return node;
}

}  // namespace

std::string to_string(const ExportedWeights& weights) {
  std::string text = weights.module.empty() ? "" : weights.module + ": ";
  if (weights.parameters > 0) text += counted(weights.parameters, "parameter") + ", ";
  if (weights.buffers > 0) text += counted(weights.buffers, "buffer") + ", ";
  return text + counted(weights.values, "value");
}

std::string to_string(const ExportedConstant& constant) {
  std::string text = constant.path;
  if (constant.kind == ExportedConstant::Kind::kNumber) {
    text += (text.empty() ? "the number " : " = ") + short_text(constant.min);
  } else {
    text +=
        (text.empty() ? "a tensor " : " ") + shape_text(constant.shape) + ", " + range_of(constant);
  }
  if (!constant.op.empty()) text += ", read by " + constant.op;
  if (!constant.where.empty()) text += " at " + constant.where;
  return text;
}

std::string to_json(const std::vector<NodeInventory>& inventory) {
  Json json = Json::array();
  for (const NodeInventory& node : inventory) {
    Json weights = Json::array();
    for (const ExportedWeights& each : node.weights) weights.push_back(json_of(each));
    Json constants = Json::array();
    for (const ExportedConstant& each : node.constants) constants.push_back(json_of(each));
    json.push_back({{"node", node.node},
                    {"weights", std::move(weights)},
                    {"constants", std::move(constants)}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::vector<NodeInventory> read_inventory(const std::filesystem::path& yaml) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  std::string text;
  try {
    text = read_file(yaml.parent_path() / "diagnostics.json", kMostBytes);
  } catch (const Error&) {
    return {};  // a bundle may have no such file
  }
  const Json json = parse_json(text);
  std::vector<NodeInventory> nodes;
  try {
    for (const Json& each : json.at("inventory")) nodes.push_back(node_in(each));
  } catch (const Json::exception&) {
    return {};  // written by another version or program
  }
  return nodes;
}

bool acknowledges(const std::string& name, const ExportedConstant& constant) {
  std::string_view wanted = name;
  if (wanted.starts_with("self.")) wanted.remove_prefix(5);
  if (wanted.empty()) return false;
  std::string_view path = constant.path;
  if (path.starts_with("-")) path.remove_prefix(1);
  for (std::size_t begin = 0; !path.empty() && begin != std::string_view::npos;) {
    if (matches(wanted, path.substr(begin))) return true;
    begin = path.find('.', begin);
    if (begin != std::string_view::npos) ++begin;
  }
  const std::string_view line =
      std::string_view(constant.where).substr(0, constant.where.find(' '));
  const std::size_t folder = line.rfind('/');
  return !line.empty() && (matches(wanted, line) || (folder != std::string_view::npos &&
                                                     matches(wanted, line.substr(folder + 1))));
}

}  // namespace leapp
