// What a computed mask selects, as all elements and the mask.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "ir/graph.h"

namespace leapp::ir {

/// What was selected, and from what: `[before.., as many as the mask has, rest..]`.
struct Selection {
  static constexpr int kValues = -2;  ///< elements of some tensor
  static constexpr int kPlaces = -1;  ///< where the mask is true, a column for each dimension

  ValueId mask = kNoValue;
  ValueId full = kNoValue;  ///< all elements, those that were not selected included
  std::size_t before = 0;   ///< how many dimensions of `full` stand before the mask's
  bool shaped = true;       ///< false: put into another shape since
  bool flat = false;        ///< the mask's dimensions are one in `full`
  int column = kValues;     ///< or which column of the places it is
};

/// Where an index selects: by that mask, behind so many dimensions that it leaves as they are.
struct MaskedPlace {
  ValueId mask = kNoValue;
  std::size_t before = 0;
};

/// The selections of one graph, and the operations that say the graph without them. The graph must
/// outlive it.
class Selections {
 public:
  explicit Selections(Graph& graph) : graph_(graph) {}

  Graph& graph() noexcept { return graph_; }
  const Graph& graph() const noexcept { return graph_; }
  const Shape& shape_of(ValueId id) const { return graph_.type(id).shape; }

  /// The selection that a value is; nullptr if it is none.
  const Selection* find(ValueId id) const;
  bool any() const noexcept { return !found_.empty(); }
  void note(ValueId id, Selection selection) { found_[id] = selection; }
  /// As large as a selection, or made of one, in a way that is not followed.
  bool is_unknown(ValueId id) const { return unknown_.count(id) > 0; }
  void note_unknown(ValueId id) { unknown_.insert(id); }
  /// A plain tensor: there, of a size that no mask decides.
  bool is_plain(ValueId id) const;

  /// Where `self[indices]` selects, if that is by a mask, or by the places where one is true.
  MaskedPlace place_of(const Op& op) const;
  /// The same for operators with one index along `dim`, such as index_select().
  MaskedPlace place_along(const Op& op) const;

  /// The dimensions of `full` behind the mask's.
  Shape rest_of(const Selection& selection) const;

  void push(Op op) { made_.push_back(std::move(op)); }
  std::vector<Op> take_ops() { return std::move(made_); }
  /// Adds an operation with one result, at the line of `like`.
  ValueId append(const std::shared_ptr<const Signature>& signature, std::vector<Argument> arguments,
                 TensorType type, const Op& like);
  ValueId reshaped(ValueId value, const Shape& shape, const Op& like);
  /// The mask with as many dimensions of one behind it, laid out as the selection is.
  ValueId spread_mask(const Selection& selection, std::size_t behind, const Op& like);
  /// All elements, with the mask's dimensions as one.
  ValueId flattened(const Selection& selection, const Op& like);
  /// All elements, with the mask's dimensions apart.
  ValueId unflattened(const Selection& selection, const Op& like);
  /// All elements, with the value in place of those that were not selected.
  ValueId filled(const Selection& selection, double value, const Op& like);
  /// The selected elements themselves, as many as there were while tracing. The operation fails
  /// where there are more or fewer.
  ValueId taken(const Selection& selection, const TensorType& type, const Op& like);
  /// A constant without dimensions.
  ValueId scalar(DType dtype, double value);
  ValueId integers(std::vector<std::int64_t> values, Shape shape);

 private:
  Shape with_mask_as(const Selection& selection, const Shape& mask) const;

  Graph& graph_;
  std::vector<Op> made_;
  std::map<ValueId, Selection> found_;
  std::set<ValueId> unknown_;
};

/// The tensor that an argument is; kNoValue if it is something else.
ValueId tensor_in(const Argument& argument);

bool is_float(DType dtype);

/// The signature of one of PyTorch's operators with one result.
std::shared_ptr<const Signature> signature_of(const char* name, const char* overload,
                                              std::vector<Signature::Parameter> parameters);
const std::shared_ptr<const Signature>& where_signature();
const std::shared_ptr<const Signature>& add_signature();
const std::shared_ptr<const Signature>& index_select_signature();

}  // namespace leapp::ir
