// A tensor during code generation: the text of one element, given its indices.
//
// A Value is computed lazily. Element-wise operators and views only create a new text from those of
// their operands, so a chain of them becomes one loop when Program::stored() writes it to memory.
// Values are handles: copies are cheap and share everything.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "export/cpp/index.h"
#include "leapp/dtype.h"

namespace leapp::cpp_export {

/// A buffer of the generated code, as an index into Program's list.
using BufferId = int;
inline constexpr BufferId kNoBuffer = -1;

/// Returns a dimension as an index of containers.
inline std::size_t at(std::int64_t dim) {
  return static_cast<std::size_t>(dim);
}

struct Value;

/// A kernel that is not called yet, and that applies a function to each element.
struct Pending {
  /// Calls the kernel with the text of a function of `x`, and writes to a buffer.
  std::function<void(const std::string& text, const std::set<std::string>& origins, BufferId to)>
      call;
  /// Calls the kernel of a pending value, and returns the value in memory.
  std::function<Value(const Value& value)> resolve;
};

struct Value {
  DType dtype = DType::kFloat32;
  Shape shape = {};
  /// Returns the text of an element, in which no operator binds less tightly than a function call.
  std::function<std::string(const Indices&)> at = {};
  /// For every buffer that is read, the stride along each dimension, if indices are only multiplied
  /// by strides; nothing for other index expressions.
  std::optional<std::vector<Shape>> strides = std::vector<Shape>{};
  /// Operators per element. 0: an element that is read, or a number.
  int cost = 0;
  /// The buffer that consists of exactly these elements, in order.
  BufferId buffer = kNoBuffer;
  /// If set, the text is a function of `x`, the result of a kernel that is not called yet. Call
  /// resolved() before reading elements; element-wise operators accept such values unchanged.
  std::shared_ptr<const Pending> pending = {};
  /// Lines of the user's program that the text comes from, for comments.
  std::set<std::string> origins = {};

  std::int64_t count() const { return element_count(shape); }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
};

/// Returns the value without a pending kernel.
Value resolved(const Value& value);

/// Returns the C++ name of the type, such as "float".
std::string type_text(DType dtype);
/// Returns a number as a literal of that type: exact, or wrapped around to an integer type.
std::string number_text(double number, DType dtype);
std::string number_text(std::int64_t number, DType dtype);

/// Returns a value with the same number in every element.
Value filled(double number, DType dtype, Shape shape = {});
Value filled(std::int64_t number, DType dtype, Shape shape = {});

/// Creates a value. `render` returns the text of an element from those of the operands, which
/// broadcast to `shape`.
using Render = std::function<std::string(const std::vector<std::string>&)>;
Value pointwise(DType dtype, const Shape& shape, std::vector<Value> operands, Render render);
/// Returns the shape to which two shapes broadcast.
Shape broadcast_shape(const Shape& a, const Shape& b);
/// Returns the value converted as by PyTorch; the value itself if it has the type.
Value cast(const Value& value, DType dtype);

/// Creates a view: `map` returns the indices of the value for indices of the view, and likewise the
/// strides.
using IndexMap = std::function<Indices(const Indices&)>;
using StrideMap = std::function<Shape(const Shape&)>;
Value view(const Value& value, Shape shape, IndexMap map, StrideMap strides = {});
Value expanded(const Value& value, const Shape& shape);
Value permuted(const Value& value, const std::vector<std::int64_t>& order);
Value transposed(const Value& value, std::int64_t a, std::int64_t b);
/// Returns `count` elements from `begin` on, every step-th; a negative step goes backwards.
Value sliced(const Value& value, std::int64_t dim, std::int64_t begin, std::int64_t count,
             std::int64_t step = 1);
/// Returns the value without the dimension, at that index.
Value selected(const Value& value, std::int64_t dim, const Index& place);
/// A condition on the indices, as a C++ expression.
using Condition = std::function<std::string(const Indices&)>;
/// Returns `value` indexed by `map` if the condition holds, and `otherwise` elsewhere.
Value guarded(const Value& value, Shape shape, IndexMap map, Condition condition,
              const Value& otherwise);
Value unsqueezed(const Value& value, std::int64_t dim);
Value squeezed(const Value& value, std::int64_t dim);

}  // namespace leapp::cpp_export
