#include "ir/one_hot.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace leapp::ir {
namespace {

const Op* producer_of(const Graph& graph, ValueId id) {
  if (id == kNoValue || graph.value(id).kind != ValueKind::kResult) return nullptr;
  const std::int32_t op = graph.value(id).index;
  return op < 0 ? nullptr
                : &graph.ops().at(static_cast<std::size_t>(op));  // < 0: not in the map yet
}

bool is_cast(const Op& op) {
  return op.signature->name == "aten::_to_copy" || op.signature->name == "aten::to";
}

ValueId first(const Op& op) {
  return op.arguments.empty() ? kNoValue : tensor_in(op.arguments[0]);
}

std::optional<double> number(const Argument& argument) {
  if (const auto* real = std::get_if<double>(&argument)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&argument)) return static_cast<double>(*whole);
  if (const auto* flag = std::get_if<bool>(&argument)) return *flag ? 1.0 : 0.0;
  return std::nullopt;
}

// Returns whether the comparison is true for 1 and false for 0.
bool tells_one_from_zero(const Op& op) {
  const std::string name = op.signature->qualified_name();
  const auto limit = op.has("other") ? number(op.argument("other")) : std::nullopt;
  if (!limit) return false;
  if (name == "aten::gt.Scalar") return *limit >= 0 && *limit < 1;
  if (name == "aten::ge.Scalar") return *limit > 0 && *limit <= 1;
  if (name == "aten::eq.Scalar") return *limit == 1;
  return name == "aten::ne.Scalar" && *limit == 0;
}

bool is_zero(const Graph& graph, ValueId id) {
  if (id == kNoValue || !graph.is_constant(id)) return false;
  const Blob& blob = graph.blob(id);
  return std::all_of(blob.data.get(), blob.data.get() + blob.byte_size(),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

// one_hot() in decomposed form: ones at index[.., None], otherwise zeros.
ValueId scattered_index(const Graph& graph, const Op& op) {
  if (op.signature->qualified_name() != "aten::scatter.value") return kNoValue;
  const auto* dim = std::get_if<std::int64_t>(&op.argument("dim"));
  const ValueId index = tensor_in(op.argument("index"));
  const auto rank = static_cast<std::int64_t>(graph.type(op.result()).shape.size());
  const bool along_last = dim != nullptr && (*dim == -1 || *dim == rank - 1);
  if (!along_last || index == kNoValue) return kNoValue;
  if (number(op.argument("value")) != 1.0 || !is_zero(graph, first(op))) return kNoValue;
  Shape each = graph.type(op.result()).shape;
  each.back() = 1;
  return graph.type(index).shape == each ? index : kNoValue;
}

// The index in `mask = one_hot(index) > 0.5` or a similar comparison; kNoValue if it is not such a
// mask.
ValueId one_hot_index(const Graph& graph, ValueId mask) {
  const Op* op = producer_of(graph, mask);
  if (op == nullptr || graph.type(mask).dtype != DType::kBool) return kNoValue;
  if (!is_cast(*op) && !tells_one_from_zero(*op)) return kNoValue;
  for (op = producer_of(graph, first(*op)); op != nullptr && is_cast(*op);) {
    op = producer_of(graph, first(*op));
  }
  if (op == nullptr) return kNoValue;
  return op->signature->name == "aten::one_hot" ? first(*op) : scattered_index(graph, *op);
}

}  // namespace

bool replace_one_hot(Selections& selections, const Op& op) {
  if (op.signature->qualified_name() != "aten::index.Tensor") return false;
  const auto [mask, leading] = selections.masked_index(op);
  const ValueId self = tensor_in(op.argument("self"));
  if (mask == kNoValue || !selections.is_plain(self)) return false;
  const ValueId index = one_hot_index(selections.graph(), mask);
  if (index == kNoValue || !selections.is_plain(index)) return false;
  const std::int64_t choices = selections.shape_of(mask).back();
  const std::int64_t count = element_count(selections.shape_of(index));
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i < count; ++i) starts.push_back(i * choices);
  const ValueId start = selections.integers(std::move(starts), {count});
  const ValueId where = selections.append(
      add_signature(),
      {ValueRef{selections.reshaped(index, {count}, op)}, ValueRef{start}, std::int64_t{1}},
      {DType::kInt64, {count}, selections.graph().type(index).device}, op);
  const ValueId full = selections.flattened({mask, self, leading}, op);
  selections.replace(op, index_select_signature(),
                     {ValueRef{full}, static_cast<std::int64_t>(leading), ValueRef{where}});
  return true;
}

}  // namespace leapp::ir
