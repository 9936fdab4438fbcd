// Converts a YAML tree to a Bundle, and checks the form of every field. rules.h then checks the
// values together. Unknown keys are ignored, because other writers have more keys.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/input_file.h"
#include "base/utf8.h"
#include "bundle/backend_prefix.h"
#include "bundle/field_location.h"
#include "bundle/field_reader.h"
#include "bundle/rules.h"
#include "bundle/yaml_scalar.h"
#include "bundle/yaml_tree.h"
#include "leapp/bundle.h"

namespace leapp {
namespace {

using Kind = YamlNode::Kind;

class BundleReader : FieldReader {
 public:
  using FieldReader::FieldReader;

  Bundle read() const {
    check_keys(rule(3), root(), "a bundle", {"models", "pipeline", "system information"});
    Bundle bundle;
    bundle.system_information = read_system_information(*root().find("system information"));
    const YamlNode& models = *root().find("models");
    expect_mapping(rule(6), models);
    bundle.models.reserve(models.entries.size());
    for (const YamlEntry& entry : models.entries) bundle.models.push_back(read_model(entry));
    bundle.pipeline = read_pipeline(*root().find("pipeline"));
    strip_backend_prefixes(bundle, models);
    return bundle;
  }

 private:
  std::string read_digest(const YamlNode* node) const {
    const std::string digest = read_optional_text(rule(13), node).value_or("");
    if (digest.empty() && node && !node->is_null()) {
      fail(rule(13), *node, "the checksum is empty; remove the field or state the checksum");
    }
    return digest;
  }

  SystemInformation read_system_information(const YamlNode& node) const {
    check_keys(rule(4), node, "system information", {"leapp config version"});
    if (node.entries.size() > 1) {  // a truncated file has some of them
      check_keys(rule(4), node, "additional keys in the system information",
                 {"cuda version", "leapp config version", "leapp version", "os", "python version",
                  "torch version"});
    }
    const auto text = [&](const char* key) {
      auto value = read_optional_text(rule(4), node.find(key));
      return value == "None" ? std::nullopt : value;
    };
    SystemInformation system;
    system.cuda_version = text("cuda version");
    system.config_version = read_text(rule(4), *node.find("leapp config version"));
    system.leapp_version = text("leapp version");
    system.os = text("os");
    system.python_version = text("python version");
    system.torch_version = text("torch version");
    return system;
  }

  Model read_model(const YamlEntry& entry) const {
    const YamlNode& node = entry.value;
    check_keys(rule(6), node, "a model", {"inputs", "outputs", "parameters"});
    Model model;
    model.name = entry.key.text;
    model.inputs = read_ports(*node.find("inputs"));
    model.outputs = read_ports(*node.find("outputs"));
    const YamlNode& parameters = *node.find("parameters");
    check_keys(rule(6), parameters, "a model's parameters",
               {"model_path", "md5sum", "sha256sum", "backend"});
    if (auto path = read_optional_text(rule(14), parameters.find("model_path"))) {
      model.file = FileEntry{std::move(*path), read_digest(parameters.find("md5sum")),
                             read_digest(parameters.find("sha256sum"))};
    }
    model.backend = read_optional_text(rule(12), parameters.find("backend"));
    model.torch_version = read_optional_text(rule(6), parameters.find("torch_version"));
    const YamlNode* const opset = parameters.find("opset_version");
    if (opset && !opset->is_null()) {
      model.opset_version = resolve_integer(*opset);
      if (!model.opset_version)
        fail(rule(6), *opset, "expected an integer, found " + describe(*opset));
    }
    if (const YamlNode* const data = parameters.find("external_data")) {
      expect_list(rule(6), *data);
      for (const YamlNode& item : data->items) {
        check_keys(rule(6), item, "external data", {"path", "sha256sum"});
        model.external_data.push_back({read_text(rule(14), *item.find("path")),
                                       read_digest(item.find("md5sum")),
                                       read_digest(item.find("sha256sum"))});
      }
    }
    return model;
  }

