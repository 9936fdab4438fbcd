// A selection by a computed mask, kept as all elements plus the mask, so that its shape is fixed.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/graph.h"

namespace leapp::ir {

/// A value with the shape `[leading.., number of selected elements, trailing..]`.
struct Selection {
  static constexpr int kValues = -2;     ///< elements of a tensor
  static constexpr int kPositions = -1;  ///< positions as in nonzero(), one column per dimension

  ValueId mask = kNoValue;
  ValueId full = kNoValue;  ///< all elements, including those that are not selected
  std::size_t leading = 0;  ///< number of dimensions of `full` in front of the mask's
  bool shaped = true;       ///< false: reshaped afterwards
  bool flat = false;        ///< the mask's dimensions are merged into one in `full`
  int column = kValues;     ///< or a single column of the positions
};

/// An index that selects by a mask, after `leading` dimensions that it does not change.
struct MaskedIndex {
  ValueId mask = kNoValue;  ///< kNoValue: it does not select by a mask
  std::size_t leading = 0;
};

/// The selections of one graph, and the operations of the rewritten graph. The graph must outlive
/// it. Adds values to the graph, but does not change its list of operations.
class Selections {
 public:
  explicit Selections(Graph& graph) : graph_(graph) {}

  Graph& graph() noexcept { return graph_; }
  const Graph& graph() const noexcept { return graph_; }
  const Shape& shape_of(ValueId id) const { return graph_.type(id).shape; }

  /// Returns the selection of a value, or nullptr. Stays valid.
  const Selection* find(ValueId id) const;
  bool empty() const noexcept { return selections_.empty(); }
  void add(ValueId id, Selection selection) { selections_[id] = selection; }
  /// Computed from a selection by an unsupported operator: its shape may be data-dependent.
  bool is_opaque(ValueId id) const { return opaque_.count(id) > 0; }
  void add_opaque(ValueId id) { opaque_.insert(id); }
  /// Returns whether the value is a tensor whose shape depends on no mask.
  bool is_plain(ValueId id) const;

  /// Returns the mask of `self[indices]`, which is the index itself or is given by the positions at
  /// which it is true.
  MaskedIndex masked_index(const Op& op) const;
  /// Returns the same for operators with one index along `dim`, such as index_select().
  MaskedIndex masked_index_along_dim(const Op& op) const;

  /// Returns the dimensions of `full` after the mask's.
  Shape trailing_of(const Selection& selection) const;
  /// Returns the number of elements of the mask.
  std::int64_t mask_size(const Selection& selection) const;

  void push(Op op) { ops_.push_back(std::move(op)); }
  std::vector<Op> take_ops() { return std::move(ops_); }
  /// Adds an operation with one result, with the source line of `like`.
  ValueId append(const std::shared_ptr<const Signature>& signature, std::vector<Argument> arguments,
                 TensorType type, const Op& like);
  /// Adds an operation that computes the results of `op` instead of it.
  void replace(const Op& op, const std::shared_ptr<const Signature>& signature,
               std::vector<Argument> arguments);
  ValueId reshaped(ValueId value, const Shape& shape, const Op& like);
  /// Returns the mask in a shape that broadcasts to the selection: followed by `trailing`
  /// dimensions of one.
  ValueId broadcast_mask(const Selection& selection, std::size_t trailing, const Op& like);
  /// Returns all elements, with the mask's dimensions merged into one.
  ValueId flattened(const Selection& selection, const Op& like);
  /// Returns all elements, with separate dimensions for the mask.
  ValueId unflattened(const Selection& selection, const Op& like);
  /// Returns all elements, with the value instead of those that were not selected.
  ValueId filled(const Selection& selection, double value, const Op& like);
  /// Returns the selected elements, specialised to their number in `type`, which is the traced one.
  /// The operation fails for any other number.
  ValueId specialised(const Selection& selection, const TensorType& type, const Op& like);
  /// Returns a 0-d constant.
  ValueId scalar(DType dtype, double value);
  ValueId integers(std::vector<std::int64_t> values, Shape shape);

 private:
  Shape with_mask_as(const Selection& selection, const Shape& mask) const;

  Graph& graph_;
  std::vector<Op> ops_;
  std::map<ValueId, Selection> selections_;
  std::set<ValueId> opaque_;
};

/// Returns the shape with dimension `dim` replaced by others.
Shape replace_dim(const Shape& shape, std::size_t dim, const Shape& by);

/// Returns the tensor of an argument; kNoValue if it is not a tensor.
ValueId tensor_in(const Argument& argument);

bool is_float(DType dtype);

/// Returns the signature of one of PyTorch's operators with one result.
std::shared_ptr<const Signature> signature_of(const char* name, const char* overload,
                                              std::vector<Signature::Parameter> parameters);
const std::shared_ptr<const Signature>& where_signature();
const std::shared_ptr<const Signature>& add_signature();
const std::shared_ptr<const Signature>& index_select_signature();

}  // namespace leapp::ir
