#include "onnx/reader.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <system_error>

#include "base/check.h"
#include "onnx/fields.h"

namespace leapp::onnx {
namespace {

using protozero::data_view;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Graphs hold nodes that hold graphs; nobody nests deeper than this.
constexpr int kMaxDepth = 64;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(Code::kBadModel, what);
}

/// Reads one message. The bytes of fields it has no member for go to `unread`.
class Reader {
 public:
  Reader(const Bytes& file, int depth) : file_(file), depth_(depth) {
    if (depth > kMaxDepth) damaged("its graphs are nested too deeply");
  }

  Model model(pbf_reader in) const;
  Graph graph(pbf_reader in) const;
  Node node(pbf_reader in) const;
  Attribute attribute(pbf_reader in) const;
  Tensor tensor(pbf_reader in) const;
  static ValueInfo value_info(pbf_reader in);

 private:
  Bytes share(data_view view) const {
    const auto* first = reinterpret_cast<const std::byte*>(view.data());
    return {std::shared_ptr<const std::byte>(file_.data, first), view.size()};
  }
  Reader deeper() const { return {file_, depth_ + 1}; }

  const Bytes& file_;
  int depth_;
};

/// Calls `read(tag)` for each field; what it does not take is kept verbatim.
template <typename Read>
void each_field(pbf_reader& in, std::string& unread, Read&& read) {
  data_view rest = in.data();
  while (in.next()) {
    if (!read()) {
      in.skip();
      unread.append(rest.data(), rest.size() - in.data().size());
    }
    rest = in.data();
  }
}

bool is(const pbf_reader& in, field::Tag tag,
        pbf_wire_type type = pbf_wire_type::length_delimited) {
  return in.tag() == tag && in.wire_type() == type;
}

/// A repeated number, packed or not.
template <typename T, typename One, typename Packed>
bool numbers(pbf_reader& in, field::Tag tag, pbf_wire_type single, std::vector<T>& out, One one,
             Packed packed) {
  if (is(in, tag, single)) {
    out.push_back(static_cast<T>(one()));
    return true;
  }
  if (!is(in, tag)) return false;
  for (const auto value : packed()) out.push_back(static_cast<T>(value));
  return true;
}

bool int64s(pbf_reader& in, field::Tag tag, std::vector<std::int64_t>& out) {
  return numbers(
      in, tag, pbf_wire_type::varint, out, [&] { return in.get_int64(); },
      [&] { return in.get_packed_int64(); });
}

bool text(pbf_reader& in, field::Tag tag, std::string& out) {
  if (!is(in, tag)) return false;
  out = in.get_string();
  return true;
}

bool property(pbf_reader& in, field::Tag tag, Properties& out) {
  if (!is(in, tag)) return false;
  pbf_reader entry = in.get_message();
  out.emplace_back();
  std::string ignored;
  each_field(entry, ignored, [&] {
    return text(entry, field::property::kKey, out.back().first) ||
           text(entry, field::property::kValue, out.back().second);
  });
  return true;
}

template <typename T>
Bytes pack(const std::vector<T>& values) {
  return Bytes::copy_of(values.data(), values.size() * sizeof(T));
}

/// int32_data holds every type up to 32 bits, one element a number.
Bytes narrow(const std::vector<std::int32_t>& values, std::size_t width) {
  std::string bytes;
  for (const std::int32_t value : values) {
    bytes.append(reinterpret_cast<const char*>(&value), width);
  }
  return Bytes::copy_of(bytes.data(), bytes.size());
}

std::uint64_t number_in(const std::string& value) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) {
    damaged("an external weight has '" + value + "' for a number");
  }
  return number;
}

ExternalData external_from(const Properties& entries) {
  ExternalData external;
  for (const auto& [key, value] : entries) {
    if (key == "location") external.location = value;
    if (key == "offset") external.offset = number_in(value);
    if (key == "length") external.length = number_in(value);
  }
  return external;
}

