#include "onnx/reader.h"

#include <map>
#include <memory>
#include <protozero/exception.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/check.h"
#include "base/input_file.h"
#include "onnx/message.h"
#include "onnx/tensor_reader.h"

namespace leapp::onnx {
namespace {

// Graphs contain nodes that contain graphs; no real model nests deeper than this.
constexpr int kMaxDepth = 64;

/// Reads one message. Fields without a member go to `unread` as bytes.
class Reader {
 public:
  Reader(const Bytes& file, int depth) : file_(file), depth_(depth) {
    if (depth > kMaxDepth) damaged("its graphs are nested too deeply");
  }

  Model model(pbf_reader in) const;
  Graph graph(pbf_reader in) const;
  Node node(pbf_reader in) const;
  Attribute attribute(pbf_reader in) const;
  static ValueInfo value_info(pbf_reader in);

 private:
  Reader deeper() const { return {file_, depth_ + 1}; }

  const Bytes& file_;
  int depth_;
};

/// The value of an attribute is in the field that its type names.
struct AttributeFields {
  std::int32_t type = 0;
  float number = 0;
  std::int64_t integer = 0;
  std::string bytes;
  Tensor tensor;
  std::shared_ptr<const Graph> graph;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
};

void choose_value(AttributeFields fields, Attribute& attribute) {
  switch (fields.type) {
    case field::attribute::kTypeFloat:
      attribute.value = fields.number;
      break;
    case field::attribute::kTypeInt:
      attribute.value = fields.integer;
      break;
    case field::attribute::kTypeString:
      attribute.value = std::move(fields.bytes);
      break;
    case field::attribute::kTypeTensor:
      attribute.value = std::move(fields.tensor);
      break;
    case field::attribute::kTypeGraph:
      if (fields.graph == nullptr) damaged("a graph attribute without a graph");
      attribute.value = std::move(fields.graph);
      break;
    case field::attribute::kTypeFloats:
      attribute.value = std::move(fields.floats);
      break;
    case field::attribute::kTypeInts:
      attribute.value = std::move(fields.ints);
      break;
    case field::attribute::kTypeStrings:
      attribute.value = std::move(fields.strings);
      break;
    default: {  // an unknown type, which must be kept together with its value
      protozero::pbf_writer(attribute.unread).add_int32(field::attribute::kType, fields.type);
      break;
    }
  }
}

Attribute Reader::attribute(pbf_reader in) const {
  Attribute attribute;
  AttributeFields fields;
  each_field(in, attribute.unread, [&] {
    if (is(in, field::attribute::kType, pbf_wire_type::varint)) {
      fields.type = in.get_int32();
    } else if (is(in, field::attribute::kFloat, pbf_wire_type::fixed32)) {
      fields.number = in.get_float();
    } else if (is(in, field::attribute::kInt, pbf_wire_type::varint)) {
      fields.integer = in.get_int64();
    } else if (is(in, field::attribute::kString)) {
      fields.bytes = in.get_bytes();
    } else if (is(in, field::attribute::kStrings)) {
      fields.strings.push_back(in.get_bytes());
    } else if (is(in, field::attribute::kTensor)) {
      fields.tensor = read_tensor(in.get_message(), file_);
    } else if (is(in, field::attribute::kGraph)) {
      fields.graph = std::make_shared<const Graph>(deeper().graph(in.get_message()));
    } else {
      return text(in, field::attribute::kName, attribute.name) ||
             int64s(in, field::attribute::kInts, fields.ints) ||
             numbers(
                 in, field::attribute::kFloats, pbf_wire_type::fixed32, fields.floats,
                 [&] { return in.get_float(); }, [&] { return in.get_packed_float(); });
    }
    return true;
  });
  choose_value(std::move(fields), attribute);
  return attribute;
}

Node Reader::node(pbf_reader in) const {
  Node node;
  each_field(in, node.unread, [&] {
    if (is(in, field::node::kInput)) {
      node.inputs.push_back(in.get_string());
    } else if (is(in, field::node::kOutput)) {
      node.outputs.push_back(in.get_string());
    } else if (is(in, field::node::kAttribute)) {
      node.attributes.push_back(attribute(in.get_message()));
    } else {
      return text(in, field::node::kOpType, node.op_type) ||
             text(in, field::node::kDomain, node.domain) ||
             text(in, field::node::kName, node.name) ||
             text(in, field::node::kDocString, node.doc_string) ||
             property(in, field::node::kMetadata, node.metadata);
    }
    return true;
  });
  return node;
}

std::vector<Dimension> read_shape(pbf_reader in) {
  std::vector<Dimension> shape;
  std::string ignored;
  each_field(in, ignored, [&] {
    if (!is(in, field::type::kDim)) return false;
    pbf_reader one = in.get_message();
    Dimension dimension = std::string();
    each_field(one, ignored, [&] {
      if (is(one, field::type::kDimValue, pbf_wire_type::varint)) {
        dimension = one.get_int64();
        return true;
      }
      std::string name;
      if (!text(one, field::type::kDimParam, name)) return false;
      dimension = std::move(name);
      return true;
    });
    shape.push_back(std::move(dimension));
    return true;
  });
  return shape;
}

ValueInfo Reader::value_info(pbf_reader in) {
  ValueInfo info;
  each_field(in, info.unread, [&] {
    if (!is(in, field::value_info::kType)) {
      return text(in, field::value_info::kName, info.name) ||
             text(in, field::value_info::kDocString, info.doc_string);
    }
    const data_view whole = in.get_view();
    pbf_reader type(whole);
    bool is_tensor = false;
    std::string other;
    each_field(type, other, [&] {
      if (!is(type, field::type::kTensor)) return false;
      is_tensor = true;
      pbf_reader tensor = type.get_message();
      each_field(tensor, other, [&] {
        if (is(tensor, field::type::kElemType, pbf_wire_type::varint)) {
          info.type = static_cast<ElementType>(tensor.get_int32());
          return true;
        }
        if (!is(tensor, field::type::kShape)) return false;
        info.shape = read_shape(tensor.get_message());
        return true;
      });
      return true;
    });
    if (!is_tensor) info.type_unread.assign(whole.data(), whole.size());
    return true;
  });
  return info;
}

Graph Reader::graph(pbf_reader in) const {
  Graph graph;
  each_field(in, graph.unread, [&] {
    if (is(in, field::graph::kNode)) {
      graph.nodes.push_back(node(in.get_message()));
    } else if (is(in, field::graph::kInitializer)) {
      graph.initializers.push_back(read_tensor(in.get_message(), file_));
    } else if (is(in, field::graph::kInput)) {
      graph.inputs.push_back(value_info(in.get_message()));
    } else if (is(in, field::graph::kOutput)) {
      graph.outputs.push_back(value_info(in.get_message()));
    } else if (is(in, field::graph::kValueInfo)) {
      graph.value_infos.push_back(value_info(in.get_message()));
    } else {
      return text(in, field::graph::kName, graph.name) ||
             text(in, field::graph::kDocString, graph.doc_string) ||
             property(in, field::graph::kMetadata, graph.metadata);
    }
    return true;
  });
  return graph;
}

Opset read_opset(pbf_reader in) {
  Opset opset;
  std::string ignored;
  each_field(in, ignored, [&] {
    if (!is(in, field::opset::kVersion, pbf_wire_type::varint)) {
      return text(in, field::opset::kDomain, opset.domain);
    }
    opset.version = in.get_int64();
    return true;
  });
  return opset;
}

Model Reader::model(pbf_reader in) const {
  Model model;
  bool has_graph = false;
  each_field(in, model.unread, [&] {
    if (is(in, field::model::kIrVersion, pbf_wire_type::varint)) {
      model.ir_version = in.get_int64();
    } else if (is(in, field::model::kModelVersion, pbf_wire_type::varint)) {
      model.model_version = in.get_int64();
    } else if (is(in, field::model::kOpset)) {
      model.opsets.push_back(read_opset(in.get_message()));
    } else if (is(in, field::model::kGraph)) {
      model.graph = deeper().graph(in.get_message());
      has_graph = true;
    } else {
      model.has_functions = model.has_functions || in.tag() == field::model::kFunction;
      return text(in, field::model::kProducerName, model.producer_name) ||
             text(in, field::model::kProducerVersion, model.producer_version) ||
             text(in, field::model::kDomain, model.domain) ||
             text(in, field::model::kDocString, model.doc_string) ||
             property(in, field::model::kMetadata, model.metadata);
    }
    return true;
  });
  if (!has_graph || model.ir_version <= 0) damaged("it has no graph");
  return model;
}

/// Returns the file's bytes, which the result owns.
Bytes whole_file(const std::filesystem::path& path) {
  constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  const auto owner = std::make_shared<const std::string>(read_file(path, kNoLimit));
  const auto* first = reinterpret_cast<const std::byte*>(owner->data());
  return {std::shared_ptr<const std::byte>(owner, first), owner->size()};
}

}  // namespace

Model parse_model(const Bytes& bytes, const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    damaged(name + " is not a readable ONNX model: " + why +
            ". Export it again, or check that it was copied completely.");
  };
  try {
    const data_view view(reinterpret_cast<const char*>(bytes.data.get()), bytes.size);
    return Reader(bytes, 0).model(pbf_reader(view));
  } catch (const protozero::exception& error) {
    refuse(std::string("the file is not valid ONNX (") + error.what() + ")");
  } catch (const Error& error) {
    refuse(error.text());
  }
  return {};
}

