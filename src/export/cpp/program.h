// The body of a generated model under construction: statements in order, and their memory, kernels
// and errors.
//
// Memory is planned after the last statement: buffers with disjoint lifetimes share memory. Not
// thread-safe.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "export/cpp/value.h"
#include "export/cpp/weight_format.h"
#include "ir/graph.h"

namespace leapp::cpp_export {

struct Buffer {
  enum class Kind { kInput, kOutput, kWeight, kScratch };
  Kind kind = Kind::kScratch;
  std::string name;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::int64_t offset = 0;  ///< offset in the weights or in the scratch memory, in bytes
  int first = -1;           ///< statements that use it; -1 for none
  int last = -1;
  std::string comment = {};  ///< name of a weight

  std::int64_t bytes() const {
    return element_count(shape) * static_cast<std::int64_t>(size_of(dtype));
  }
};

class Program {
 public:
  explicit Program(WeightFormat weight_format = WeightFormat::kFloat32)
      : weight_format_(weight_format) {}

  /// Returns the storage format for weights of linear layers.
  WeightFormat weight_format() const noexcept { return weight_format_; }

  // ---- memory ----
  BufferId add_input(DType dtype, const Shape& shape);
  BufferId add_output(DType dtype, const Shape& shape);
  BufferId add_scratch(DType dtype, const Shape& shape);
  /// Adds the bytes to the weight file.
  BufferId add_weight(const ir::Blob& blob, const std::string& name);
  const Buffer& buffer(BufferId id) const { return buffers_.at(static_cast<std::size_t>(id)); }

  /// Returns the elements of a buffer, which are read where they are used.
  Value read(BufferId id);
  /// Returns the buffer's name for the current statement: a pointer to its first element.
  std::string pointer(BufferId id);

  // ---- statements ----
  /// Writes a value to a buffer with the same number of elements, as one loop nest.
  void store(const Value& value, BufferId to);
  /// Writes a value to the elements of another value with the same shape, a view of a buffer.
  void write(const Value& value, const Value& target);
  /// Returns the value in memory: itself if it is a whole buffer, otherwise a new one.
  Value stored(const Value& value);
  /// Returns the value in memory, but only if computing an element more than once would be
  /// expensive.
  Value cheap(const Value& value) {
    return value.cost == 0 && !value.pending ? value : stored(value);
  }
  /// Returns the result of a kernel that is called after the operators on its elements are known.
  /// `call` creates the statement from the text of a function of x and the output buffer.
  Value pending(DType dtype, const Shape& shape,
                std::function<std::string(const std::string& text, BufferId to)> call);
  /// Returns the elements in the same order with a different shape; stored if it cannot be a view.
  Value reshaped(const Value& value, const Shape& shape);
  /// Adds a statement with any text, which may have several lines, and a comment on its origin; by
  /// default the operator itself.
  void add_statement(const std::set<std::string>& origins, const std::string& text);
  /// Opens a loop for each dimension with more than one element, around the text of `body`, which
  /// receives the indices. Blocks are indented from `depth` on.
  std::string nest(const Shape& shape, int depth,
                   const std::function<std::string(const Indices&, int depth)>& body);

  /// Sets the operator and the line of the following statements.
  void set_origin(const std::string& origin) { origin_ = origin; }
  const std::string& origin() const noexcept { return origin_; }
  /// Returns the origins of the values and of the current operator.
  std::set<std::string> origins_of(std::initializer_list<Value> values) const;

  // ---- what it needs ----
  /// A file of kernels/, for example "linear.h".
  void use_kernel(const std::string& file) { kernels_.insert(file); }
  /// Adds a member of the model's memory that prepare() fills, with its type and the arguments of
  /// its prepare(). Returns its name, for statements that call it.
  std::string add_packed(const std::string& type, const std::vector<BufferId>& weights);
  /// Adds an error message of run(), and returns its index.
  int add_error(const std::string& sentence);

  // ---- the result ----
  /// Assigns addresses to scratch buffers. No statement may be added afterwards.
  void plan();
  std::int64_t scratch_bytes() const noexcept { return scratch_bytes_; }
  const std::vector<Buffer>& buffers() const noexcept { return buffers_; }
  const std::vector<std::string>& statements() const noexcept { return statements_; }
  const std::set<std::string>& kernels() const noexcept { return kernels_; }
  const std::vector<std::string>& errors() const noexcept { return errors_; }
  const std::string& weights() const noexcept { return weights_; }
  struct Packed {
    std::string name;
    std::string type;
    std::vector<BufferId> weights;
  };
  const std::vector<Packed>& packed() const noexcept { return packed_; }

 private:
  BufferId add(Buffer buffer);
  void touch(BufferId id);

  WeightFormat weight_format_;
  std::vector<Buffer> buffers_;
  std::vector<std::string> statements_;
  std::vector<Packed> packed_;
  std::vector<std::string> errors_;
  std::set<std::string> kernels_;
  std::map<std::string, BufferId> known_weights_;  // by type, shape and bytes
  std::string weights_;
  std::string origin_;
  std::int64_t scratch_bytes_ = 0;
};

/// Returns the indentation of a block's line.
inline std::string indented(int depth) {
  return std::string(static_cast<std::size_t>(2 * depth), ' ');
}

/// Returns a name for a comment, without characters that would end the line or continue it.
std::string in_comment(const std::string& text);

/// Alignment of weights and scratch buffers in bytes: a cache line.
inline constexpr std::int64_t kAlignment = 64;

}  // namespace leapp::cpp_export
