// Writes the YAML of a bundle, B22: models in their order, everything else sorted, lists in one
// line.
#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "bundle/backend_prefix.h"
#include "bundle/yaml_scalar.h"
#include "bundle/yaml_writer.h"
#include "leapp/bundle.h"

namespace leapp {
namespace {

std::string text_or_null(const std::string& text) {
  return text.empty() ? "null" : write_text(text);
}

/// Returns a number of milliseconds; a whole number without a decimal point.
std::string write_period(double period_ms) {
  constexpr double kExactLimit = 1e15;  // integers below this are exact in a double
  if (std::abs(period_ms) < kExactLimit && std::trunc(period_ms) == period_ms) {
    return std::to_string(static_cast<std::int64_t>(period_ms));
  }
  return write_number(period_ms);
}

void write_element_names(YamlWriter& yaml, std::size_t indent, const ElementNames& names) {
  const TemporalAxis* time = nullptr;
  yaml.flow_field(indent, "element_names", names, [&](const auto& dimension) {
    if (const auto* axis = std::get_if<TemporalAxis>(&dimension)) {
      time = axis;
      yaml.append("__temporal_axis__");
    } else if (const auto* words = std::get_if<std::vector<std::string>>(&dimension)) {
      yaml.flow(indent + 4, *words,
                [&](const std::string& word) { yaml.append(write_text(word)); });
    } else {
      yaml.append("null");
    }
  });
  if (time) yaml.field(indent, "temporal_period_ms", write_period(time->period_ms));
}

void write_port(YamlWriter& yaml, const Port& port) {
  constexpr std::size_t kIndent = 6;
  yaml.start_item();
  yaml.text_field(kIndent, "name", port.name);
  yaml.text_field(kIndent, "dtype", name_of(port.dtype));
  yaml.flow_field(kIndent, "shape", port.shape,
                  [&](std::int64_t size) { yaml.append(std::to_string(size)); });
  yaml.text_field(kIndent, "type", "tensor");
  if (port.semantics.kind) yaml.text_field(kIndent, "kind", *port.semantics.kind);
  if (port.semantics.element_names) {
    write_element_names(yaml, kIndent, *port.semantics.element_names);
  }
  for (const auto& [key, value] : port.semantics.extra) yaml.metadata_field(kIndent, key, value);
}

void write_ports(YamlWriter& yaml, std::string_view key, const std::vector<Port>& ports) {
  if (ports.empty()) return yaml.field(4, key, "[]");
  yaml.open(4, key);
  for (const Port& port : ports) write_port(yaml, port);
}

void write_model(YamlWriter& yaml, const Model& model, std::string_view backend_prefix) {
  yaml.open(2, model.name);
  write_ports(yaml, "inputs", model.inputs);
  write_ports(yaml, "outputs", model.outputs);
  yaml.open(4, "parameters");
  const FileEntry file = model.file.value_or(FileEntry{});
  yaml.field(6, "model_path", text_or_null(file.path));
  yaml.field(6, "md5sum", text_or_null(file.md5sum));
  yaml.field(6, "sha256sum", text_or_null(file.sha256sum));
  const std::string backend = model.backend.value_or("");
  yaml.field(6, "backend",
             text_or_null(backend.empty() ? backend : std::string(backend_prefix) + backend));
  yaml.field(6, "warp_segments", "0");  // NVIDIA's leapp has such nodes, we have none
  if (model.opset_version) yaml.field(6, "opset_version", std::to_string(*model.opset_version));
  if (model.torch_version) yaml.text_field(6, "torch_version", *model.torch_version);
  if (model.external_data.empty()) return;
  yaml.open(6, "external_data");
  for (const FileEntry& data : model.external_data) {
    yaml.start_item();
    yaml.text_field(8, "path", data.path);
    if (!data.md5sum.empty()) yaml.field(8, "md5sum", text_or_null(data.md5sum));
    yaml.field(8, "sha256sum", text_or_null(data.sha256sum));
  }
}

template <typename T, typename Key>
std::vector<const T*> sorted(const std::vector<T>& values, const Key& key) {
  std::vector<const T*> pointers;
  pointers.reserve(values.size());
  for (const T& value : values) pointers.push_back(&value);
  std::sort(pointers.begin(), pointers.end(),
            [&](const T* a, const T* b) { return key(*a) < key(*b); });
  return pointers;
}

void write_wires(YamlWriter& yaml, std::string_view key, const std::vector<Wire>& wires) {
  if (wires.empty()) return yaml.field(2, key, "{}");
  yaml.open(2, key);
  for (const Wire* wire : sorted(wires, [](const Wire& w) { return to_string(w.source); })) {
    yaml.flow_field(4, to_string(wire->source), wire->targets,
                    [&](const PortRef& target) { yaml.append(write_text(to_string(target))); });
  }
}

void write_node_ports(YamlWriter& yaml, std::string_view key, const std::vector<NodePorts>& list) {
  if (list.empty()) return yaml.field(2, key, "{}");
  yaml.open(2, key);
  for (const NodePorts* node : sorted(list, [](const NodePorts& n) { return n.node; })) {
    yaml.flow_field(4, node->node, node->ports,
                    [&](const std::string& port) { yaml.append(write_text(port)); });
  }
}

void write_names(YamlWriter& yaml, std::string_view key,
                 const std::map<std::string, std::string>& names) {
  if (names.empty()) return;
  yaml.open(6, key);
  for (const auto& [name, value] : names) yaml.text_field(8, name, value);
}

void write_node_schedule(YamlWriter& yaml, const NodeSchedule& schedule) {
  if (schedule == NodeSchedule{.node = schedule.node}) {
    return yaml.field(4, schedule.node, "{}");
  }
  yaml.open(4, schedule.node);
  write_names(yaml, "age", schedule.ages);
  write_names(yaml, "carry", schedule.carry);
  if (schedule.every != 1) yaml.field(6, "every", std::to_string(schedule.every));
  if (!schedule.index.empty()) yaml.text_field(6, "index", schedule.index);
  if (!schedule.on_change.empty()) {
    yaml.flow_field(6, "on_change", schedule.on_change,
                    [&](const std::string& input) { yaml.append(write_text(input)); });
  }
  if (schedule.phase != 0) yaml.field(6, "phase", std::to_string(schedule.phase));
  if (schedule.repeat != 1) yaml.field(6, "repeat", std::to_string(schedule.repeat));
  if (schedule.when) yaml.text_field(6, "when", to_string(*schedule.when));
}

void write_schedule(YamlWriter& yaml, const std::vector<NodeSchedule>& schedule) {
  if (schedule.empty()) return;
  yaml.open(2, "schedule");
  for (const NodeSchedule* node : sorted(schedule, [](const NodeSchedule& n) { return n.node; })) {
    write_node_schedule(yaml, *node);
  }
}

void write_merged(YamlWriter& yaml,
                  const std::optional<std::vector<std::vector<std::string>>>& merged) {
  if (!merged) return;
  yaml.flow_field(2, "merged", *merged, [&](const std::vector<std::string>& group) {
    yaml.flow(4, group, [&](const std::string& node) { yaml.append(write_text(node)); });
  });
}

/// Returns the value with the keys of every mapping sorted.
Metadata sorted_keys(const Metadata& value) {
  if (const auto* const list = std::get_if<Metadata::List>(&value.value)) {
    Metadata::List result;
    for (const Metadata& item : *list) result.push_back(sorted_keys(item));
    return {std::move(result)};
  }
  if (const auto* const map = std::get_if<Metadata::Map>(&value.value)) {
    Metadata::Map result;
    for (const auto& [key, child] : *map) result.push_back({key, sorted_keys(child)});
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return {std::move(result)};
  }
  return value;
}

void write_file(YamlWriter& yaml, const std::string& key, const std::optional<FileEntry>& file) {
  if (!file) return;
  yaml.text_field(2, key, file->path);
  if (!file->md5sum.empty()) yaml.text_field(2, key + "_md5sum", file->md5sum);
  if (!file->sha256sum.empty()) yaml.text_field(2, key + "_sha256sum", file->sha256sum);
}

void write_pipeline(YamlWriter& yaml, const Pipeline& pipeline) {
  yaml.open(0, "pipeline");
  if (!pipeline.configs.empty()) {
    yaml.metadata_field(2, "configs", sorted_keys({pipeline.configs}));
  }
  write_wires(yaml, "data_flow", pipeline.data_flow);
  write_wires(yaml, "feedback_flow", pipeline.feedback_flow);
  write_file(yaml, "golden", pipeline.golden);
  write_file(yaml, "initial_values", pipeline.initial_values);
  write_node_ports(yaml, "inputs", pipeline.inputs);
  write_merged(yaml, pipeline.merged);
  write_node_ports(yaml, "outputs", pipeline.outputs);
  write_schedule(yaml, pipeline.schedule);
}

void write_system_information(YamlWriter& yaml, const SystemInformation& system) {
  const auto line = [&](std::string_view key, const std::optional<std::string>& value) {
    yaml.text_field(2, key, value.value_or("None"));
  };
  yaml.open(0, "system information");
  line("cuda version", system.cuda_version);
  line("leapp config version", system.config_version);
  line("leapp version", system.leapp_version);
  line("os", system.os);
  line("python version", system.python_version);
  line("torch version", system.torch_version);
  yaml.field(2, "warp version", "null");
}

}  // namespace

std::string to_yaml(const Bundle& bundle) {
  YamlWriter yaml;
  if (bundle.models.empty()) {
    yaml.field(0, "models", "{}");
  } else {
    yaml.open(0, "models");
    const std::string_view prefix = find_need_of_prefix(bundle) ? kBackendPrefix : "";
    for (const Model& model : bundle.models) write_model(yaml, model, prefix);
  }
  yaml.blank_line();
  write_pipeline(yaml, bundle.pipeline);
  yaml.blank_line();
  write_system_information(yaml, bundle.system_information);
  yaml.blank_line();
  return yaml.take();
}

}  // namespace leapp
