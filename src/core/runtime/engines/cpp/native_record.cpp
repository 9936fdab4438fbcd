#include "runtime/engines/cpp/native_record.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/input_file.h"
#include "bundle/json_tree.h"

namespace leapp {
namespace {

std::string short_sum(const std::string& checksum) {
  return checksum.empty() ? "none" : checksum.substr(0, 12) + "..";
}

}  // namespace

std::filesystem::path native_record_file(const std::filesystem::path& yaml) {
  return std::filesystem::path(yaml).replace_extension(".native.json");
}

NativeRecord read_native_record(const std::filesystem::path& file) {
  std::error_code ignored;
  require(std::filesystem::exists(file, ignored), Code::kNotBuilt,
          file.string() +
              " is missing: the C++ nodes of this bundle are not compiled. Run 'leapp build' with "
              "its YAML");
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
  const std::string text = read_file(file, kMostBytes);
  try {
    const nlohmann::ordered_json json = parse_json(text);
    NativeRecord record;
    record.library = json.at("library").get<std::string>();
    record.sha256 = json.at("sha256").get<std::string>();
    record.compiler = json.at("compiler").get<std::string>();
    record.target = json.at("target").get<std::string>();
    record.flags = json.at("flags").get<std::vector<std::string>>();
    for (const auto& [node, sums] : json.at("nodes").items()) {
      record.nodes[node] = {sums.at("source").get<std::string>(),
                            sums.at("weights").get<std::string>()};
    }
    return record;
  } catch (const nlohmann::json::exception& error) {
    throw Error(Code::kStaleBuild, file.string() + " is not the record of a build (" +
                                       error.what() + "); run 'leapp build' again");
  }
}

std::string to_json(const NativeRecord& record) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::object();
  for (const auto& [node, sums] : record.nodes) {
    nodes[node] = {{"source", sums.first}, {"weights", sums.second}};
  }
  const nlohmann::ordered_json json = {{"library", record.library},   {"sha256", record.sha256},
                                       {"compiler", record.compiler}, {"target", record.target},
                                       {"flags", record.flags},       {"nodes", nodes}};
  return json.dump(2) + "\n";
}

std::pair<std::string, std::string> native_checksums(const Model& model) {
  return {model.file->sha256sum,
          model.external_data.empty() ? "" : model.external_data.front().sha256sum};
}

void check_native_record(const NativeRecord& record, const std::filesystem::path& file,
                         const Model& model) {
  const std::string node = "node '" + model.name + "': ";
  const std::string cure = "; run 'leapp build' again";
  const auto built = record.nodes.find(model.name);
  require(built != record.nodes.end(), Code::kStaleBuild,
          node + file.string() + " does not have it" + cure);
  const auto [source, weights] = native_checksums(model);
  const auto& [built_source, built_weights] = built->second;
  require(source == built_source, Code::kStaleBuild,
          node + "the bundle's source is " + short_sum(source) + ", and " + file.string() +
              " is of " + short_sum(built_source) + cure);
  require(weights == built_weights, Code::kStaleBuild,
          node + "the bundle's weights are " + short_sum(weights) + ", and " + file.string() +
              " is of " + short_sum(built_weights) + cure);
}

}  // namespace leapp
