#include "view/bundle_json.h"

#include <nlohmann/json.hpp>

#include "leapp/tools/view.h"

namespace leapp::view {
namespace {

using Json = nlohmann::ordered_json;

// One entry for each dimension: null, a list of names, or the period of a time axis.
Json element_names_json(const ElementNames& names) {
  Json list = Json::array();
  for (const auto& dimension : names) {
    if (const auto* axis = std::get_if<TemporalAxis>(&dimension)) {
      list.push_back({{"temporal_period_ms", axis->period_ms}});
    } else if (const auto* words = std::get_if<std::vector<std::string>>(&dimension)) {
      list.push_back(*words);
    } else {
      list.push_back(nullptr);
    }
  }
  return list;
}

Json file_json(const FileEntry& file) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"path", file.path},
          {"md5sum", or_null(file.md5sum)},
          {"sha256sum", or_null(file.sha256sum)}};
}

Json optional_file_json(const std::optional<FileEntry>& file) {
  return file ? file_json(*file) : Json();
}

Json versions_json(const SystemInformation& system) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"cuda_version", or_null(system.cuda_version)},
          {"config_version", system.config_version},
          {"leapp_version", or_null(system.leapp_version)},
          {"os", or_null(system.os)},
          {"python_version", or_null(system.python_version)},
          {"torch_version", or_null(system.torch_version)}};
}

Json flow_json(const std::vector<Wire>& wires) {
  Json json = Json::object();
  for (const Wire& wire : wires) {
    for (const PortRef& target : wire.targets) {
      json[to_string(wire.source)].push_back(to_string(target));
    }
  }
  return json;
}

Json model_json(const Model& model) {
  Json json = {{"name", model.name},
               {"backend", model.backend ? Json(*model.backend) : Json()},
               {"file", model.file ? Json(model.file->path) : Json()},
               {"inputs", to_json(model.inputs)},
               {"outputs", to_json(model.outputs)}};
  if (model.file) {
    const Json file = file_json(*model.file);
    for (const char* key : {"md5sum", "sha256sum"}) json[key] = file[key];
  }
  for (const FileEntry& file : model.external_data) {
    json["external_data"].push_back(file_json(file));
  }
  if (model.opset_version) json["opset_version"] = *model.opset_version;
  if (model.torch_version) json["torch_version"] = *model.torch_version;
  return json;
}

Json schedule_json(const std::vector<NodeSchedule>& schedule) {
  Json json = Json::object();
  for (const NodeSchedule& node : schedule) {
    Json& entry = json[node.node] = {{"text", to_string(node)}, {"every", node.every},
                                     {"phase", node.phase},     {"repeat", node.repeat},
                                     {"carry", node.carry},     {"on_change", node.on_change},
                                     {"age", node.ages}};
    if (!node.index.empty()) entry["index"] = node.index;
    if (node.when) entry["when"] = to_string(*node.when);
  }
  return json;
}

}  // namespace

Json to_json(const Metadata& metadata) {
  return std::visit(
      [](const auto& value) -> Json {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else if constexpr (std::is_same_v<T, Metadata::List>) {
          Json list = Json::array();
          for (const Metadata& item : value) list.push_back(to_json(item));
          return list;
        } else if constexpr (std::is_same_v<T, Metadata::Map>) {
          return to_json(value);
        } else {
          return value;
        }
      },
      metadata.value);
}

Json to_json(const Metadata::Map& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[key] = to_json(value);
  return json;
}

Json to_json(const Port& port) {
  Json json = {{"name", port.name}, {"dtype", name_of(port.dtype)}, {"shape", port.shape}};
  if (port.semantics.kind) json["kind"] = *port.semantics.kind;
  if (const auto& names = port.semantics.element_names) {
    json["element_names"] = element_names_json(*names);
  }
  if (!port.semantics.extra.empty()) json["extra"] = to_json(port.semantics.extra);
  return json;
}

Json to_json(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& port : ports) list.push_back(to_json(port));
  return list;
}

std::vector<std::string> names_of(const std::vector<NodePorts>& nodes) {
  std::vector<std::string> names;
  for (const NodePorts& node : nodes) {
    for (const std::string& port : node.ports) names.push_back(node.node + "/" + port);
  }
  return names;
}

}  // namespace leapp::view

namespace leapp {

std::string to_json(const Bundle& bundle) {
  using Json = nlohmann::ordered_json;
  Json models = Json::array();
  for (const std::size_t index : execution_order(bundle)) {
    models.push_back(view::model_json(bundle.models[index]));
  }
  const Pipeline& pipeline = bundle.pipeline;
  const Json json = {{"file", bundle.file.string()},
                     {"config_version", bundle.system_information.config_version},
                     {"nodes", std::move(models)},
                     {"inputs", view::names_of(pipeline.inputs)},
                     {"outputs", view::names_of(pipeline.outputs)},
                     {"data_flow", view::flow_json(pipeline.data_flow)},
                     {"feedback_flow", view::flow_json(pipeline.feedback_flow)},
                     {"schedule", view::schedule_json(pipeline.schedule)},
                     {"merged", pipeline.merged ? Json(*pipeline.merged) : Json()},
                     {"golden", view::optional_file_json(pipeline.golden)},
                     {"initial_values", view::optional_file_json(pipeline.initial_values)},
                     {"configs", view::to_json(pipeline.configs)},
                     {"system_information", view::versions_json(bundle.system_information)}};
  return json.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace leapp
