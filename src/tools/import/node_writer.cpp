#include "import/node_writer.h"

#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "import/fields.h"

namespace leapp::importing {
namespace {

onnx::ValueInfo info_of(const Port& port) {
  onnx::ValueInfo info;
  info.name = port.name;
  info.type = onnx::element_type_of(port.dtype);
  info.shape.emplace(port.shape.begin(), port.shape.end());
  return info;
}

template <typename T>
onnx::Tensor tensor_of(const std::string& name, onnx::ElementType type, const std::vector<T>& data,
                       const Shape& shape) {
  onnx::Tensor tensor;
  tensor.name = name;
  tensor.type = type;
  tensor.dims = shape;
  tensor.raw = onnx::Bytes::copy_of(data.data(), data.size() * sizeof(T));
  return tensor;
}

}  // namespace

onnx::Attribute attribute(const std::string& name, std::int64_t value) {
  return {.name = name, .value = value, .unread = {}};
}

NodeWriter::NodeWriter(std::string name, const onnx::Model& like) {
  part_.model.ir_version = like.ir_version;
  part_.model.opsets = like.opsets;
  part_.model.producer_name = "leapp";
  part_.model.graph.name = name;
  part_.node.name = std::move(name);
}

// Names of internal values begin with a character that no port name begins with.
std::string NodeWriter::fresh() {
  return "%" + std::to_string(count_++);
}

void NodeWriter::take_name(const std::string& name) {
  require(ports_.insert(name).second, Code::kBadKey,
          "the node '" + part_.node.name + "' would have two ports called " +
              quote_for_message(name) + ": give the observation term another name");
}

std::string NodeWriter::input(Port port) {
  take_name(port.name);
  std::string name = port.name;
  part_.model.graph.inputs.push_back(info_of(port));
  part_.node.inputs.push_back(std::move(port));
  return name;
}

void NodeWriter::output(Port port, const std::string& value) {
  take_name(port.name);
  onnx::Node node;
  node.op_type = "Identity";
  node.inputs = {value};
  node.outputs = {port.name};
  part_.model.graph.nodes.push_back(std::move(node));
  part_.model.graph.outputs.push_back(info_of(port));
  part_.node.outputs.push_back(std::move(port));
}

std::string NodeWriter::floats(const std::vector<double>& values, const Shape& shape) {
  for (const double value : values) {  // also a product of several settings
    require(std::isinf(value) || is_finite_float(value), Code::kBadKey,
            "the node '" + part_.node.name + "' would have the constant " + std::to_string(value) +
                ", which a float32 cannot hold");
  }
  const std::vector<float> single(values.begin(), values.end());
  std::string name = fresh();
  part_.model.graph.initializers.push_back(
      tensor_of(name, onnx::ElementType::kFloat, single, shape));
  return name;
}

std::string NodeWriter::ints(const std::vector<std::int64_t>& values) {
  std::string name = fresh();
  part_.model.graph.initializers.push_back(tensor_of(name, onnx::ElementType::kInt64, values,
                                                     {static_cast<std::int64_t>(values.size())}));
  return name;
}

std::string NodeWriter::op(const std::string& type, std::vector<std::string> inputs,
                           std::vector<onnx::Attribute> attributes) {
  onnx::Node node;
  node.op_type = type;
  node.inputs = std::move(inputs);
  node.outputs = {fresh()};
  node.attributes = std::move(attributes);
  part_.model.graph.nodes.push_back(std::move(node));
  return part_.model.graph.nodes.back().outputs[0];
}

std::string NodeWriter::reshape(const std::string& value, const Shape& shape) {
  return op("Reshape", {value, ints(shape)});
}

std::string NodeWriter::concat(const std::vector<std::string>& values, std::int64_t axis) {
  if (values.size() == 1) return values[0];
  return op("Concat", values, {attribute("axis", axis)});
}

std::string NodeWriter::gather(const std::string& value, const std::vector<std::int64_t>& places,
                               std::int64_t axis, std::int64_t size) {
  bool all = static_cast<std::int64_t>(places.size()) == size;
  for (std::size_t i = 0; all && i < places.size(); ++i) {
    all = places[i] == static_cast<std::int64_t>(i);
  }
  return all ? value : op("Gather", {value, ints(places)}, {attribute("axis", axis)});
}

Part NodeWriter::take() && {
  return std::move(part_);
}

}  // namespace leapp::importing
