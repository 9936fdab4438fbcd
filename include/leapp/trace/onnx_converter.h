// Converters to ONNX for operators that LEAPP does not know.
//
//   leapp::register_onnx_converter("mylib::softclip", [](leapp::OnnxOp& op) {
//     const float limit = static_cast<float>(op.number("limit"));
//     const leapp::OnnxValue bound = op.constant({&limit, leapp::DType::kFloat32, {}});
//     const leapp::OnnxValue ratio = op.emit("Div", {op.tensor("x"), bound});
//     op.set_result(0, op.emit("Mul", {op.emit("Tanh", {ratio}), bound}));
//   });
//
// A converter runs once for every call of the operator, while a node is exported. Arguments are
// read by their names in the operator's schema. For a call that cannot be converted, call fail(),
// which names the operator and the user's line. Operators with a converter are not decomposed
// first. Registering is process-wide and thread-safe; converters may run in any thread that
// exports.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "leapp/dtype.h"
#include "leapp/tensor_view.h"
#include "leapp/visibility.h"

namespace leapp {

class OnnxOp;

/// A tensor of the ONNX graph under construction. Valid while the converter runs.
class LEAPP_EXPORT OnnxValue {
 public:
  /// Creates an undefined value, for an optional input that is omitted.
  OnnxValue() = default;

  bool defined() const noexcept { return builder_ != nullptr; }
  DType dtype() const;
  const Shape& shape() const;

 private:
  friend class OnnxOp;
  OnnxValue(void* builder, std::int32_t id) : builder_(builder), id_(id) {}

  void* builder_ = nullptr;
  std::int32_t id_ = -1;
};

/// An attribute of a node: a number, a string, or a list of either.
using OnnxAttribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                                   std::vector<float>, std::vector<std::string>>;
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

/// Outputs of an ONNX node that differ from the operator's first result.
struct OnnxNodeOptions {
  struct Output {
    DType dtype = DType::kFloat32;
    Shape shape = {};
  };
  std::vector<Output> outputs =
      {};                   ///< empty: one output with the type of the operator's first result
  std::string domain = {};  ///< "" is ONNX's own domain; the engine must support others
  std::int64_t domain_version = 1;  ///< of `domain`
};

/// One call of an operator that is being converted.
class LEAPP_EXPORT OnnxOp {
 public:
  /// Returns the qualified name, "mylib::softclip".
  std::string name() const;
  /// Returns the ONNX opset the model is written for.
  int opset_version() const;
  /// Returns "policy.py:42 in act", or "" when unknown.
  std::string source() const;

  // Arguments. Reading an unknown argument, or one as a wrong type, is an Error.
  bool is_none(std::string_view parameter) const;
  OnnxValue tensor(std::string_view parameter);  ///< undefined if None
  std::vector<OnnxValue> tensors(std::string_view parameter);
  bool flag(std::string_view parameter) const;
  std::int64_t integer(std::string_view parameter) const;
  double number(std::string_view parameter) const;
  std::string text(std::string_view parameter) const;
  std::vector<std::int64_t> integers(std::string_view parameter) const;
  std::vector<double> numbers(std::string_view parameter) const;

  // Building.
  /// Returns a constant. Copies the elements.
  OnnxValue constant(const ConstTensorView& value);
  /// Adds a node with one output, and returns the output.
  OnnxValue emit(std::string_view op_type, const std::vector<OnnxValue>& inputs,
                 const OnnxAttributes& attributes = {}, const OnnxNodeOptions& options = {});
  /// Adds a node with the number of outputs in `options.outputs`, and returns them.
  std::vector<OnnxValue> emit_many(std::string_view op_type, const std::vector<OnnxValue>& inputs,
                                   const OnnxAttributes& attributes,
                                   const OnnxNodeOptions& options);

  // Results.
  std::size_t result_count() const;
  DType result_dtype(std::size_t i = 0) const;
  const Shape& result_shape(std::size_t i = 0) const;
  /// Sets the value of a result, which must have exactly PyTorch's type and shape.
  void set_result(std::size_t i, OnnxValue value);

  /// Ends the export with an Error that names the operator and the user's line.
  [[noreturn]] void fail(const std::string& reason, const std::string& advice = "") const;

 private:
  friend struct OnnxOpAccess;
  explicit OnnxOp(void* context) : context_(context) {}

  void* context_;
};

using OnnxConverter = std::function<void(OnnxOp&)>;

/// Registers the converter for the operator ("namespace::name" or "namespace::name.overload"). It
/// replaces a built-in converter and an earlier registration.
LEAPP_EXPORT void register_onnx_converter(const std::string& qualified_name,
                                          OnnxConverter converter);

/// Unregisters a custom converter and restores the built-in one. Returns false if none was
/// registered.
LEAPP_EXPORT bool remove_onnx_converter(const std::string& qualified_name);

}  // namespace leapp