  void strip_backend_prefixes(Bundle& bundle, const YamlNode& models) const {  // B41
    const char* const reason = find_need_of_prefix(bundle);
    for (std::size_t i = 0; i < bundle.models.size(); ++i) {
      std::optional<std::string>& backend = bundle.models[i].backend;
      if (!backend) continue;
      if (backend->starts_with(kBackendPrefix)) {
        backend->erase(0, kBackendPrefix.size());
      } else if (reason != nullptr) {
        fail(rule(41), *models.entries[i].value.find("parameters")->find("backend"),
             std::string("the bundle has ") + reason + ", so this must be " +
                 quote_for_message(std::string(kBackendPrefix) + *backend) +
                 ". Readers without support for it would compute wrong values");
      }
    }
  }

  std::vector<Port> read_ports(const YamlNode& node) const {
    expect_list(rule(6), node);
    std::vector<Port> ports;
    ports.reserve(node.items.size());
    for (const YamlNode& item : node.items) ports.push_back(read_port(item));
    return ports;
  }

  Port read_port(const YamlNode& node) const {  // B7
    check_keys(rule(7), node, "a port", {"name", "dtype", "shape"});
    Port port;
    for (const YamlEntry& entry : node.entries) {
      const std::string& key = entry.key.text;
      const YamlNode& value = entry.value;
      if (key == "name") {
        port.name = read_text(rule(7), value);
      } else if (key == "dtype") {
        port.dtype = read_dtype(value);
      } else if (key == "shape") {
        port.shape = read_shape(value);
      } else if (key == "type") {
        if (read_text(rule(7), value) != "tensor") {
          fail(rule(7), value, "expected tensor, found " + describe(value));
        }
      } else if (key == "kind") {
        port.semantics.kind = read_optional_text(rule(10), &value);
      } else if (key == "element_names") {
        if (!value.is_null()) {
          port.semantics.element_names = read_element_names(value, node.find("temporal_period_ms"));
        }
      } else if (key != "temporal_period_ms") {
        port.semantics.extra.push_back({key, read_metadata(value)});
      }
    }
    return port;
  }

  DType read_dtype(const YamlNode& node) const {  // B8
    const std::string name = read_text(rule(8), node);
    const auto dtype = dtype_from_name(name);
    if (!dtype) fail(rule(8), node, "there is no dtype " + quote_for_message(name));
    return *dtype;
  }

  Shape read_shape(const YamlNode& node) const {  // B8
    expect_list(rule(8), node);
    Shape shape;
    shape.reserve(node.items.size());
    for (const YamlNode& item : node.items) {
      const auto size = resolve_integer(item);
      if (!size) fail(rule(8), item, "expected a size, found " + describe(item));
      shape.push_back(*size);
    }
    return shape;
  }

  /// Returns whether the value is a list of names where a list of dimensions is expected. Such a
  /// list names the last dimension.
  static bool is_flat(const YamlNode& node) {
    return !node.items.empty() &&
           std::all_of(node.items.begin(), node.items.end(), [](const YamlNode& item) {
             return item.kind == Kind::kScalar && !item.is_null() &&
                    item.text != "__temporal_axis__";
           });
  }

  std::vector<std::string> read_words(const YamlNode& node) const {
    std::vector<std::string> words;
    words.reserve(node.items.size());
    for (const YamlNode& word : node.items) words.push_back(read_text(rule(10), word));
    return words;
  }

  ElementNames read_element_names(const YamlNode& node, const YamlNode* period) const {  // B10
    expect_list(rule(10), node);
    if (is_flat(node)) return {read_words(node)};
    ElementNames names;
    for (const YamlNode& item : node.items) {
      // Some writers use an empty list for a dimension without names.
      if (item.is_null() || (item.kind == Kind::kSequence && item.items.empty())) {
        names.emplace_back();
      } else if (item.kind == Kind::kScalar && item.text == "__temporal_axis__") {
        names.emplace_back(TemporalAxis{read_period(item, period)});
      } else if (item.kind == Kind::kSequence) {
        names.emplace_back(read_words(item));
      } else {
        fail(rule(10), item,
             "expected null, __temporal_axis__ or a list of names, found " + describe(item));
      }
    }
    return names;
  }

