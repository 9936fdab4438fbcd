// Reading elements by index.
#include "export/onnx/indexing.h"

#include <algorithm>

#include "export/onnx/blob.h"
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

bool is_mask(Value index) {
  return index.dtype() == DType::kBool || index.dtype() == DType::kUInt8;
}

/// Returns the positions a constant mask selects, one index per dimension it covers.
std::vector<Value> positions_of(OpContext& context, Value mask) {
  const auto bits = constant_ints(mask);
  context.need(bits.has_value(),
               "it selects by a computed mask, so the size of its result is known only at run "
               "time, and later operators need that size",
               "Use torch.where(mask, x, other), which keeps the shape.");
  std::vector<Dims> positions(mask.shape().size());
  for (std::size_t i = 0; i < bits->size(); ++i) {
    if ((*bits)[i] == 0) continue;
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = positions.size(); d-- > 0;) {
      positions[d].push_back(rest % mask.shape()[d]);
      rest /= mask.shape()[d];
    }
  }
  std::vector<Value> found;
  for (const Dims& along : positions) found.push_back(int_vector(context.builder(), along));
  return found;
}

std::vector<Value> without_masks(OpContext& context, const std::vector<Value>& indices) {
  std::vector<Value> plain;
  for (const Value& index : indices) {
    if (!index.defined() || !is_mask(index)) {
      plain.push_back(index);
      continue;
    }
    for (const Value& along : positions_of(context, index)) plain.push_back(along);
  }
  return plain;
}

Value convert_index(OpContext& context) {
  const Value x = context.tensor("self");
  const Indexed found = resolve_index(context, x, context.tensors("indices"));
  return reshape(gather(found.base, found.index, found.dim), context.result_shape());
}

Value convert_index_select(OpContext& context) {
  const Value x = context.tensor("self");
  const Value index = context.tensor("index");
  if (x.rank() == 0) return x;
  const Value list = reshape(index, {index.count()});
  return gather(x, cast(list, DType::kInt64), context.integer("dim"));
}

Value convert_gather(OpContext& context) {
  const Value x = context.tensor("self");
  const Value index = cast(context.tensor("index"), DType::kInt64);
  if (index.count() == 0) return full(context.builder(), context.result_type(), 0);
  if (x.rank() == 0) return expand(x, index.shape());
  if (index.rank() == 0) {
    return reshape(gather_elements(x, reshape(index, {1}), 0), {});
  }
  return gather_elements(x, index, context.integer("dim"));
}

Value convert_take(OpContext& context) {
  const Value x = context.tensor("self");
  return gather(reshape(x, {x.count()}), cast(context.tensor("index"), DType::kInt64), 0);
}

Value convert_embedding(OpContext& context) {
  const Value index = context.tensor("indices");
  return gather(context.tensor("weight"),
                index.dtype() == DType::kInt32 ? index : cast(index, DType::kInt64), 0);
}

Value convert_masked_index(OpContext& context) {
  const Value x = context.tensor("self");
  const Indexed found = resolve_index(context, x, held_inside(x, context.tensors("indices")));
  const Value taken = reshape(gather(found.base, found.index, found.dim), context.result_shape());
  return where(context.tensor("mask"), taken, context.scalar_argument("fill", x.dtype()));
}

Value convert_masked_select(OpContext& context) {
  const Value x = context.tensor("self");
  const Value mask = context.tensor("mask");
  const Shape shape = broadcast(x.shape(), mask.shape());
  const std::vector<Value> positions =
      positions_of(context, reshape(expand(mask, shape), {element_count(shape)}));
  return gather(reshape(expand(x, shape), {element_count(shape)}), positions[0], 0);
}

/// Counts of each number, or sums of weights, below the size of `minlength`.
Value convert_bincount(OpContext& context) {
  const Value x = context.tensor("self");
  const Type type = context.result_type();
  const std::int64_t bins = type.shape.at(0);
  context.need(
      context.integer("minlength") >= bins,
      "the number of its bins is the largest value plus one, which is known only at run time",
      "Use torch.bincount(x, minlength=n) with an n above all values, or "
      "torch.zeros(n).scatter_add(0, x, torch.ones_like(x)).");
  if (x.count() == 0 || bins == 0) return full(context.builder(), type, 0);
  const Value index = cast(x, DType::kInt64);
  const Value weights = context.optional_tensor("weights");
  const Value ones = weights.defined() ? cast(weights, type.dtype)
                                       : full(context.builder(), {type.dtype, index.shape()}, 1);
  // Negative numbers are refused, as in PyTorch; they do not count from the end.
  const Value held = where(index < 0.0, scalar_like(index, static_cast<double>(bins)), index);
  return scatter_elements(full(context.builder(), type, 0), held, ones, 0, "add");
}

