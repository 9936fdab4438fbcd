#include "onnx/writer.h"

#include <cstring>
#include <functional>
#include <future>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <string_view>

#include "base/check.h"
#include "base/hash.h"
#include "onnx/fields.h"
#include "onnx/output_file.h"

namespace leapp::onnx {
namespace {

using protozero::pbf_writer;
using Sink = std::function<void(std::string_view)>;

constexpr std::uint64_t kAlignment = 64;
constexpr std::size_t kSmallWeight = 1024;  // alignment does not matter up to here

void add_text(pbf_writer& out, field::Tag tag, const std::string& text) {
  if (!text.empty()) out.add_string(tag, text);
}

/// Writes a nested message, even if it is empty: a shape without dimensions differs from a missing
/// shape.
template <typename Fill>
void add_message(pbf_writer& out, field::Tag tag, Fill&& fill) {
  std::string buffer;
  pbf_writer message(buffer);
  fill(message);
  out.add_message(tag, buffer);
}

void add_properties(pbf_writer& out, field::Tag tag, const Properties& properties) {
  for (const auto& property : properties) {
    add_message(out, tag, [&](pbf_writer& entry) {
      entry.add_string(field::property::kKey, property.first);
      entry.add_string(field::property::kValue, property.second);
    });
  }
}

std::string_view view(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data.get()), bytes.size};
}

/// Appends everything of a tensor except its raw bytes to `buffer`.
void write_tensor_head(const Tensor& tensor, std::string& buffer) {
  pbf_writer out(buffer);
  for (const std::int64_t size : tensor.dims) out.add_int64(field::tensor::kDims, size);
  out.add_int32(field::tensor::kDataType, static_cast<std::int32_t>(tensor.type));
  for (const std::string& text : tensor.strings) out.add_bytes(field::tensor::kStringData, text);
  add_text(out, field::tensor::kName, tensor.name);
  add_text(out, field::tensor::kDocString, tensor.doc_string);
  if (tensor.external) {
    add_properties(out, field::tensor::kExternalData,
                   {{"location", tensor.external->location},
                    {"offset", std::to_string(tensor.external->offset)},
                    {"length", std::to_string(tensor.external->length)}});
    out.add_int32(field::tensor::kDataLocation, field::tensor::kLocationExternal);
  }
  buffer += tensor.unread;
}

bool has_raw(const Tensor& tensor) {
  return !tensor.external && tensor.strings.empty();
}

void write_tensor(const Tensor& tensor, std::string& buffer) {
  write_tensor_head(tensor, buffer);
  if (has_raw(tensor)) {
    pbf_writer(buffer).add_bytes(field::tensor::kRawData, view(tensor.raw).data(), tensor.raw.size);
  }
}

void write_graph_without_weights(const Graph& graph, std::string& buffer);

std::string whole_graph(const Graph& graph) {
  std::string buffer;
  write_graph_without_weights(graph, buffer);
  for (const Tensor& tensor : graph.initializers) {
    std::string message;
    write_tensor(tensor, message);
    pbf_writer(buffer).add_message(field::graph::kInitializer, message);
  }
  return buffer;
}

struct AttributeWriter {
  pbf_writer& out;

  void type(field::attribute::Type value) const {
    out.add_int32(field::attribute::kType, static_cast<std::int32_t>(value));
  }
  void operator()(std::monostate) const {}
  void operator()(float value) const {
    out.add_float(field::attribute::kFloat, value);
    type(field::attribute::kTypeFloat);
  }
  void operator()(std::int64_t value) const {
    out.add_int64(field::attribute::kInt, value);
    type(field::attribute::kTypeInt);
  }
  void operator()(const std::string& value) const {
    out.add_bytes(field::attribute::kString, value);
    type(field::attribute::kTypeString);
  }
  void operator()(const Tensor& value) const {
    std::string message;
    write_tensor(value, message);
    out.add_message(field::attribute::kTensor, message);
    type(field::attribute::kTypeTensor);
  }
  void operator()(const std::shared_ptr<const Graph>& value) const {
    out.add_message(field::attribute::kGraph, whole_graph(*value));
    type(field::attribute::kTypeGraph);
  }
  void operator()(const std::vector<float>& values) const {
    for (const float value : values) out.add_float(field::attribute::kFloats, value);
    type(field::attribute::kTypeFloats);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    for (const std::int64_t value : values) out.add_int64(field::attribute::kInts, value);
    type(field::attribute::kTypeInts);
  }
  void operator()(const std::vector<std::string>& values) const {
    for (const std::string& value : values) out.add_bytes(field::attribute::kStrings, value);
    type(field::attribute::kTypeStrings);
  }
};