  double read_period(const YamlNode& axis, const YamlNode* period) const {  // B10
    if (!period) fail(rule(10), axis, "a time axis needs the field temporal_period_ms");
    const Metadata value = period->kind == Kind::kScalar ? resolve_scalar(*period) : Metadata{};
    if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) {
      return static_cast<double>(*integer);
    }
    if (const auto* const number = std::get_if<double>(&value.value)) return *number;
    fail(rule(10), *period, "expected a number, found " + describe(*period));
  }

  Pipeline read_pipeline(const YamlNode& node) const {
    expect_mapping(rule(3), node);
    Pipeline pipeline;
    pipeline.data_flow = read_wires(node.find("data_flow"));
    pipeline.feedback_flow = read_wires(node.find("feedback_flow"));
    pipeline.inputs = read_node_ports(node.find("inputs"));
    pipeline.outputs = read_node_ports(node.find("outputs"));
    pipeline.schedule = read_schedule(node.find("schedule"));
    pipeline.merged = read_merged(node.find("merged"));
    pipeline.initial_values = read_file(node, "initial_values");
    pipeline.golden = read_file(node, "golden");
    const YamlNode* const configs = node.find("configs");
    if (configs && !configs->is_null()) {
      expect_mapping(rule(11), *configs);
      pipeline.configs = read_map(*configs);
    }
    return pipeline;
  }

  std::optional<FileEntry> read_file(const YamlNode& node, const std::string& key) const {
    auto path = read_optional_text(rule(14), node.find(key));
    if (!path) return std::nullopt;
    return FileEntry{std::move(*path), read_digest(node.find(key + "_md5sum")),
                     read_digest(node.find(key + "_sha256sum"))};
  }

  PortRef read_port_ref(const YamlNode& node) const {  // B15
    auto ref = parse_port_ref(read_text(rule(15), node));
    if (!ref) fail(rule(15), node, "expected node/port, found " + describe(node));
    return std::move(*ref);
  }

  std::vector<Wire> read_wires(const YamlNode* node) const {  // B15
    if (!node || node->is_null()) return {};
    expect_mapping(rule(15), *node);
    std::vector<Wire> wires;
    wires.reserve(node->entries.size());
    for (const YamlEntry& entry : node->entries) {
      expect_list(rule(15), entry.value);
      Wire wire{read_port_ref(entry.key), {}};
      for (const YamlNode& target : entry.value.items)
        wire.targets.push_back(read_port_ref(target));
      wires.push_back(std::move(wire));
    }
    return wires;
  }

  std::vector<NodePorts> read_node_ports(const YamlNode* node) const {  // B15
    if (!node || node->is_null()) return {};
    expect_mapping(rule(15), *node);
    std::vector<NodePorts> result;
    result.reserve(node->entries.size());
    for (const YamlEntry& entry : node->entries) {
      expect_list(rule(15), entry.value);
      NodePorts ports{entry.key.text, {}};
      for (const YamlNode& port : entry.value.items)
        ports.ports.push_back(read_text(rule(15), port));
      result.push_back(std::move(ports));
    }
    return result;
  }

  std::vector<NodeSchedule> read_schedule(const YamlNode* node) const {  // B35
    if (!node || node->is_null()) return {};
    expect_mapping(rule(35), *node);
    std::vector<NodeSchedule> schedule;
    for (const YamlEntry& entry : node->entries) schedule.push_back(read_node_schedule(entry));
    return schedule;
  }

