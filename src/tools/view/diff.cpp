#include "leapp/tools/diff.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/find.h"
#include "base/join.h"
#include "bundle/safetensors.h"
#include "bundle/wiring.h"
#include "leapp/comparison.h"
#include "leapp/log.h"
#include "view/bundle_json.h"
#include "view/distribution.h"
#include "view/model_facts.h"
#include "view/numbers.h"

namespace leapp {
namespace {

std::string type_of(const Port& port) {
  return std::string(name_of(port.dtype)) + " " + to_string(port.shape);
}

std::string type_of(const ConstTensorView& tensor) {
  return std::string(name_of(tensor.dtype)) + " " + to_string(tensor.shape);
}

// The elements that differ most, or nothing if all are equal (NaN equals NaN).
std::optional<WorstElement> worst_of(const ConstTensorView& before, const ConstTensorView& after) {
  const Comparison comparison = compare(before, after, kExact);
  if (comparison.passed()) return std::nullopt;
  const ElementMismatch& worst = comparison.worst;
  return WorstElement{static_cast<std::uint64_t>(worst.index), worst.traced, worst.exported};
}

constexpr const char* kEveryTick = "every tick";

// Finds what differs, kind by kind.
class Differ {
 public:
  Differ(const Bundle& before, const Bundle& after, const BundleOptions& options)
      : before_(before), after_(after), options_(options) {}

  BundleDiff run() {
    compare_nodes();
    for (const Model& model : after_.models) {
      const Model* former = before_.find_model(model.name);
      if (former == nullptr) continue;
      compare_ports(model.name, former->inputs, model.inputs, "input");
      compare_ports(model.name, former->outputs, model.outputs, "output");
    }
    compare_wires();
    compare_schedules();
    compare_merged();
    compare_configs();
    for (const Model& model : after_.models) {
      const Model* former = before_.find_model(model.name);
      if (former != nullptr) compare_models(*former, model);
    }
    compare_initial_values();
    std::stable_sort(diff_.differences.begin(), diff_.differences.end(),
                     [](const Difference& a, const Difference& b) { return a.kind < b.kind; });
    return std::move(diff_);
  }

 private:
  void add(DiffKind kind, std::string where, std::string before, std::string after,
           std::optional<WorstElement> worst = {}) {
    diff_.differences.push_back(
        {kind, std::move(where), std::move(before), std::move(after), worst});
  }

  void compare_nodes() {
    for (const Model& model : after_.models) {
      const Model* former = before_.find_model(model.name);
      const std::string backend = model.backend.value_or("no model");
      if (former == nullptr) {
        add(DiffKind::kNode, model.name, "", backend);
      } else if (former->backend != model.backend) {
        add(DiffKind::kNode, model.name, former->backend.value_or("no model"), backend);
      }
    }
    for (const Model& model : before_.models) {
      if (after_.find_model(model.name) == nullptr) {
        add(DiffKind::kNode, model.name, model.backend.value_or("no model"), "");
      }
    }
  }

  void compare_ports(const std::string& node, const std::vector<Port>& before,
                     const std::vector<Port>& after, const std::string& side) {
    for (const Port& port : after) {
      const Port* former = find_in(before, port.name, &Port::name);
      const std::string where = node + "/" + port.name;
      if (former == nullptr) {
        add(DiffKind::kPort, where, "", side + " " + type_of(port));
        continue;
      }
      if (type_of(*former) != type_of(port)) {
        add(DiffKind::kPort, where, side + " " + type_of(*former), side + " " + type_of(port));
      }
      compare_semantics(where, *former, port);
    }
    for (const Port& port : before) {
      if (find_in(after, port.name, &Port::name) == nullptr) {
        add(DiffKind::kPort, node + "/" + port.name, side + " " + type_of(port), "");
      }
    }
  }

  // Compares key by key, so that a changed limit is not reported as a changed port.
  void compare_semantics(const std::string& where, const Port& before, const Port& after) {
    const auto keys = [](const Port& port) {
      nlohmann::ordered_json all = view::to_json(port);
      for (const char* key : {"name", "dtype", "shape"}) all.erase(key);
      if (all.contains("extra")) {
        const nlohmann::ordered_json extra = all["extra"];
        all.erase("extra");
        all.update(extra);
      }
      return all;
    };
    compare_keys(DiffKind::kSemantics, where + " ", keys(before), keys(after));
  }

