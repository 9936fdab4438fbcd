// Triangles and diagonals of matrices.
#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Returns a constant mask over the last two dimensions that marks the triangle, by column - row.
Value triangle(Builder& builder, std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
               bool lower) {
  Dims bits;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::int64_t offset = column - row;
      bits.push_back(lower ? offset <= diagonal : offset >= diagonal);
    }
  }
  return cast(int_tensor(builder, bits, {rows, columns}), DType::kBool);
}

auto keep_triangle(bool lower) {
  return [lower](OpContext& context) -> Value {
    const Value x = context.tensor("self");
    const Value mask =
        triangle(context.builder(), x.size(-2), x.size(-1), context.integer("diagonal"), lower);
    return where(mask, x, 0.0);
  };
}

Value convert_trace(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  Dims positions;
  for (std::int64_t i = 0; i < std::min(x.size(0), x.size(1)); ++i) {
    positions.push_back(i * x.size(1) + i);
  }
  return sum(gather(reshape(x, {x.count()}), int_vector(context.builder(), positions), 0), {0});
}

Value convert_diag_embed(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t rank = x.rank() + 1;
  const std::int64_t a = wrap_dim(context.integer("dim1"), rank);
  const std::int64_t b = wrap_dim(context.integer("dim2"), rank);
  const std::int64_t offset = context.integer("offset");
  const std::int64_t length = x.size(-1);
  const std::int64_t size = length + std::abs(offset);
  // Position 0 of the padded vector is zero, the value of all elements outside the diagonal.
  Dims before(x.shape().size(), 0);
  const Dims after(x.shape().size(), 0);
  before.back() = 1;
  const Value padded = pad_constant(x, before, after, 0);
  Dims from(static_cast<std::size_t>(size * size), 0);
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t row = offset < 0 ? i - offset : i;
    const std::int64_t column = offset > 0 ? i + offset : i;
    from[static_cast<std::size_t>(row * size + column)] = i + 1;
  }
  const Value matrices = gather(padded, int_tensor(context.builder(), from, {size, size}), -1);
  // The two new dimensions move to their positions, the others keep their order.
  Dims order(static_cast<std::size_t>(rank), -1);
  order[static_cast<std::size_t>(a)] = rank - 2;
  order[static_cast<std::size_t>(b)] = rank - 1;
  std::int64_t next = 0;
  for (std::int64_t& dim : order) {
    if (dim < 0) dim = next++;
  }
  return permute(matrices, order);
}

Value convert_block_diag(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Shape& shape = context.result_shape();
  std::vector<Value> rows;
  std::int64_t column = 0;
  for (const Value& given : context.tensors("tensors")) {
    const Value block = cast(with_rank(given, 2), dtype);
    rows.push_back(pad_constant(block, {0, column}, {0, shape[1] - column - block.size(1)}, 0));
    column += block.size(1);
  }
  return concat(rows, 0);
}

}  // namespace

void register_diagonal(ConverterRegistry& registry) {
  registry.add("aten::tril", keep_triangle(true));
  registry.add("aten::triu", keep_triangle(false));
  registry.add("aten::trace", convert_trace);
  registry.add("aten::diag_embed", convert_diag_embed);
  registry.add("aten::block_diag", convert_block_diag);
}

}  // namespace leapp::onnx_export