  std::optional<std::vector<std::vector<std::string>>> read_merged(
      const YamlNode* node) const {  // B43
    if (!node || node->is_null()) return std::nullopt;
    expect_list(rule(43), *node);
    std::vector<std::vector<std::string>> merged;
    for (const YamlNode& group : node->items) {
      expect_list(rule(43), group);
      std::vector<std::string>& names = merged.emplace_back();
      for (const YamlNode& name : group.items) names.push_back(read_text(rule(43), name));
    }
    return merged;
  }

  NodeSchedule read_node_schedule(const YamlEntry& entry) const {  // B35 to B39
    expect_mapping(rule(35), entry.value);
    NodeSchedule schedule;
    schedule.node = entry.key.text;
    for (const auto& [name, value] : entry.value.entries) {
      const std::string& key = name.text;
      if (key == "every") {
        schedule.every = read_integer(rule(35), value);
      } else if (key == "phase") {
        schedule.phase = read_integer(rule(35), value);
      } else if (key == "repeat") {
        schedule.repeat = read_integer(rule(35), value);
      } else if (key == "carry") {
        schedule.carry = read_names(rule(36), value);
      } else if (key == "index") {
        schedule.index = read_text(rule(36), value);
      } else if (key == "when") {
        schedule.when = parse_port_ref(read_text(rule(37), value));
        if (!schedule.when) fail(rule(37), value, "expected node/port, found " + describe(value));
      } else if (key == "on_change") {
        expect_list(rule(38), value);
        for (const YamlNode& input : value.items) {
          schedule.on_change.push_back(read_text(rule(38), input));
        }
      } else if (key == "age") {
        schedule.ages = read_names(rule(39), value);
      } else {
        fail(rule(35), name,
             "a schedule has no key " + quote_for_message(key) +
                 "; it has every, phase, repeat, carry, index, when, on_change and age. If a newer "
                 "leapp wrote this bundle, install that");
      }
    }
    return schedule;
  }
};

[[noreturn]] void fail_too_large(const std::string& name, std::uintmax_t bytes, std::size_t limit) {
  throw Error(rule(1), name + ":1:1: [B1] the file has " + std::to_string(bytes) +
                           " bytes, more than the limit of " + std::to_string(limit));
}

std::string read_whole_file(const std::filesystem::path& path, const BundleOptions& options) {
  const std::string name = path.string();
  if (path.extension() != ".yaml") {  // B1
    std::error_code ignored;
    throw Error(rule(1), name + ": [B1] the file name of a bundle must end with .yaml" +
                             (std::filesystem::is_directory(path, ignored)
                                  ? "; this is a directory. Pass the .yaml file in it"
                                  : ""));
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    throw Error(Code::kNotFound, name + ": the bundle's YAML file was not found");
  }
  if (!std::filesystem::is_regular_file(status)) {
    throw Error(rule(1), name + ": [B1] this is not a regular file");
  }
  InputFile file(path);
  if (file.size() > options.max_file_bytes) {
    fail_too_large(name, file.size(), options.max_file_bytes);
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  text.resize(file.read(text));
  return text;
}

}  // namespace

Bundle parse_bundle(std::string_view yaml, const std::string& name, const BundleOptions& options) {
  if (yaml.size() > options.max_file_bytes) {
    fail_too_large(name, yaml.size(), options.max_file_bytes);
  }
  const YamlNode root = parse_yaml(yaml, name);
  Bundle bundle = BundleReader(root, name).read();
  if (!yaml.ends_with('\n')) {  // B2
    throw Error(rule(2),
                name + ": [B2] the file does not end with a line break, so it may be truncated");
  }
  const RuleReporter reporter(
      [&](const FieldPath& path) { return position(name, find_node(root, path)); });
  check_models(bundle, options, MeaningPolicy::kWarn, reporter);
  check_pipeline(bundle, options, reporter);
  return bundle;
}

Bundle read_bundle(const std::filesystem::path& path, const BundleOptions& options) {
  Bundle bundle = parse_bundle(read_whole_file(path, options), path.string(), options);
  bundle.file = path;
  return bundle;
}

}  // namespace leapp