std::string node_message(const Node& node) {
  std::string buffer;
  pbf_writer out(buffer);
  for (const std::string& name : node.inputs) out.add_string(field::node::kInput, name);
  for (const std::string& name : node.outputs) out.add_string(field::node::kOutput, name);
  add_text(out, field::node::kName, node.name);
  out.add_string(field::node::kOpType, node.op_type);
  for (const Attribute& attribute : node.attributes) {
    std::string message;
    pbf_writer writer(message);
    writer.add_string(field::attribute::kName, attribute.name);
    std::visit(AttributeWriter{writer}, attribute.value);
    message += attribute.unread;
    out.add_message(field::node::kAttribute, message);
  }
  add_text(out, field::node::kDocString, node.doc_string);
  add_text(out, field::node::kDomain, node.domain);
  add_properties(out, field::node::kMetadata, node.metadata);
  buffer += node.unread;
  return buffer;
}

void write_shape(pbf_writer& out, const std::vector<Dimension>& shape) {
  add_message(out, field::type::kShape, [&](pbf_writer& dims) {
    for (const Dimension& dimension : shape) {
      add_message(dims, field::type::kDim, [&](pbf_writer& one) {
        if (const auto* size = std::get_if<std::int64_t>(&dimension)) {
          one.add_int64(field::type::kDimValue, *size);
        } else {
          add_text(one, field::type::kDimParam, std::get<std::string>(dimension));
        }
      });
    }
  });
}

std::string value_info_message(const ValueInfo& info) {
  std::string buffer;
  pbf_writer out(buffer);
  out.add_string(field::value_info::kName, info.name);
  if (!info.type_unread.empty()) {
    out.add_message(field::value_info::kType, info.type_unread);
  } else {
    add_message(out, field::value_info::kType, [&](pbf_writer& type) {
      add_message(type, field::type::kTensor, [&](pbf_writer& tensor) {
        tensor.add_int32(field::type::kElemType, static_cast<std::int32_t>(info.type));
        if (info.shape) write_shape(tensor, *info.shape);
      });
    });
  }
  add_text(out, field::value_info::kDocString, info.doc_string);
  buffer += info.unread;
  return buffer;
}

void write_graph_without_weights(const Graph& graph, std::string& buffer) {
  pbf_writer out(buffer);
  for (const Node& node : graph.nodes) out.add_message(field::graph::kNode, node_message(node));
  out.add_string(field::graph::kName, graph.name);
  add_text(out, field::graph::kDocString, graph.doc_string);
  for (const ValueInfo& info : graph.inputs) {
    out.add_message(field::graph::kInput, value_info_message(info));
  }
  for (const ValueInfo& info : graph.outputs) {
    out.add_message(field::graph::kOutput, value_info_message(info));
  }
  for (const ValueInfo& info : graph.value_infos) {
    out.add_message(field::graph::kValueInfo, value_info_message(info));
  }
  add_properties(out, field::graph::kMetadata, graph.metadata);
  buffer += graph.unread;
}

/// Returns tag and length of a length-delimited field.
std::string prefix(field::Tag tag, std::uint64_t length) {
  std::string buffer;
  protozero::add_varint_to_buffer(
      &buffer,
      (tag << 3U) | static_cast<std::uint32_t>(protozero::pbf_wire_type::length_delimited));
  protozero::add_varint_to_buffer(&buffer, length);
  return buffer;
}

std::uint64_t bytes_of(const std::vector<Tensor>& weights) {
  std::uint64_t total = 0;
  for (const Tensor& weight : weights) total += weight.raw.size;
  return total;
}

/// One weight as pieces: the bytes before it in the file, and its own bytes.
struct WeightPieces {
  std::string head;
  std::string_view raw;
  std::uint64_t size() const { return head.size() + raw.size(); }
};

WeightPieces pieces_of(const Tensor& tensor) {
  std::string message;
  write_tensor_head(tensor, message);
  std::string_view raw;
  if (has_raw(tensor)) {
    raw = view(tensor.raw);
    message += prefix(field::tensor::kRawData, raw.size());
  }
  std::string head = prefix(field::graph::kInitializer, message.size() + raw.size());
  head += message;
  return {std::move(head), raw};
}

/// Returns the weight, padded by a doc string of spaces if that aligns its bytes to a multiple of
/// kAlignment, so that a mapped file can be used in place. `begin` is its position.
WeightPieces aligned_pieces(const Tensor& tensor, std::uint64_t begin) {
  WeightPieces pieces = pieces_of(tensor);
  const bool says_something = tensor.doc_string.find_first_not_of(' ') != std::string::npos;
  if (!has_raw(tensor) || tensor.raw.size < kSmallWeight || says_something) return pieces;
  Tensor padded = tensor;
  padded.doc_string = " ";
  for (pieces = pieces_of(padded); (begin + pieces.head.size()) % kAlignment != 0;
       pieces = pieces_of(padded)) {
    const std::uint64_t over = (begin + pieces.head.size()) % kAlignment;
    padded.doc_string.append(kAlignment - over, ' ');
  }
  return pieces;
}

/// The weights of a graph that begins at `begin`, and the resulting length of the graph.
struct Layout {
  std::vector<WeightPieces> pieces;
  std::uint64_t length = 0;
};