  void compare_keys(DiffKind kind, const std::string& prefix, const nlohmann::ordered_json& before,
                    const nlohmann::ordered_json& after) {
    const auto text = [](const nlohmann::ordered_json& value) {
      return value.is_string()
                 ? value.get<std::string>()
                 : value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    };
    for (const auto& [key, value] : after.items()) {
      if (!before.contains(key)) {
        add(kind, prefix + key, "", text(value));
      } else if (before[key] != value) {
        add(kind, prefix + key, text(before[key]), text(value));
      }
    }
    for (const auto& [key, value] : before.items()) {
      if (!after.contains(key)) add(kind, prefix + key, text(value), "");
    }
  }

  // Every wire, and every port of the pipeline itself, as a line of text.
  static std::set<std::string> wires_of(const Bundle& bundle) {
    std::set<std::string> lines;
    const Wiring wiring(bundle);
    for (const Wiring::Connection& wire : wiring.connections()) {
      lines.insert(to_string(output_ref(bundle, wire.source)) + (wire.last_tick ? " => " : " -> ") +
                   to_string(input_ref(bundle, wire.target)));
    }
    const auto add_ports = [&](const std::vector<NodePorts>& nodes, const char* what) {
      for (const NodePorts& node : nodes) {
        for (const std::string& port : node.ports) lines.insert(what + node.node + "/" + port);
      }
    };
    add_ports(bundle.pipeline.inputs, "input ");
    add_ports(bundle.pipeline.outputs, "output ");
    return lines;
  }

  void compare_wires() {
    const std::set<std::string> before = wires_of(before_);
    const std::set<std::string> after = wires_of(after_);
    for (const std::string& line : after) {
      if (!before.contains(line)) add(DiffKind::kWire, line, "", "there");
    }
    for (const std::string& line : before) {
      if (!after.contains(line)) add(DiffKind::kWire, line, "there", "");
    }
  }

  void compare_schedules() {
    const auto texts = [](const Bundle& bundle) {
      std::map<std::string, std::string> by_node;
      for (const NodeSchedule& schedule : bundle.pipeline.schedule) {
        by_node[schedule.node] = to_string(schedule);
      }
      return by_node;
    };
    const std::map<std::string, std::string> before = texts(before_);
    const std::map<std::string, std::string> after = texts(after_);
    for (const auto& [node, text] : after) {
      const auto former = before.find(node);
      const std::string old = former != before.end() ? former->second : kEveryTick;
      if (old != text) add(DiffKind::kWire, "schedule of " + node, old, text);
    }
    for (const auto& [node, text] : before) {
      if (!after.contains(node) && text != kEveryTick) {
        add(DiffKind::kWire, "schedule of " + node, text, kEveryTick);
      }
    }
  }

  void compare_merged() {
    const auto text = [](const Bundle& bundle) -> std::string {
      if (!bundle.pipeline.merged) return "not stated";
      std::vector<std::string> groups;
      for (const std::vector<std::string>& group : *bundle.pipeline.merged) {
        groups.push_back("[" + join(group) + "]");
      }
      return join(groups);
    };
    const std::string before = text(before_);
    const std::string after = text(after_);
    if (before != after) add(DiffKind::kNode, "merged nodes", before, after);
  }

  void compare_configs() {
    compare_keys(DiffKind::kConfig, "", view::to_json(before_.pipeline.configs),
                 view::to_json(after_.pipeline.configs));
  }

  void compare_models(const Model& before, const Model& after) {
    const auto facts = [&](const Model& model, const Bundle& bundle) {
      return view::read_facts(model, bundle.file.parent_path(), options_);
    };
    const view::ModelFacts former = facts(before, before_);
    const view::ModelFacts latter = facts(after, after_);
    const auto operators = [](const view::ModelFacts& found) {
      std::vector<std::string> types;
      for (const view::Operator& op : found.operators) types.push_back(op.type);
      return types;
    };
    const std::string count = std::to_string(former.operators.size()) + " operators";
    if (operators(former) != operators(latter)) {
      const std::string now = std::to_string(latter.operators.size()) + " operators";
      add(DiffKind::kNode, after.name + ": its operators", count,
          now == count ? count + ", different ones" : now);
    }
    if (former.code != latter.code) {
      add(DiffKind::kNode, after.name + ": its code", std::to_string(former.code.size()) + " bytes",
          std::to_string(latter.code.size()) + " bytes");
    }
    if (former.translation != latter.translation) {
      const auto text = [](const std::string& translation) {
        return translation.empty() ? "" : std::to_string(translation.size()) + " bytes";
      };
      add(DiffKind::kNode, after.name + ": its ONNX translation", text(former.translation),
          text(latter.translation));
    }
    compare_tensors(after.name + ": ", former.weights, latter.weights);
  }