Model read_model(const std::filesystem::path& path) {
  return parse_model(whole_file(path), path.string());
}

void load_external_data(Model& model, const std::filesystem::path& folder) {
  std::map<std::string, Bytes> files;
  for (Tensor& tensor : model.graph.initializers) {
    if (!tensor.external) continue;
    const ExternalData place = *tensor.external;
    const std::filesystem::path relative = std::filesystem::path(place.location).lexically_normal();
    require(relative.is_relative() && !relative.empty() && *relative.begin() != "..",
            Code::kBadModel,
            "the weight '" + tensor.name + "' is outside the model's directory (" + place.location +
                "), which is not allowed");
    auto [entry, is_new] = files.try_emplace(place.location);
    if (is_new) entry->second = whole_file(folder / relative);
    const Bytes& file = entry->second;
    const std::uint64_t length = place.length != 0 ? place.length : file.size - place.offset;
    require(place.offset <= file.size && length <= file.size - place.offset, Code::kBadModel,
            "the weight '" + tensor.name + "' ends beyond the end of " +
                (folder / relative).string() +
                ": the file is truncated, or it is a different file");
    tensor.raw = {std::shared_ptr<const std::byte>(file.data, file.data.get() + place.offset),
                  length};
    tensor.external.reset();
    check_size(tensor);
  }
}

}  // namespace leapp::onnx
