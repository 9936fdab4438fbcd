#include "view/description.h"

#include <nlohmann/json.hpp>

#include "bundle/json_tree.h"
#include "bundle/wiring.h"
#include "leapp/robot_binding.h"
#include "leapp/tools/inventory.h"
#include "view/bundle_json.h"
#include "view/distribution.h"
#include "view/model_facts.h"
#include "view/numbers.h"
#include "view/reports.h"
#include "view/series.h"
#include "viz/draw.h"

namespace leapp::view {
namespace {

using Json = nlohmann::ordered_json;

// Limits for the lists on the page; further elements are only counted.
constexpr std::size_t kMostOperators = 4000;
constexpr std::size_t kMostWeights = 2000;
constexpr std::size_t kMostCode = 200'000;

Json to_json(const Operator& op) {
  Json json = {{"type", op.type}};
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text;
  };
  add("name", op.name);
  add("from", op.from);
  add("module", op.module);
  add("where", op.where);
  if (!op.inputs.empty()) json["inputs"] = op.inputs;
  if (!op.outputs.empty()) json["outputs"] = op.outputs;
  if (op.depth > 0) json["depth"] = op.depth;
  return json;
}

Json to_json(const Weight& weight) {
  Json json = {{"name", weight.name},
               {"dtype", name_of(weight.tensor.dtype)},
               {"shape", weight.tensor.shape},
               {"count", element_count(weight.tensor.shape)}};
  if (weight.tensor.data == nullptr) return json;
  const Distribution found = distribution_of(weight.tensor);
  json["min"] = short_number(found.min);
  json["max"] = short_number(found.max);
  json["mean"] = short_number(found.mean);
  json["deviation"] = short_number(found.deviation);
  if (found.zero > 0) json["zero"] = found.zero;
  if (found.nan > 0) json["nan"] = found.nan;
  if (found.infinite > 0) json["infinite"] = found.infinite;
  json["bins"] = found.bins;
  return json;
}

// Returns the first `most` elements of a list as JSON, with their total number.
template <typename T>
void add_list(Json& json, const std::string& key, const std::vector<T>& items, std::size_t most) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(items.size(), most); ++i) {
    list.push_back(to_json(items[i]));
  }
  json[key] = std::move(list);
  json[key + "_count"] = items.size();
}

Json node_json(const Model& model, const Bundle& bundle, const BundleOptions& options) {
  const ModelFacts facts = read_facts(model, bundle.file.parent_path(), options);
  Json json = {{"name", model.name},
               {"backend", model.backend ? Json(*model.backend) : Json()},
               {"file", model.file ? Json(model.file->path) : Json()},
               {"bytes", facts.file_bytes},
               {"sha256", model.file ? model.file->sha256sum : ""},
               {"inputs", view::to_json(model.inputs)},
               {"outputs", view::to_json(model.outputs)},
               {"code", facts.code.substr(0, kMostCode)},
               {"remarks", facts.remarks}};
  for (const NodeSchedule& schedule : bundle.pipeline.schedule) {
    if (schedule.node == model.name) json["schedule"] = to_string(schedule);
  }
  if (model.opset_version) json["opset"] = *model.opset_version;
  if (model.torch_version) json["torch"] = *model.torch_version;
  add_list(json, "operators", facts.operators, kMostOperators);
  add_list(json, "weights", facts.weights, kMostWeights);
  std::uint64_t parameters = 0;
  for (const Weight& weight : facts.weights) {
    parameters += static_cast<std::uint64_t>(element_count(weight.tensor.shape));
  }
  json["parameters"] = parameters;
  return json;
}

Json wires_json(const Bundle& bundle, const Wiring& wiring) {
  Json list = Json::array();
  for (const Wiring::Connection& wire : wiring.connections()) {
    list.push_back({{"source", to_string(output_ref(bundle, wire.source))},
                    {"target", to_string(input_ref(bundle, wire.target))},
                    {"feedback", wire.last_tick}});
  }
  return list;
}

Json system_json(const SystemInformation& system) {
  Json json = {{"config version", system.config_version}};
  const auto add = [&](const char* key, const std::optional<std::string>& text) {
    if (text) json[key] = *text;
  };
  add("leapp", system.leapp_version);
  add("torch", system.torch_version);
  add("Python", system.python_version);
  add("CUDA", system.cuda_version);
  add("system", system.os);
  return json;
}

Json binding_json(const std::vector<PortBinding>& ports, const std::vector<Signal>& signals) {
  Json list = Json::array();
  for (const PortBinding& port : ports) {
    Json elements = Json::array();
    for (std::size_t i = 0; i < port.sources.size(); ++i) {
      const Signal& signal = signals[port.sources[i].signal];
      elements.push_back({{"name", i < port.elements.size() ? port.elements[i] : std::to_string(i)},
                          {"signal", signal.name + "[" + std::to_string(port.sources[i].element) +
                                         "] " + signal.elements[port.sources[i].element]},
                          {"factor", short_number(port.sources[i].factor)}});
    }
    list.push_back({{"port", port.port},
                    {"kind", port.kind},
                    {"elements", std::move(elements)},
                    {"remarks", port.remarks}});
  }
  return list;
}

Json robot_json(const Bundle& bundle, const std::filesystem::path& file) {
  if (file.empty()) return nullptr;
  const Robot robot = read_robot(file);
  const RobotBinding binding = bind(bundle, robot);
  return {{"file", file.filename().string()},
          {"rate", robot.rate},
          {"inputs", binding_json(binding.inputs, robot.sensors)},
          {"outputs", binding_json(binding.outputs, robot.actuators)},
          {"problems", binding.problems},
          {"remarks", binding.remarks}};
}

// Returns why the files differ from the export, or nothing.
Json integrity_json(const Bundle& bundle, const BundleOptions& options) {
  try {
    verify_files(bundle, options);
    return nullptr;
  } catch (const Error& error) {
    return error.what();
  }
}

void add_drawing(const Bundle& bundle, Json& json) {
  try {
    json["svg"] = to_svg(bundle);
  } catch (const Error& error) {
    json["svg"] = nullptr;
    json["drawing_remark"] = error.what();
  }
}

}  // namespace

Json describe(const Bundle& bundle, const ViewOptions& options) {
  Json nodes = Json::array();
  for (const Model& model : bundle.models) {
    nodes.push_back(node_json(model, bundle, options.bundle));
  }
  const Wiring wiring(bundle);
  Json json = {{"title", bundle.file.stem().string()},
               {"file", bundle.file.filename().string()},
               {"nodes", std::move(nodes)},
               {"order", wiring.order()},
               {"wires", wires_json(bundle, wiring)},
               {"inputs", names_of(bundle.pipeline.inputs)},
               {"outputs", names_of(bundle.pipeline.outputs)},
               {"configs", to_json(bundle.pipeline.configs)},
               {"system", system_json(bundle.system_information)},
               {"golden", golden_series(bundle, options.bundle)},
               {"recording", options.recording.empty()
                                 ? Json()
                                 : recorded_series(options.recording, bundle, options.policy)},
               {"validation", validation_report(bundle)},
               {"constants", parse_json(leapp::to_json(read_inventory(bundle.file)))},
               {"bench", bench_report(options.bench)},
               {"robot", robot_json(bundle, options.robot)},
               {"integrity", integrity_json(bundle, options.bundle)}};
  add_drawing(bundle, json);
  return json;
}

}  // namespace leapp::view
