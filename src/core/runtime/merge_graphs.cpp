#include "runtime/merge_graphs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "base/unused_name.h"
#include "bundle/wiring.h"

namespace leapp {
namespace {

bool has_unread_parts(const onnx::Graph& graph) {
  if (!graph.unread.empty()) return true;
  for (const onnx::Node& node : graph.nodes) {
    for (const onnx::Attribute& attribute : node.attributes) {
      if (std::holds_alternative<std::monostate>(attribute.value)) return true;
      const auto* body = std::get_if<std::shared_ptr<const onnx::Graph>>(&attribute.value);
      if (body != nullptr && has_unread_parts(**body)) return true;
    }
  }
  return false;
}

std::map<std::string, std::int64_t> opsets_of(const onnx::Model& model) {
  std::map<std::string, std::int64_t> opsets;
  for (const onnx::Opset& opset : model.opsets) {
    // "ai.onnx" is an alias of ONNX's own domain.
    opsets[opset.domain == "ai.onnx" ? "" : opset.domain] = opset.version;
  }
  return opsets;
}

onnx::ValueInfo value_info(const Port& port) {
  onnx::ValueInfo info;
  info.name = port.name;
  info.type = onnx::element_type_of(port.dtype);
  info.shape.emplace(port.shape.begin(), port.shape.end());
  return info;
}

// Names the values of one model in the merged graph.
class Renamer {
 public:
  explicit Renamer(UsedNames& used) : used_(used) {}

  void set(const std::string& name, const std::string& merged) { names_[name] = merged; }
  bool knows(const std::string& name) const { return names_.contains(name); }

  const std::string& operator()(const std::string& name) {
    if (name.empty()) return name;  // an omitted input
    const auto [entry, added] = names_.try_emplace(name);
    if (added) entry->second = used_.take(name);
    return entry->second;
  }

 private:
  UsedNames& used_;
  std::unordered_map<std::string, std::string> names_;
};

template <typename Rename>
onnx::Node renamed(const onnx::Node& node, const std::string& prefix, Rename& rename);

template <typename Rename>
onnx::Graph renamed(const onnx::Graph& graph, const std::string& prefix, Rename& rename) {
  onnx::Graph result = graph;
  for (auto* infos : {&result.inputs, &result.outputs, &result.value_infos}) {
    for (onnx::ValueInfo& info : *infos) info.name = rename(info.name);
  }
  for (onnx::Tensor& tensor : result.initializers) tensor.name = rename(tensor.name);
  for (onnx::Node& node : result.nodes) node = renamed(node, prefix, rename);
  return result;
}

template <typename Rename>
onnx::Node renamed(const onnx::Node& node, const std::string& prefix, Rename& rename) {
  onnx::Node result = node;
  if (!node.name.empty()) result.name = prefix + node.name;
  for (std::string& name : result.inputs) name = rename(name);
  for (std::string& name : result.outputs) name = rename(name);
  for (onnx::Attribute& attribute : result.attributes) {
    if (auto* body = std::get_if<std::shared_ptr<const onnx::Graph>>(&attribute.value)) {
      *body = std::make_shared<const onnx::Graph>(renamed(**body, prefix, rename));
    }
  }
  return result;
}

class Merger {
 public:
  Merger(const Bundle& bundle, const Model& signature) {
    const Wiring wiring(bundle);
    for (const Wiring::Connection& wire : wiring.connections()) {
      if (wire.last_tick) continue;
      source_of_[to_string(input_ref(bundle, wire.target))] =
          to_string(output_ref(bundle, wire.source));
    }
    for (const Port& port : signature.inputs) {
      graph_.inputs.push_back(value_info(port));
      external_.insert(port.name);
    }
    for (const Port& port : signature.outputs) graph_.outputs.push_back(value_info(port));
    graph_.name = signature.name;
  }

  // Every port's name is reserved before any other value is named.
  void reserve_ports(const Model& node) {
    for (const auto* ports : {&node.inputs, &node.outputs}) {
      for (const Port& port : *ports) used_.add(node.name + "/" + port.name);
    }
  }

  void add(const MergeSource& source) {
    const Model& node = *source.node;
    const onnx::Graph& graph = source.model->graph;
    const std::string prefix = node.name + "/";
    Renamer rename(used_);
    std::unordered_set<std::string> given;  // not computed by a node of this graph
    for (const onnx::Tensor& tensor : graph.initializers) given.insert(tensor.name);
    for (const onnx::ValueInfo& input : graph.inputs) {
      if (!given.insert(input.name).second) continue;  // a weight that is also listed as an input
      const std::string name = prefix + input.name;
      rename.set(input.name, external_.contains(name) ? name : source_of(name));
    }
    for (const onnx::ValueInfo& output : graph.outputs) {
      if (!given.contains(output.name)) rename.set(output.name, prefix + output.name);
    }
    for (const onnx::Tensor& tensor : graph.initializers) {
      graph_.initializers.push_back(tensor);
      graph_.initializers.back().name = rename(tensor.name);
    }
    for (const onnx::Node& op : graph.nodes) graph_.nodes.push_back(renamed(op, prefix, rename));
    for (const onnx::ValueInfo& output : graph.outputs) {
      if (!given.contains(output.name)) continue;
      // An output that is directly an input or a weight: the merged name needs a value.
      onnx::Node identity;
      identity.op_type = "Identity";
      identity.name = prefix + output.name;
      identity.inputs = {rename(output.name)};
      identity.outputs = {prefix + output.name};
      graph_.nodes.push_back(std::move(identity));
    }
  }

  onnx::Graph take() { return std::move(graph_); }

 private:
  const std::string& source_of(const std::string& input) const {
    const auto found = source_of_.find(input);
    require(found != source_of_.end(), Code::kNotMerged,
            "input " + input + " of the model is neither an input of the pipeline nor wired");
    return found->second;
  }

  std::unordered_map<std::string, std::string> source_of_;  // input -> output that feeds it
  std::unordered_set<std::string> external_;                // inputs of the merged graph
  UsedNames used_;
  onnx::Graph graph_;
};

}  // namespace

std::string why_not_mergeable(const onnx::Model& model) {
  if (model.has_functions) return "it has functions of its own";
  if (!model.unread.empty() || has_unread_parts(model.graph)) {
    return "it has parts that only ONNX Runtime reads";
  }
  return {};
}

bool same_opsets(const onnx::Model& a, const onnx::Model& b) {
  return opsets_of(a) == opsets_of(b);
}

onnx::Model merge_graphs(const Bundle& bundle, const std::vector<MergeSource>& sources,
                         const Model& signature) {
  demand(!sources.empty(), "nothing to merge");
  onnx::Model merged;
  merged.opsets = sources[0].model->opsets;
  merged.producer_name = "leapp";
  Merger merger(bundle, signature);
  for (const MergeSource& source : sources) merger.reserve_ports(*source.node);
  for (const MergeSource& source : sources) {
    merger.add(source);
    merged.ir_version = std::max(merged.ir_version, source.model->ir_version);
  }
  merged.graph = merger.take();
  return merged;
}

void rename_values(onnx::Graph& graph, const std::unordered_map<std::string, std::string>& names) {
  const auto rename = [&](const std::string& name) {
    const auto found = names.find(name);
    return found != names.end() ? found->second : name;
  };
  graph = renamed(graph, "", rename);
}

}  // namespace leapp
