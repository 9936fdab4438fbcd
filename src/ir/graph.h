// The pure graph of one node, which recordings are converted to and all exporters read.
//
// A `Graph` is a list of operations in execution order over SSA values. There is no mutation, no
// aliasing and no libtorch type in it. Weights are `Blob`s that share the memory of their tensors.
// Operations are PyTorch's own, by qualified name ("aten::add.Tensor"), with their arguments in
// schema order, so PyTorch's documentation defines the meaning of a graph.
//
// Not thread-safe; a graph is built by one thread and may then be read by many.
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "leapp/dtype.h"
#include "leapp/visibility.h"

namespace leapp::ir {

/// Index of a value in its graph; kNoValue stands for "no tensor" (an undefined result, a None in
/// a list of optional tensors).
using ValueId = std::int32_t;
inline constexpr ValueId kNoValue = -1;

/// A line of the user's program.
struct SourceLocation {
  std::string file;
  int line = 0;
  std::string function;

  bool known() const noexcept { return line > 0; }
  /// Returns "policy.py:42 in forward", or "" when unknown.
  LEAPP_EXPORT std::string to_string() const;
};

struct TensorType {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::string device = "cpu";

  bool operator==(const TensorType&) const = default;
};

/// Contiguous bytes of a constant. `data` points into memory that `data` itself keeps alive, so a
/// weight shares the memory of its tensor and is never copied. The bytes are in host memory.
struct Blob {
  std::shared_ptr<const std::byte> data;
  TensorType type;

  std::size_t byte_size() const noexcept {
    return static_cast<std::size_t>(element_count(type.shape)) * size_of(type.dtype);
  }
  template <typename T>
  const T* as() const noexcept {
    return reinterpret_cast<const T*>(data.get());
  }
};

enum class ValueKind { kInput, kConstant, kResult };

struct Value {
  ValueKind kind = ValueKind::kResult;
  TensorType type;
  std::string name;        ///< name of a port or weight; may be empty for results
  std::int32_t index = 0;  ///< input: position; constant: index into blobs; result: producing op
};

/// One tensor argument of an operation.
struct ValueRef {
  ValueId id = kNoValue;
  bool operator==(const ValueRef&) const = default;
};

struct Device {
  std::string name;
  bool operator==(const Device&) const = default;
};

/// An argument as in PyTorch's dispatcher. A Scalar is bool, int64, double or complex. A
/// `ScalarType` is a DType; `Layout` and `MemoryFormat` are their integers; monostate is None.
using Argument =
    std::variant<std::monostate, ValueRef, std::vector<ValueRef>, bool, std::int64_t, double,
                 std::complex<double>, std::string, DType, Device, std::vector<std::int64_t>,
                 std::vector<double>, std::vector<bool>, std::vector<std::string>>;

/// The schema of an operator, shared by all its calls.
struct Signature {
  struct Parameter {
    std::string name;  ///< "self", "dim", ..
    std::string type;  ///< in PyTorch's notation: "Tensor", "Tensor?[]", "int[]", "Scalar", ..
  };
  std::string name;      ///< "aten::add"
  std::string overload;  ///< "Tensor"; may be empty
  std::vector<Parameter> parameters;
  std::vector<std::string> returns;  ///< "Tensor" or "Tensor[]"

  /// Returns "aten::add.Tensor", or "aten::relu" if there is no overload name.
  LEAPP_EXPORT std::string qualified_name() const;
  /// Returns the position of the parameter, or -1.
  LEAPP_EXPORT int find(std::string_view parameter) const noexcept;
};

/// One return of an operation: a tensor, or a list of tensors.
struct Result {
  bool is_list = false;
  std::vector<ValueId> values;  ///< exactly one unless is_list
};

struct Op {
  std::shared_ptr<const Signature> signature;
  std::vector<Argument> arguments;  ///< as many as signature->parameters
  std::vector<Result> results;      ///< as many as signature->returns
  SourceLocation source;
  std::string module_path;  ///< the running module, "encoder.layers.0"; may be empty
  /// Specialised: an argument has a data-dependent shape, but the operation works only with the
  /// traced size.
  bool fixed_size = false;
  bool random = false;  ///< draws from a generator, so no two calls are equal