Layout lay_out(const std::vector<Tensor>& weights, std::uint64_t body, std::uint64_t begin) {
  Layout layout{.pieces = {}, .length = body};
  layout.pieces.reserve(weights.size());
  for (const Tensor& weight : weights) {
    layout.pieces.push_back(aligned_pieces(weight, begin + layout.length));
    layout.length += layout.pieces.back().size();
  }
  return layout;
}

/// Writes the model to the sink. The graph's length is computed before its weights are written, so
/// no weight is copied.
void pour(const Model& model, const std::vector<Tensor>& weights, const Sink& sink) {
  std::string head;
  pbf_writer out(head);
  out.add_int64(field::model::kIrVersion, model.ir_version);
  add_text(out, field::model::kProducerName, model.producer_name);
  add_text(out, field::model::kProducerVersion, model.producer_version);
  add_text(out, field::model::kDomain, model.domain);
  if (model.model_version != 0) out.add_int64(field::model::kModelVersion, model.model_version);
  add_text(out, field::model::kDocString, model.doc_string);
  for (const Opset& opset : model.opsets) {
    add_message(out, field::model::kOpset, [&](pbf_writer& entry) {
      entry.add_string(field::opset::kDomain, opset.domain);
      entry.add_int64(field::opset::kVersion, opset.version);
    });
  }
  add_properties(out, field::model::kMetadata, model.metadata);
  head += model.unread;

  std::string body;
  write_graph_without_weights(model.graph, body);
  // The graph's length is written before it, and determines its position.
  Layout layout{.pieces = {}, .length = body.size() + bytes_of(weights)};
  std::size_t width = 0;
  for (int i = 0; i < 2 && prefix(field::model::kGraph, layout.length).size() != width; ++i) {
    width = prefix(field::model::kGraph, layout.length).size();
    layout = lay_out(weights, body.size(), head.size() + width);
  }
  head += prefix(field::model::kGraph, layout.length);
  sink(head);
  sink(body);
  for (const WeightPieces& piece : layout.pieces) {
    sink(piece.head);
    sink(piece.raw);
  }
}

/// The weights with a position instead of bytes, and the file that contains their bytes.
struct MovedOut {
  std::vector<Tensor> placed;
  FileEntry file;
};

/// Writes the weights to their own file. Tensors under a kilobyte stay inline: shapes and axes must
/// be readable without the second file.
MovedOut move_out(const std::vector<Tensor>& weights, const std::filesystem::path& path) {
  OutputFile file(path);
  Digest sha256(Digest::Kind::kSha256);
  const auto write = [&](std::string_view bytes) {
    file.write(bytes);
    sha256.update(bytes);
  };
  std::vector<Tensor> placed;
  placed.reserve(weights.size());
  const std::string padding(kAlignment, '\0');
  for (const Tensor& weight : weights) {
    placed.push_back(weight);
    if (!has_raw(weight) || weight.raw.size < kSmallWeight) continue;
    const std::uint64_t rest = file.written() % kAlignment;
    if (rest != 0) write(std::string_view(padding).substr(rest));
    placed.back().external =
        ExternalData{path.filename().string(), file.written(), weight.raw.size};
    placed.back().raw = {};
    write(view(weight.raw));
  }
  file.close();
  return {std::move(placed), {path.filename().string(), "", sha256.finish()}};
}

/// Writes the model file. Both checksums are computed from memory, MD5 while writing.
FileEntry write_file(const Model& model, const std::vector<Tensor>& weights,
                     const std::filesystem::path& path) {
  Digest md5(Digest::Kind::kMd5);
  Digest sha256(Digest::Kind::kSha256);
  const bool beside = bytes_of(weights) >= kWorthAThread;
  std::future<void> slower;
  if (beside) {
    slower = std::async(std::launch::async, [&] {
      pour(model, weights, [&](std::string_view bytes) { md5.update(bytes); });
    });
  }
  OutputFile file(path);
  pour(model, weights, [&](std::string_view bytes) {
    file.write(bytes);
    sha256.update(bytes);
    if (!beside) md5.update(bytes);
  });
  file.close();
  if (beside) slower.get();
  return {path.filename().string(), md5.finish(), sha256.finish()};
}

}  // namespace

std::string serialize(const Model& model) {
  std::string whole;
  const std::uint64_t weights = bytes_of(model.graph.initializers);
  whole.reserve(weights + weights / 64);  // with some space for the rest, to avoid reallocation
  pour(model, model.graph.initializers, [&](std::string_view bytes) { whole += bytes; });
  return whole;
}

std::vector<FileEntry> write_model(const Model& model, const std::filesystem::path& path,
                                   const WriteOptions& options) {
  if (!options.external_data && bytes_of(model.graph.initializers) <= options.max_inline_bytes) {
    return {write_file(model, model.graph.initializers, path)};
  }
  const MovedOut out = move_out(model.graph.initializers, path.string() + ".data");
  return {write_file(model, out.placed, path), out.file};
}

}  // namespace leapp::onnx
