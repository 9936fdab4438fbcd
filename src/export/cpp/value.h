// A tensor while code is generated for it: what the text of one element is, given its indices.
//
// A Value is computed lazily. Element-wise operators and views only make a new text out of those of
// their operands, so that a chain of them becomes one loop when Program::stored() writes it to
// memory. Values are handles: copies are cheap and share everything.
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

/// Memory of the generated code, as an index into Program's list.
using BufferId = int;
inline constexpr BufferId kNoBuffer = -1;

/// Returns a dimension's number as an index of containers.
inline std::size_t at(std::int64_t dim) {
  return static_cast<std::size_t>(dim);
}

struct Value;

/// A kernel that has not been called yet: it takes a function of each element along.
struct Pending {
  /// Calls the kernel with the text of a function of `x`, and writes to a buffer.
  std::function<void(const std::string& text, const std::set<std::string>& origins, BufferId to)>
      call;
  /// Calls it for a value that this is pending for; the value in memory.
  std::function<Value(const Value& value)> resolve;
};

struct Value {
  DType dtype = DType::kFloat32;
  Shape shape = {};
  /// Returns the text of an element, whose parts bind as tightly as a function call does.
  std::function<std::string(const Indices&)> at = {};
  /// For every buffer that is read the distance between elements along each dimension, where an
  /// index is only ever multiplied by it; nothing where indices take other ways.
  std::optional<std::vector<Shape>> strides = std::vector<Shape>{};
  /// Operators per element. 0: an element is read, or a number.
  int cost = 0;
  /// The buffer whose elements these are, in order and all of them.
  BufferId buffer = kNoBuffer;
  /// Set: the text is a function of `x`, the result of a kernel that is still to be called. Whoever
  /// reads elements calls resolved() first; element-wise operators take such values as they are.
  std::shared_ptr<const Pending> pending = {};
  /// Lines of the user's program that the text comes from, for comments.
  std::set<std::string> origins = {};

  std::int64_t count() const { return element_count(shape); }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape.size()); }
};

/// Returns the value without a pending kernel.
Value resolved(const Value& value);

/// Returns C++'s name of the type, such as "float".
std::string type_text(DType dtype);
/// Returns a number as a literal of that type: exact, or wrapped around to an integer type.
std::string number_text(double number, DType dtype);
std::string number_text(std::int64_t number, DType dtype);

/// Returns a number in every place of a shape.
Value filled(double number, DType dtype, Shape shape = {});
Value filled(std::int64_t number, DType dtype, Shape shape = {});

/// `render` makes the text of an element out of those of the operands, which broadcast to `shape`.
using Render = std::function<std::string(const std::vector<std::string>&)>;
Value pointwise(DType dtype, const Shape& shape, std::vector<Value> operands, Render render);
/// Returns the shape that two broadcast to.
Shape broadcast_shape(const Shape& a, const Shape& b);
/// Returns the value converted as by PyTorch; the value itself if it has the type.
Value cast(const Value& value, DType dtype);

/// A view: `map` gives the indices of the value for indices of the view, and the distances along
/// its dimensions for those of the value's.
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
