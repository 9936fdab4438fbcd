#include "view/reports.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/hash.h"
#include "base/input_file.h"
#include "bundle/json_tree.h"

namespace leapp::view {
namespace {

std::string whole_text(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;
  return read_file(file, kMostBytes);
}

// The page iterates over these lists, so every item must be an object.
bool holds_objects(const nlohmann::ordered_json& list) {
  return list.is_structured() &&
         std::all_of(list.begin(), list.end(), [](const auto& each) { return each.is_object(); });
}

// {"node": .., "samples": [{"outputs": [{..}]}]}
bool is_validated_node(const nlohmann::ordered_json& node) {
  if (!node.is_object() || !node.contains("samples") || !holds_objects(node["samples"])) {
    return false;
  }
  return std::all_of(node["samples"].begin(), node["samples"].end(), [](const auto& sample) {
    return sample.contains("outputs") && holds_objects(sample["outputs"]);
  });
}

}  // namespace

nlohmann::ordered_json validation_report(const Bundle& bundle) {
  const std::filesystem::path file = bundle.file.parent_path() / "validation.json";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return nullptr;
  nlohmann::ordered_json report = parse_json(whole_text(file));
  if (!report.is_object() || !report.contains("nodes") || !report["nodes"].is_array())
    return nullptr;
  if (!std::all_of(report["nodes"].begin(), report["nodes"].end(), is_validated_node))
    return nullptr;
  Digest digest(Digest::Kind::kSha256);
  digest.update(whole_text(bundle.file));
  const auto sum = report.find("yaml_sha256sum");
  if (sum == report.end() || *sum != digest.finish()) return nullptr;
  return report;
}

nlohmann::ordered_json bench_report(const std::filesystem::path& file) {
  if (file.empty()) return nullptr;
  nlohmann::ordered_json report = parse_json(whole_text(file));
  require(report.is_object() && report.contains("tick") && report["tick"].is_object() &&
              report.contains("nodes") && report["nodes"].is_object() &&
              holds_objects(report["nodes"]),
          Code::kNoBenchReport,
          file.string() +
              ": this is not a report of leapp bench: expected a JSON object with \"tick\" "
              "and \"nodes\"; make one with: leapp bench bundle.yaml --json");
  return report;
}

}  // namespace leapp::view
