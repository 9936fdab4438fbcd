// An ONNX model as plain structs: everything that LEAPP writes, and the parts that it needs of a
// model that it reads.
//
// Field names follow onnx.proto. A message keeps the fields that have no member here as bytes in
// `unread`, so that reading and writing a model loses nothing. Copying a model copies no weight:
// tensors share their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "leapp/dtype.h"
#include "leapp/visibility.h"

namespace leapp::onnx {

/// TensorProto.DataType. Values without a name here are kept unchanged.
enum class ElementType : std::int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E5M2 = 19,
};

LEAPP_EXPORT ElementType element_type_of(DType dtype) noexcept;
/// Returns our type for ONNX's, or empty if there is none (strings, 4-bit types, ..).
LEAPP_EXPORT std::optional<DType> dtype_of(ElementType type) noexcept;
/// Returns "float32"; "ONNX type 8" for unknown types.
LEAPP_EXPORT std::string text_of(ElementType type);

/// Bytes that several owners share. `data` keeps its memory alive.
struct Bytes {
  std::shared_ptr<const std::byte> data;
  std::size_t size = 0;

  LEAPP_EXPORT static Bytes copy_of(const void* data, std::size_t size);
  /// Bytes that another owner keeps alive.
  static Bytes borrowed(std::span<const std::byte> bytes) {
    return {std::shared_ptr<const std::byte>(std::shared_ptr<void>(), bytes.data()), bytes.size()};
  }
};

/// Location of a tensor's elements outside the model file.
struct ExternalData {
  std::string location;  ///< relative to the model's directory
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

using Properties = std::vector<std::pair<std::string, std::string>>;

struct Tensor {
  std::string name;
  ElementType type = ElementType::kUndefined;
  std::vector<std::int64_t> dims;
  Bytes raw;  ///< little-endian elements; empty for external data and strings
  std::vector<std::string> strings;  ///< elements of a string tensor
  std::optional<ExternalData> external;
  std::string doc_string;
  std::string unread;
};

struct Graph;

struct Attribute {
  /// Graphs are shared and are not modified after they are stored here.
  using Value = std::variant<std::monostate, float, std::int64_t, std::string, Tensor,
                             std::shared_ptr<const Graph>, std::vector<float>,
                             std::vector<std::int64_t>, std::vector<std::string>>;
  std::string name;
  Value value;  ///< monostate: a type without a member here; all of it is in `unread`
  std::string unread;
};

struct Node {
  std::string op_type;
  std::string domain;
  std::string name;
  std::vector<std::string> inputs;  ///< "" is an omitted input
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
  std::string doc_string;
  Properties metadata;
  std::string unread;
};

/// A size, or the name of a size that is known only at run time ("" for no name).
using Dimension = std::variant<std::int64_t, std::string>;

/// Returns "[batch, 4]", with "?" for a size without a name.
LEAPP_EXPORT std::string text_of(const std::vector<Dimension>& shape);

struct ValueInfo {
  std::string name;
  ElementType type = ElementType::kUndefined;   ///< kUndefined if it is not a tensor
  std::optional<std::vector<Dimension>> shape;  ///< empty if the rank is unknown
  std::string doc_string;
  std::string type_unread;  ///< a TypeProto that is not a dense tensor, as bytes
  std::string unread;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;
  std::string doc_string;
  Properties metadata;
  std::string unread;
};

struct Opset {
  std::string domain;  ///< "" is ONNX's own domain
  std::int64_t version = 0;
};

struct Model {
  std::int64_t ir_version = 0;
  std::vector<Opset> opsets;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  std::int64_t model_version = 0;
  std::string doc_string;
  Graph graph;
  Properties metadata;
  std::string unread;  ///< functions are an example
  bool has_functions = false;
};

/// Returns the version of ONNX's own operators, or none if the model does not state it.
LEAPP_EXPORT std::optional<std::int64_t> opset_of(const Model& model);

/// Returns the inputs that the caller must supply. Old files also list their weights as inputs.
LEAPP_EXPORT std::vector<ValueInfo> fed_inputs(const Graph& graph);

/// Returns the names of the files with weights of a model, including those of loops and branches.
LEAPP_EXPORT std::set<std::string> external_locations(const Model& model);

}  // namespace leapp::onnx