/// Returns the first `size` positions that are not zero; the rest is filled.
Value convert_nonzero_static(OpContext& context) {
  const Value x = context.tensor("self");
  Builder& builder = context.builder();
  const std::int64_t size = context.integer("size");
  if (size == 0 || x.rank() == 0) return full(builder, context.result_type(), 0);
  const auto fill = static_cast<double>(context.integer("fill_value"));
  const Value flat = cast(cast(reshape(x, {x.count()}), DType::kBool), DType::kInt32);
  const std::int64_t kept = std::min(size, x.count());
  const Dims count = {kept};
  const Value inputs[] = {flat, int_vector(builder, count)};
  // Equal elements keep their order, so the ones are in order in front of the zeros.
  const std::vector<Value> found =
      builder.emit_many("TopK", inputs, {{"axis", std::int64_t{0}}},
                        {{DType::kInt32, count}, {DType::kInt64, count}});
  std::vector<Value> columns;
  Value rest = found[1];
  for (std::int64_t d = x.rank() - 1; d >= 0; --d) {
    const Value along = scalar_like(rest, static_cast<double>(x.size(d)));
    columns.insert(columns.begin(), unsqueeze(floor_mod(rest, along), 1));
    rest = rest / along;
  }
  const Value places = where(unsqueeze(equal(found[0], 1.0), 1), concat(columns, 1), fill);
  return pad_constant(places, {0, 0}, {size - kept, 0}, fill);
}

void refuse_size(OpContext& context) {
  context.fail(
      "the size of its result depends on the values, and ONNX models here have fixed shapes",
      "Keep the shape, for example with torch.where(condition, x, other).");
}

/// Positions whose number is always the traced one: the model fails for any other number.
Value convert_nonzero(OpContext& context) {
  if (!context.op().fixed_size) refuse_size(context);
  const Value x = context.tensor("self");
  const Shape shape = context.result_shape();
  const Value inputs[] = {x};
  const Value found =
      context.builder().emit("NonZero", inputs, {}, {DType::kInt64, {x.rank(), shape[0]}});
  return reshape(x.rank() == 1 ? found : permute(found, {1, 0}), shape);
}

}  // namespace

Value positive_index(Value index, std::int64_t size) {
  index = cast(index, DType::kInt64);
  if (const auto values = constant_ints(index)) {
    Dims wrapped = *values;
    for (std::int64_t& value : wrapped) value += value < 0 ? size : 0;
    return int_tensor(index.builder(), wrapped, index.shape());
  }
  return where(index < 0.0, index + static_cast<double>(size), index);
}

std::vector<Value> held_inside(Value x, const std::vector<Value>& indices) {
  std::vector<Value> held;
  for (std::size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d].defined()) {
      held.push_back(indices[d]);
      continue;
    }
    const Value index = cast(indices[d], DType::kInt64);
    const auto size = static_cast<double>(x.size(static_cast<std::int64_t>(d)));
    held.push_back(
        minimum(maximum(index, scalar_like(index, -size)), scalar_like(index, size - 1.0)));
  }
  return held;
}

Indexed resolve_index(OpContext& context, Value x, const std::vector<Value>& indices) {
  const std::vector<Value> plain = without_masks(context, indices);
  Dims indexed;
  for (std::size_t d = 0; d < plain.size(); ++d) {
    if (plain[d].defined()) indexed.push_back(static_cast<std::int64_t>(d));
  }
  context.need(!indexed.empty(), "it has no index");
  Indexed found;
  // Adjacent indices leave their dimension in place; otherwise it moves to the front.
  const bool adjacent =
      indexed.back() - indexed.front() + 1 == static_cast<std::int64_t>(indexed.size());
  Value moved = x;
  if (!adjacent) {
    found.order = indexed;
    for (std::int64_t d = 0; d < x.rank(); ++d) {
      if (std::find(indexed.begin(), indexed.end(), d) == indexed.end()) found.order.push_back(d);
    }
    moved = permute(x, found.order);
  }
  found.dim = adjacent ? indexed.front() : 0;
  found.moved_shape = moved.shape();
  if (indexed.size() == 1) {  // Gather itself counts negative indices from the end
    found.base = moved;
    found.index = cast(plain[static_cast<std::size_t>(indexed[0])], DType::kInt64);
    return found;
  }
  std::int64_t merged = 1;
  for (std::size_t i = indexed.size(); i-- > 0;) {
    const std::int64_t size = x.size(indexed[i]);
    const Value along = positive_index(plain[static_cast<std::size_t>(indexed[i])], size) *
                        static_cast<double>(merged);
    found.index = found.index.defined() ? found.index + along : along;
    merged *= size;
  }
  Shape shape(moved.shape().begin(), moved.shape().begin() + found.dim);
  shape.push_back(merged);
  shape.insert(shape.end(),
               moved.shape().begin() + found.dim + static_cast<std::int64_t>(indexed.size()),
               moved.shape().end());
  found.base = reshape(moved, shape);
  return found;
}

void register_indexing(ConverterRegistry& registry) {
  registry.add({"aten::index.Tensor", "aten::_unsafe_index.Tensor"}, convert_index);
  registry.add("aten::index_select", convert_index_select);
  registry.add("aten::gather", convert_gather);
  registry.add("aten::take", convert_take);
  registry.add("aten::embedding", convert_embedding);
  registry.add("aten::_unsafe_masked_index", convert_masked_index);
  registry.add("aten::masked_select", convert_masked_select);
  registry.add("aten::nonzero_static", convert_nonzero_static);
  registry.add("aten::bincount", convert_bincount);
  registry.add("aten::nonzero", convert_nonzero);
  registry.add({"aten::_unique2", "aten::unique_dim", "aten::unique_consecutive",
                "aten::unique_dim_consecutive", "aten::repeat_interleave.Tensor", "aten::argwhere"},
               refuse_size);
}

}  // namespace leapp::onnx_export
