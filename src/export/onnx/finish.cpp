#include "export/onnx/finish.h"

#include <set>
#include <utility>

#include "base/shown_path.h"
#include "base/unused_name.h"

namespace leapp::onnx_export {
namespace {

/// Returns "add" for "aten::add.Tensor", with the module's path in front.
std::string stem_of(const ir::Op& op) {
  const std::string& name = op.signature->name;
  const std::size_t colon = name.rfind(':');
  const std::string last = colon == std::string::npos ? name : name.substr(colon + 1);
  return op.module_path.empty() ? last : op.module_path + "." + last;
}

std::vector<bool> needed_nodes(const Builder& builder, const std::vector<NamedOutput>& outputs) {
  std::vector<bool> needed(builder.nodes().size(), false);
  std::vector<std::int32_t> open;
  for (const NamedOutput& output : outputs) open.push_back(output.value.id());
  while (!open.empty()) {
    const std::int32_t id = open.back();
    open.pop_back();
    if (id < 0) continue;
    const std::int32_t producer = builder.value(id).producer;
    if (producer < 0 || needed[static_cast<std::size_t>(producer)]) continue;
    needed[static_cast<std::size_t>(producer)] = true;
    const BuiltNode& node = builder.node(producer);
    open.insert(open.end(), node.inputs.begin(), node.inputs.end());
    if (node.body != nullptr) {  // a loop also reads the values that its body reads
      open.insert(open.end(), node.body->outputs.begin(), node.body->outputs.end());
    }
  }
  return needed;
}

onnx::ValueInfo info_of(const std::string& name, const Type& type) {
  onnx::ValueInfo info;
  info.name = name;
  info.type = onnx::element_type_of(type.dtype);
  info.shape.emplace(type.shape.begin(), type.shape.end());
  return info;
}

class Finisher {
 public:
  Finisher(Builder& builder, const ir::Graph& source)
      : builder_(builder), source_(source), names_(builder.value_count()) {}

  onnx::Graph run(const std::vector<Value>& inputs, const std::vector<NamedOutput>& outputs) {
    for (const Value& input : inputs) {
      const std::string& name = builder_.value(input.id()).name;
      used_.add(name);
      name_of(input.id()) = name;
      graph_.inputs.push_back(info_of(name, input.type()));
    }
    for (const NamedOutput& output : outputs) {
      used_.add(output.name);
      name_of(output.value.id()) = output.name;
      graph_.outputs.push_back(info_of(output.name, output.value.type()));
    }
    needed_ = needed_nodes(builder_, outputs);
    for (const std::int32_t index : builder_.order()) add_node(index, graph_);
    return std::move(graph_);
  }

 private:
  std::string& name_of(std::int32_t id) { return names_[static_cast<std::size_t>(id)]; }

  void add_node(std::int32_t index, onnx::Graph& graph) {
    if (!needed_[static_cast<std::size_t>(index)]) return;
    const BuiltNode& node = builder_.node(index);
    onnx::Node made;
    made.op_type = node.op_type;
    made.domain = node.domain;
    const ir::Op* op =
        node.source < 0 ? nullptr : &source_.ops()[static_cast<std::size_t>(node.source)];
    const std::string stem = op == nullptr ? node.op_type : stem_of(*op);
    made.name = used_nodes_.take(stem + "/" + node.op_type);
    for (const std::int32_t id : node.inputs) made.inputs.push_back(input_name(id));
    for (const std::int32_t id : node.outputs) {
      if (name_of(id).empty()) name_of(id) = used_.take(stem);
      made.outputs.push_back(name_of(id));
    }
    if (node.body != nullptr) {
      made.attributes.push_back(
          {"body", std::make_shared<const onnx::Graph>(inside(*node.body, made.name)), {}});
    }
    for (const Attr& attribute : node.attributes) {
      made.attributes.push_back({attribute.name, attribute.value, {}});
    }
    if (op != nullptr) {
      ir::SourceLocation where = op->source;
      where.file = shown_path(where.file);
      made.doc_string = where.to_string();
      made.metadata.emplace_back("leapp.op", op->signature->qualified_name());
      if (!op->module_path.empty()) made.metadata.emplace_back("leapp.module", op->module_path);
    }
    graph.nodes.push_back(std::move(made));
  }

  onnx::Graph inside(const Body& body, const std::string& name) {
    onnx::Graph graph;
    graph.name = name;
    for (const std::int32_t id : body.inputs) {
      name_of(id) = used_.take("state");
      graph.inputs.push_back(info_of(name_of(id), builder_.value(id).type));
    }
    for (const std::int32_t index : body.nodes) add_node(index, graph);
    for (const std::int32_t id : body.outputs) {
      graph.outputs.push_back(info_of(name_of(id), builder_.value(id).type));
    }
    return graph;
  }

  const std::string& input_name(std::int32_t id) {
    static const std::string kAbsent;
    if (id < 0) return kAbsent;
    const BuiltValue& value = builder_.value(id);
    if (value.constant != nullptr && name_of(id).empty()) add_weight(id, value);
    return name_of(id);
  }

  void add_weight(std::int32_t id, const BuiltValue& value) {
    name_of(id) = used_.take(value.name.empty() ? "constant" : value.name);
    onnx::Tensor tensor;
    tensor.name = name_of(id);
    tensor.type = onnx::element_type_of(value.type.dtype);
    tensor.dims = value.type.shape;
    tensor.raw = {value.constant->data, value.constant->byte_size()};
    graph_.initializers.push_back(std::move(tensor));
  }

  Builder& builder_;
  const ir::Graph& source_;
  std::vector<std::string> names_;  // of values, by id
  std::vector<bool> needed_;        // nodes, by index
  UsedNames used_;
  UsedNames used_nodes_;
  onnx::Graph graph_;
};

}  // namespace

onnx::Graph finish(Builder& builder, const ir::Graph& source, const std::vector<Value>& inputs,
                   std::vector<NamedOutput> outputs) {
  // The value of a port must be the output of its own node: inputs, constants and values that are
  // two outputs pass through an Identity.
  std::set<std::int32_t> taken;
  for (NamedOutput& output : outputs) {
    if (builder.producer(output.value) == nullptr || !taken.insert(output.value.id()).second) {
      builder.set_source(-1);
      output.value = builder.emit_custom("", "Identity", std::span(&output.value, 1), {},
                                         {output.value.type()})[0];
    }
  }
  return Finisher(builder, source).run(inputs, outputs);
}

}  // namespace leapp::onnx_export