void check_size(const Tensor& tensor) {
  const std::optional<DType> dtype = dtype_of(tensor.type);
  const std::optional<std::int64_t> count = checked_element_count(tensor.dims);
  if (!count) damaged("the weight '" + tensor.name + "' has an impossible shape");
  if (!dtype || tensor.external) return;
  const auto expected = static_cast<std::uint64_t>(*count) * size_of(*dtype);
  if (expected != tensor.raw.size) {
    damaged("the weight '" + tensor.name + "' of shape " + to_string(tensor.dims) + " has " +
            std::to_string(tensor.raw.size) + " bytes instead of " + std::to_string(expected));
  }
}

Tensor Reader::tensor(pbf_reader in) const {
  Tensor tensor;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int32_t> ints;
  std::vector<std::int64_t> longs;
  std::vector<std::uint64_t> unsigned_longs;
  Properties external;
  bool is_external = false;
  each_field(in, tensor.unread, [&] {
    if (is(in, field::tensor::kDataType, pbf_wire_type::varint)) {
      tensor.type = static_cast<ElementType>(in.get_int32());
    } else if (is(in, field::tensor::kRawData)) {
      tensor.raw = share(in.get_view());
    } else if (is(in, field::tensor::kStringData)) {
      tensor.strings.push_back(in.get_bytes());
    } else if (is(in, field::tensor::kDataLocation, pbf_wire_type::varint)) {
      is_external = in.get_int32() == field::tensor::kLocationExternal;
    } else {
      return int64s(in, field::tensor::kDims, tensor.dims) ||
             text(in, field::tensor::kName, tensor.name) ||
             text(in, field::tensor::kDocString, tensor.doc_string) ||
             property(in, field::tensor::kExternalData, external) ||
             int64s(in, field::tensor::kInt64Data, longs) ||
             numbers(
                 in, field::tensor::kFloatData, pbf_wire_type::fixed32, floats,
                 [&] { return in.get_float(); }, [&] { return in.get_packed_float(); }) ||
             numbers(
                 in, field::tensor::kDoubleData, pbf_wire_type::fixed64, doubles,
                 [&] { return in.get_double(); }, [&] { return in.get_packed_double(); }) ||
             numbers(
                 in, field::tensor::kInt32Data, pbf_wire_type::varint, ints,
                 [&] { return in.get_int32(); }, [&] { return in.get_packed_int32(); }) ||
             numbers(
                 in, field::tensor::kUInt64Data, pbf_wire_type::varint, unsigned_longs,
                 [&] { return in.get_uint64(); }, [&] { return in.get_packed_uint64(); });
    }
    return true;
  });
  if (is_external) tensor.external = external_from(external);
  if (!floats.empty()) tensor.raw = pack(floats);
  if (!doubles.empty()) tensor.raw = pack(doubles);
  if (!longs.empty()) tensor.raw = pack(longs);
  if (!ints.empty()) {
    const std::optional<DType> dtype = dtype_of(tensor.type);
    tensor.raw = narrow(ints, dtype ? std::min<std::size_t>(size_of(*dtype), 4) : 4);
  }
  if (!unsigned_longs.empty()) {
    const std::vector<std::uint32_t> halves(unsigned_longs.begin(), unsigned_longs.end());
    tensor.raw = tensor.type == ElementType::kUInt32 ? pack(halves) : pack(unsigned_longs);
  }
  check_size(tensor);
  return tensor;
}