  void compare_tensors(const std::string& prefix, const std::vector<view::Weight>& before,
                       const std::vector<view::Weight>& after) {
    std::map<std::string, const ConstTensorView*> former;
    for (const view::Weight& weight : before) former[weight.name] = &weight.tensor;
    for (const view::Weight& weight : after) {
      const auto found = former.find(weight.name);
      if (found == former.end()) {
        add(DiffKind::kWeight, prefix + weight.name, "", type_of(weight.tensor));
        continue;
      }
      compare_tensor(prefix + weight.name, *found->second, weight.tensor);
      former.erase(found);
    }
    for (const auto& [name, tensor] : former) {
      add(DiffKind::kWeight, prefix + name, type_of(*tensor), "");
    }
  }

  void compare_tensor(const std::string& where, const ConstTensorView& before,
                      const ConstTensorView& after) {
    if (type_of(before) != type_of(after)) {
      add(DiffKind::kWeight, where, type_of(before), type_of(after));
    } else if (before.data == nullptr || after.data == nullptr) {
      add(DiffKind::kWeight, where, "not readable", "not readable");
    } else if (const auto worst = worst_of(before, after)) {
      add(DiffKind::kWeight, where, type_of(before), type_of(after), worst);
    } else {
      ++diff_.equal_weights;
    }
  }

  void compare_initial_values() {
    const auto read = [&](const Bundle& bundle) {
      const auto& entry = bundle.pipeline.initial_values;
      if (!entry) return SafeTensors();
      return SafeTensors::read(resolve_file(bundle.file.parent_path(), entry->path, options_),
                               options_.max_tensor_bytes);
    };
    const auto weights = [](const SafeTensors& tensors) {
      std::vector<view::Weight> list;
      for (const NamedTensorView& each : tensors.tensors()) {
        list.push_back({each.name, each.tensor});
      }
      return list;
    };
    const SafeTensors before = read(before_);
    const SafeTensors after = read(after_);
    compare_tensors("initial value of ", weights(before), weights(after));
  }

  const Bundle& before_;
  const Bundle& after_;
  const BundleOptions& options_;
  BundleDiff diff_;
};

std::string describe_worst(const WorstElement& worst) {
  char text[160];
  std::snprintf(text, sizeof(text), "worst error %.6g at element %llu (%.6g, now %.6g)",
                std::abs(worst.after - worst.before), static_cast<unsigned long long>(worst.index),
                worst.before, worst.after);
  return text;
}

}  // namespace

std::string_view name_of(DiffKind kind) noexcept {
  switch (kind) {
    case DiffKind::kNode:
      return "node";
    case DiffKind::kPort:
      return "port";
    case DiffKind::kSemantics:
      return "semantics";
    case DiffKind::kWire:
      return "wire";
    case DiffKind::kConfig:
      return "config";
    case DiffKind::kWeight:
      return "weight";
  }
  return "?";
}

BundleDiff diff(const std::filesystem::path& before, const std::filesystem::path& after,
                const BundleOptions& options) {
  return Differ(read_bundle(before, options), read_bundle(after, options), options).run();
}

std::string to_string(const BundleDiff& diff) {
  std::string text;
  for (const Difference& each : diff.differences) {
    const char* sign = each.before.empty() ? "+ " : each.after.empty() ? "- " : "~ ";
    text += sign + std::string(name_of(each.kind)) + " " + each.where;
    if (each.worst) {
      text += ": " + describe_worst(*each.worst);
    } else if (each.kind != DiffKind::kWire) {
      text += ": ";
      text += each.before.empty()  ? each.after
              : each.after.empty() ? each.before
                                   : each.before + ", now " + each.after;
    }
    text += "\n";
  }
  return printable(text);
}

std::string to_json(const BundleDiff& diff) {
  using Json = nlohmann::ordered_json;
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  Json list = Json::array();
  for (const Difference& each : diff.differences) {
    Json json = {{"kind", name_of(each.kind)},
                 {"where", each.where},
                 {"before", or_null(each.before)},
                 {"after", or_null(each.after)}};
    if (each.worst) {
      json["worst"] = {
          {"index", each.worst->index},
          {"before", view::short_number(each.worst->before)},
          {"after", view::short_number(each.worst->after)},
          {"error", view::short_number(std::abs(each.worst->after - each.worst->before))}};
    }
    list.push_back(std::move(json));
  }
  const Json json = {{"same", diff.same()},
                     {"equal_weights", diff.equal_weights},
                     {"differences", std::move(list)}};
  return json.dump(2, ' ', true, Json::error_handler_t::replace);
}

}  // namespace leapp
