#include "runtime/engines/cpp/native_record.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/input_file.h"
#include "bundle/yaml_tree.h"

namespace leapp {
namespace {

std::string short_sum(const std::string& checksum) {
  return checksum.empty() ? "none" : checksum.substr(0, 12) + "..";
}

// Reads the record as YAML, of which JSON is a part: that reader bounds what it reads and survives
// a lack of memory.
class RecordFile {
 public:
  explicit RecordFile(const std::filesystem::path& file) : name_(file.string()) {
    constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;
    const std::string text = read_file(file, kMostBytes);
    try {
      root_ = parse_yaml(text, name_);
    } catch (const Error& error) {
      fail(error.text());
    }
  }

  const YamlNode& root() const noexcept { return root_; }

  const YamlNode& child(const YamlNode& of, std::string_view key, YamlNode::Kind kind) const {
    const YamlNode* const found = of.find(key);
    if (found == nullptr || found->kind != kind)
      fail("there is no valid '" + std::string(key) + "'");
    return *found;
  }
  std::string text(const YamlNode& of, std::string_view key) const {
    return text(child(of, key, YamlNode::Kind::kScalar));
  }
  std::string text(const YamlNode& node) const {
    if (!node.quoted) fail(describe(node) + " is not a string");
    return node.text;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw Error(Code::kStaleBuild,
                name_ + " is not the record of a build (" + why + "); run 'leapp build' again");
  }

  std::string name_;
  YamlNode root_;
};

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
  using Kind = YamlNode::Kind;
  const RecordFile from(file);
  NativeRecord record;
  record.library = from.text(from.root(), "library");
  record.sha256 = from.text(from.root(), "sha256");
  record.compiler = from.text(from.root(), "compiler");
  record.target = from.text(from.root(), "target");
  for (const YamlNode& flag : from.child(from.root(), "flags", Kind::kSequence).items) {
    record.flags.push_back(from.text(flag));
  }
  for (const auto& [node, sums] : from.child(from.root(), "nodes", Kind::kMapping).entries) {
    record.nodes[node.text] = {from.text(sums, "source"), from.text(sums, "weights")};
  }
  return record;
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