Attribute Reader::attribute(pbf_reader in) const {
  Attribute attribute;
  std::int32_t type = 0;
  float number = 0;
  std::int64_t integer = 0;
  std::string bytes;
  Tensor held;
  std::shared_ptr<const Graph> held_graph;
  std::vector<float> floats;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  each_field(in, attribute.unread, [&] {
    if (is(in, field::attribute::kType, pbf_wire_type::varint)) {
      type = in.get_int32();
    } else if (is(in, field::attribute::kFloat, pbf_wire_type::fixed32)) {
      number = in.get_float();
    } else if (is(in, field::attribute::kInt, pbf_wire_type::varint)) {
      integer = in.get_int64();
    } else if (is(in, field::attribute::kString)) {
      bytes = in.get_bytes();
    } else if (is(in, field::attribute::kStrings)) {
      strings.push_back(in.get_bytes());
    } else if (is(in, field::attribute::kTensor)) {
      held = tensor(in.get_message());
    } else if (is(in, field::attribute::kGraph)) {
      held_graph = std::make_shared<const Graph>(deeper().graph(in.get_message()));
    } else {
      return text(in, field::attribute::kName, attribute.name) ||
             int64s(in, field::attribute::kInts, ints) ||
             numbers(
                 in, field::attribute::kFloats, pbf_wire_type::fixed32, floats,
                 [&] { return in.get_float(); }, [&] { return in.get_packed_float(); });
    }
    return true;
  });
  switch (type) {
    case field::attribute::kTypeFloat:
      attribute.value = number;
      break;
    case field::attribute::kTypeInt:
      attribute.value = integer;
      break;
    case field::attribute::kTypeString:
      attribute.value = std::move(bytes);
      break;
    case field::attribute::kTypeTensor:
      attribute.value = std::move(held);
      break;
    case field::attribute::kTypeGraph:
      if (held_graph == nullptr) damaged("a graph attribute without a graph");
      attribute.value = std::move(held_graph);
      break;
    case field::attribute::kTypeFloats:
      attribute.value = std::move(floats);
      break;
    case field::attribute::kTypeInts:
      attribute.value = std::move(ints);
      break;
    case field::attribute::kTypeStrings:
      attribute.value = std::move(strings);
      break;
    default: {  // a kind we do not know: its type must survive beside its value
      protozero::pbf_writer(attribute.unread).add_int32(field::attribute::kType, type);
      break;
    }
  }
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
      graph.initializers.push_back(tensor(in.get_message()));
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

std::string read_file(const std::filesystem::path& path, const char* what) {
  std::error_code error;
  require(std::filesystem::is_regular_file(path, error), Code::kNotFound,
          std::string(what) + " " + path.string() + " was not found");
  std::string bytes(std::filesystem::file_size(path, error), '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  require(!error && !stream.fail(), Code::kIo,
          std::string(what) + " " + path.string() + " could not be read");
  return bytes;
}

/// The file's bytes, owned by what is returned.
Bytes whole_file(const std::filesystem::path& path, const char* what) {
  const auto owner = std::make_shared<const std::string>(read_file(path, what));
  const auto* first = reinterpret_cast<const std::byte*>(owner->data());
  return {std::shared_ptr<const std::byte>(owner, first), owner->size()};
}

}  // namespace

Model parse_model(const Bytes& bytes, const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    damaged(name + " is not a readable ONNX model: " + why +
            ". Export it again, or check that it was copied whole.");
  };
  try {
    const data_view view(reinterpret_cast<const char*>(bytes.data.get()), bytes.size);
    return Reader(bytes, 0).model(pbf_reader(view));
  } catch (const protozero::exception& error) {
    refuse(std::string("the bytes do not follow its format (") + error.what() + ")");
  } catch (const Error& error) {
    refuse(error.text());
  }
  return {};
}

Model read_model(const std::filesystem::path& path) {
  return parse_model(whole_file(path, "the ONNX model"), path.string());
}

void load_external_data(Model& model, const std::filesystem::path& folder) {
  std::map<std::string, Bytes> files;
  for (Tensor& tensor : model.graph.initializers) {
    if (!tensor.external) continue;
    const ExternalData place = *tensor.external;
    const std::filesystem::path relative = std::filesystem::path(place.location).lexically_normal();
    require(relative.is_relative() && !relative.empty() && *relative.begin() != "..",
            Code::kBadModel,
            "the weight '" + tensor.name + "' lies outside of the model's folder (" +
                place.location + "), which is not allowed");
    auto [entry, is_new] = files.try_emplace(place.location);
    if (is_new) entry->second = whole_file(folder / relative, "the ONNX weights");
    const Bytes& file = entry->second;
    const std::uint64_t length = place.length != 0 ? place.length : file.size - place.offset;
    require(place.offset <= file.size && length <= file.size - place.offset, Code::kBadModel,
            "the weight '" + tensor.name + "' is said to end behind the end of " +
                (folder / relative).string() + ": the file was cut short or is another one");
    tensor.raw = {std::shared_ptr<const std::byte>(file.data, file.data.get() + place.offset),
                  length};
    tensor.external.reset();
    check_size(tensor);
  }
}

}  // namespace leapp::onnx
