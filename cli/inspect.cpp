#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "text.h"

namespace leapp::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Metadata& metadata);

Json to_json(const Metadata::Map& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) json[key] = to_json(value);
  return json;
}

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

// One entry for each dimension: null, a list of names, or the period of a time axis.
Json to_json(const ElementNames& names) {
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

Json to_json(const FileEntry& file) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  return {{"path", file.path},
          {"md5sum", or_null(file.md5sum)},
          {"sha256sum", or_null(file.sha256sum)}};
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json to_json(const SystemInformation& information) {
  return {{"cuda_version", or_null(information.cuda_version)},
          {"config_version", information.config_version},
          {"leapp_version", or_null(information.leapp_version)},
          {"os", or_null(information.os)},
          {"python_version", or_null(information.python_version)},
          {"torch_version", or_null(information.torch_version)}};
}

Json to_json(const std::vector<Port>& ports) {
  Json list = Json::array();
  for (const Port& port : ports) {
    Json entry = {{"name", port.name}, {"dtype", name_of(port.dtype)}, {"shape", port.shape}};
    if (port.semantics.kind) entry["kind"] = *port.semantics.kind;
    if (port.semantics.element_names)
      entry["element_names"] = to_json(*port.semantics.element_names);
    if (!port.semantics.extra.empty()) entry["extra"] = to_json(port.semantics.extra);
    list.push_back(std::move(entry));
  }
  return list;
}

Json to_json(const std::vector<Wire>& wires) {
  Json json = Json::object();
  for (const Wire& wire : wires) {
    for (const PortRef& target : wire.targets) {
      json[to_string(wire.source)].push_back(to_string(target));
    }
  }
  return json;
}

std::vector<std::string> names_of(const std::vector<NodePorts>& nodes) {
  std::vector<std::string> names;
  for (const NodePorts& node : nodes) {
    for (const std::string& port : node.ports) names.push_back(node.node + "/" + port);
  }
  return names;
}

Json to_json(const Bundle& bundle) {
  Json models = Json::array();
  for (std::size_t index : execution_order(bundle)) {
    const Model& model = bundle.models[index];
    Json entry = {{"name", model.name},
                  {"backend", model.backend ? Json(*model.backend) : Json()},
                  {"file", model.file ? Json(model.file->path) : Json()},
                  {"inputs", to_json(model.inputs)},
                  {"outputs", to_json(model.outputs)}};
    if (model.file) {
      entry["md5sum"] = to_json(*model.file)["md5sum"];
      entry["sha256sum"] = to_json(*model.file)["sha256sum"];
    }
    for (const FileEntry& file : model.external_data) {
      entry["external_data"].push_back(to_json(file));
    }
    if (model.opset_version) entry["opset_version"] = *model.opset_version;
    if (model.torch_version) entry["torch_version"] = *model.torch_version;
    models.push_back(std::move(entry));
  }
  return {{"file", bundle.file.string()},
          {"config_version", bundle.system_information.config_version},
          {"nodes", std::move(models)},
          {"inputs", names_of(bundle.pipeline.inputs)},
          {"outputs", names_of(bundle.pipeline.outputs)},
          {"data_flow", to_json(bundle.pipeline.data_flow)},
          {"feedback_flow", to_json(bundle.pipeline.feedback_flow)},
          {"golden", bundle.pipeline.golden ? to_json(*bundle.pipeline.golden) : Json()},
          {"initial_values",
           bundle.pipeline.initial_values ? to_json(*bundle.pipeline.initial_values) : Json()},
          {"configs", to_json(bundle.pipeline.configs)},
          {"system_information", to_json(bundle.system_information)}};
}

void print_ports(const std::string& title, const Bundle& bundle,
                 const std::vector<std::string>& names, bool inputs) {
  std::printf("\n%s\n", title.c_str());
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : names) {
    const PortRef ref = *parse_port_ref(name);
    const Port& port = inputs ? *bundle.find_input(ref) : *bundle.find_output(ref);
    rows.push_back({"  " + name, type_text(port), port.semantics.kind.value_or("")});
  }
  std::fputs(rows.empty() ? "  none\n" : table(rows, false).c_str(), stdout);
}

void print(const Bundle& bundle) {
  std::printf("%s: %s, config version %s\n", bundle.file.c_str(),
              count_text(bundle.models.size(), "node").c_str(),
              bundle.system_information.config_version.c_str());
  std::printf("\nnodes, in order of execution\n");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t index : execution_order(bundle)) {
    const Model& model = bundle.models[index];
    rows.push_back({"  " + model.name, model.backend.value_or("no model"),
                    model.file ? model.file->path : "-",
                    std::to_string(model.inputs.size()) + " in",
                    std::to_string(model.outputs.size()) + " out"});
  }
  std::fputs(table(rows, false).c_str(), stdout);
  print_ports("inputs", bundle, names_of(bundle.pipeline.inputs), true);
  print_ports("outputs", bundle, names_of(bundle.pipeline.outputs), false);
  for (const auto& [title, flow] : {std::pair{"wires", &bundle.pipeline.data_flow},
                                    std::pair{"feedback", &bundle.pipeline.feedback_flow}}) {
    std::printf("\n%s\n", title);
    if (flow->empty()) std::printf("  none\n");
    for (const Wire& wire : *flow) {
      for (const PortRef& target : wire.targets) {
        std::printf("  %s -> %s\n", to_string(wire.source).c_str(), to_string(target).c_str());
      }
    }
  }
}

}  // namespace

Command add_inspect(CLI::App& program) {
  struct Arguments {
    std::string yaml;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* app = program.add_subcommand("inspect", "show nodes, ports and wires of a bundle");
  add_bundle(*app, arguments->yaml);
  add_json(*app, arguments->json);
  app->footer("Example: leapp inspect walker/walker.yaml");
  return {app, [arguments] {
            BundleOptions options;  // looking needs no memory for tensors
            options.max_tensor_bytes = std::numeric_limits<std::uint64_t>::max();
            const Bundle bundle = read_bundle(arguments->yaml, options);
            if (arguments->json) {
              std::printf("%s\n", json_text(to_json(bundle)).c_str());
            } else {
              print(bundle);
            }
            return kDone;
          }};
}

}  // namespace leapp::cli