  /// Returns the argument of that name. It is a bug of LEAPP if the operator has no such parameter.
  LEAPP_EXPORT const Argument& argument(std::string_view parameter) const;
  bool has(std::string_view parameter) const noexcept { return signature->find(parameter) >= 0; }
  /// Returns the first result that is a plain tensor.
  ValueId result(std::size_t i = 0) const { return results.at(i).values.at(0); }
};

/// Calls `visit(ValueId)` for every tensor the argument refers to, absent ones left out.
template <typename Visit>
void for_each_value(const Argument& argument, Visit&& visit) {
  if (const auto* one = std::get_if<ValueRef>(&argument)) {
    if (one->id != kNoValue) visit(one->id);
  } else if (const auto* many = std::get_if<std::vector<ValueRef>>(&argument)) {
    for (const ValueRef ref : *many) {
      if (ref.id != kNoValue) visit(ref.id);
    }
  }
}

/// Calls `visit(ValueRef&)` for every tensor the argument refers to, absent ones included.
template <typename Visit>
void for_each_ref(Argument& argument, Visit&& visit) {
  if (auto* one = std::get_if<ValueRef>(&argument)) visit(*one);
  if (auto* many = std::get_if<std::vector<ValueRef>>(&argument)) {
    for (ValueRef& ref : *many) visit(ref);
  }
}

/// Calls `visit(ValueId)` for every value that the op defines, absent ones left out.
template <typename Visit>
void for_each_result(const Op& op, Visit&& visit) {
  for (const Result& result : op.results) {
    for (const ValueId id : result.values) {
      if (id != kNoValue) visit(id);
    }
  }
}

class LEAPP_EXPORT Graph {
 public:
  struct Output {
    std::string name;
    ValueId value = kNoValue;
  };

  ValueId add_input(std::string name, TensorType type);
  ValueId add_constant(std::string name, Blob blob);
  /// Returns a fresh value, which becomes a result of the next appended op.
  ValueId add_result(TensorType type);
  /// Appends the op and makes it the producer of its results.
  void append(Op op);
  void add_output(std::string name, ValueId value);

  const std::vector<ValueId>& inputs() const noexcept { return inputs_; }
  const std::vector<Output>& outputs() const noexcept { return outputs_; }
  const std::vector<Op>& ops() const noexcept { return ops_; }
  std::size_t value_count() const noexcept { return values_.size(); }
  const Value& value(ValueId id) const { return values_.at(static_cast<std::size_t>(id)); }
  Value& value(ValueId id) { return values_.at(static_cast<std::size_t>(id)); }
  const TensorType& type(ValueId id) const { return value(id).type; }
  bool is_constant(ValueId id) const { return value(id).kind == ValueKind::kConstant; }
  /// Returns the bytes of a constant.
  const Blob& blob(ValueId id) const;

  /// Replaces the whole list of ops, inputs or outputs. For passes, which verify the graph
  /// afterwards.
  void set_ops(std::vector<Op> ops);
  void set_inputs(std::vector<ValueId> inputs) { inputs_ = std::move(inputs); }
  void set_outputs(std::vector<Output> outputs) { outputs_ = std::move(outputs); }

 private:
  std::vector<Value> values_;
  std::vector<Blob> blobs_;
  std::vector<ValueId> inputs_;
  std::vector<Output> outputs_;
  std::vector<Op> ops_;
};

/// Throws an internal Error that names the first broken rule: every value is defined before it is
/// used and once only, counts match the signature, outputs exist, names are unique per side.
LEAPP_EXPORT void verify(const Graph& graph);

/// Returns a readable form: one line per op, with types, constants by name and the user's line.
LEAPP_EXPORT std::string to_text(const Graph& graph);

}  // namespace leapp::ir
