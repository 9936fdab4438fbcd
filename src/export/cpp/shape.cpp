// Operators that move elements without changing them.
#include <algorithm>
#include <numeric>

#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

using Ints = std::vector<std::int64_t>;

Value generate_reshape(OpContext& context) {
  return context.program().reshaped(context.tensor("self"), context.result_shape());
}

Value generate_expand(OpContext& context) {
  return expanded(context.program().cheap(context.tensor("self")), context.result_shape());
}

Value generate_permute(OpContext& context) {
  const Value x = context.tensor("self");
  return permuted(x, context.dims("dims", x.rank()));
}

Value generate_transpose(OpContext& context, const char* a, const char* b) {
  const Value x = context.tensor("self");
  if (x.rank() == 0) return x;
  return transposed(x, context.dim(a, x.rank()), context.dim(b, x.rank()));
}

Value generate_t(OpContext& context) {
  const Value x = context.tensor("self");
  return x.rank() < 2 ? x : transposed(x, 0, 1);
}

Value generate_slice(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = context.dim("dim", x.rank());
  const std::int64_t size = x.shape[at(dim)];
  std::int64_t begin = context.integer("start", 0);
  if (begin < 0) begin += size;
  begin = std::clamp<std::int64_t>(begin, 0, size);
  return sliced(x, dim, begin, context.result_shape()[at(dim)], context.integer("step", 1));
}

Value generate_select(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = context.dim("dim", x.rank());
  const std::int64_t place = context.integer("index");
  return selected(x, dim, place < 0 ? place + x.shape[at(dim)] : place);
}

Value generate_flip(OpContext& context) {
  Value x = context.tensor("self");
  for (std::int64_t dim : context.ints("dims")) {
    if (x.rank() == 0) continue;
    dim += dim < 0 ? x.rank() : 0;
    const std::int64_t size = x.shape[at(dim)];
    x = sliced(x, dim, size - 1, size, -1);
  }
  return x;
}

Value generate_diagonal(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t first = context.dim("dim1", x.rank());
  const std::int64_t second = context.dim("dim2", x.rank());
  const std::int64_t offset = context.integer("offset", 0);
  const std::int64_t down = std::max<std::int64_t>(-offset, 0);
  const std::int64_t right = std::max<std::int64_t>(offset, 0);
  const auto low = at(std::min(first, second));
  const auto high = at(std::max(first, second));
  return view(
      x, context.result_shape(),
      [=](Indices index) {
        const Index along = index.back();
        index.pop_back();
        const Index of_first = along.plus(down);
        const Index of_second = along.plus(right);
        index.insert(index.begin() + static_cast<std::ptrdiff_t>(low),
                     first < second ? of_first : of_second);
        index.insert(index.begin() + static_cast<std::ptrdiff_t>(high),
                     first < second ? of_second : of_first);
        return index;
      },
      [=](Shape strides) {
        const std::int64_t both = strides[low] + strides[high];
        strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(high));
        strides.erase(strides.begin() + static_cast<std::ptrdiff_t>(low));
        strides.push_back(both);
        return strides;
      });
}

// Blocks along a dimension; each is the value at its own offset.
struct Block {
  Value value;
  std::int64_t begin;
};

Value joined(Program& program, const std::vector<Block>& blocks, std::int64_t dim,
             const Shape& shape, DType dtype) {
  // Written one after the other, because a selection for every element would cost more than the
  // memory.
  const BufferId to = program.add_scratch(dtype, shape);
  const Value whole = program.read(to);
  for (const Block& block : blocks) {
    const Value source = cast(block.value, dtype);
    if (source.count() == 0) continue;
    const Value target = sliced(whole, dim, block.begin, source.shape[at(dim)]);
    program.write(source, target);
  }
  return program.read(to);
}

Value generate_cat(OpContext& context) {
  std::vector<Block> blocks;
  const Shape& shape = context.result_shape();
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t dim = context.dim("dim", rank);
  std::int64_t begin = 0;
  for (const Value& value : context.tensors("tensors")) {
    if (value.rank() != rank) continue;  // PyTorch allows tensors of shape [0] between others
    blocks.push_back({value, begin});
    begin += value.shape[at(dim)];
  }
  return joined(context.program(), blocks, dim, shape, context.result_dtype());
}

Value generate_stack(OpContext& context) {
  std::vector<Block> blocks;
  const Shape& shape = context.result_shape();
  const std::int64_t dim = context.dim("dim", static_cast<std::int64_t>(shape.size()));
  std::int64_t begin = 0;
  for (const Value& value : context.tensors("tensors")) {
    blocks.push_back({unsqueezed(value, dim), begin++});
  }
  return joined(context.program(), blocks, dim, shape, context.result_dtype());
}

void generate_split(OpContext& context) {
  const Value x = context.program().cheap(context.tensor("self"));
  const std::int64_t dim = context.dim("dim", x.rank());
  std::vector<Value> parts;
  std::int64_t begin = 0;
  for (const ir::ValueId id : context.op().results[0].values) {
    const std::int64_t size = context.graph().type(id).shape[at(dim)];
    parts.push_back(sliced(x, dim, begin, size));
    begin += size;
  }
  context.set_list(0, std::move(parts));
}

void generate_unbind(OpContext& context) {
  const Value x = context.program().cheap(context.tensor("self"));
  const std::int64_t dim = context.dim("dim", x.rank());
  std::vector<Value> parts;
  for (std::int64_t i = 0; i < x.shape[at(dim)]; ++i) parts.push_back(selected(x, dim, i));
  context.set_list(0, std::move(parts));
}

// Repeats every dimension; new dimensions are in front.
Value generate_repeat(OpContext& context) {
  const Value x = context.program().cheap(context.tensor("self"));
  const Shape& shape = context.result_shape();
  const std::size_t shift = shape.size() - x.shape.size();
  const Shape from = x.shape;
  return view(x, shape, [from, shift, shape](const Indices& index) {
    Indices own;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const Index& place = index[i + shift];
      const bool whole = shape[i + shift] == from[i] || place.is_number();
      own.push_back(whole ? place
                          : Index::of("(" + place.atom() + " % " + std::to_string(from[i]) + ")"));
    }
    return own;
  });
}

Value generate_roll(OpContext& context) {
  const Value given = context.program().cheap(context.tensor("self"));
  const Ints shifts = context.ints("shifts");
  const Ints dims = context.ints("dims");
  if (dims.empty() && !shifts.empty()) {
    const Value flat = context.program().reshaped(given, {given.count()});
    const std::int64_t size = std::max<std::int64_t>(flat.count(), 1);
    const std::int64_t shift = ((-shifts[0]) % size + size) % size;
    const Value moved = view(flat, flat.shape, [size, shift](const Indices& index) {
      return Indices{
          Index::of("((" + index[0].plus(shift).text() + ") % " + std::to_string(size) + ")")};
    });
    return context.program().reshaped(moved, given.shape);
  }
  Value x = given;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto dim = at(dims[i] < 0 ? dims[i] + x.rank() : dims[i]);
    const std::int64_t size = std::max<std::int64_t>(x.shape[dim], 1);
    const std::int64_t shift = ((-shifts[i]) % size + size) % size;
    if (shift == 0) continue;
    x = view(x, x.shape, [dim, size, shift](Indices index) {
      index[dim] =
          Index::of("((" + index[dim].plus(shift).text() + ") % " + std::to_string(size) + ")");
      return index;
    });
  }
  return x;
}

Value generate_unfold(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = context.dim("dimension", x.rank());
  const std::int64_t step = context.integer("step");
  if (x.rank() == 0) return expanded(x, context.result_shape());
  return view(
      context.program().cheap(x), context.result_shape(),
      [dim, step](Indices index) {
        const Index inside = index.back();
        index.pop_back();
        index[at(dim)] = index[at(dim)].times(step).plus(inside);
        return index;
      },
      [dim, step](Shape strides) {
        strides.push_back(strides[at(dim)]);
        strides[at(dim)] *= step;
        return strides;
      });
}

// Keeps elements above or below a diagonal of the last two dimensions; others are zero.
Value generate_triangle(OpContext& context, bool upper) {
  const Value x = context.tensor("self");
  const std::int64_t diagonal = context.integer("diagonal", 0);
  return guarded(
      x, x.shape, [](const Indices& index) { return index; },
      [diagonal, upper](const Indices& index) {
        const Index& row = index[index.size() - 2];
        return index.back().text() + (upper ? " >= " : " <= ") + row.plus(diagonal).text();
      },
      filled(std::int64_t{0}, x.dtype));
}

Value generate_diag_embed(OpContext& context) {
  const Value x = context.program().cheap(context.tensor("self"));
  const Shape& shape = context.result_shape();
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t first = context.dim("dim1", rank);
  const std::int64_t second = context.dim("dim2", rank);
  const std::int64_t offset = context.integer("offset", 0);
  const std::int64_t down = std::max<std::int64_t>(-offset, 0);
  return guarded(
      x, shape,
      [=](const Indices& index) {
        Indices own;
        for (std::int64_t i = 0; i < rank; ++i) {
          if (i != first && i != second) own.push_back(index[at(i)]);
        }
        own.push_back(index[at(first)].plus(-down));
        return own;
      },
      [=](const Indices& index) {
        const Index along = index[at(first)].plus(-down);
        return index[at(second)].text() + " == " + index[at(first)].plus(offset).text() +
               (down > 0 ? " && " + along.text() + " >= 0" : "");
      },
      filled(std::int64_t{0}, x.dtype));
}

// Exchanges channels and pixels of an image: reshape, permute, reshape.
Value shuffled(OpContext& context, const Shape& parts, const Ints& order) {
  Program& program = context.program();
  const Value split = program.reshaped(context.tensor("self"), parts);
  return program.reshaped(permuted(split, order), context.result_shape());
}

Value generate_pixel_shuffle(OpContext& context, bool back) {
  const Shape shape = context.graph().type(context.value_of("self")).shape;
  const std::int64_t factor = context.integer(back ? "downscale_factor" : "upscale_factor");
  const std::int64_t rows = shape[shape.size() - 2];
  const std::int64_t columns = shape.back();
  const std::int64_t channels = shape[shape.size() - 3];
  const std::int64_t batch = element_count({shape.begin(), shape.end() - 3});
  if (back) {
    return shuffled(context, {batch, channels, rows / factor, factor, columns / factor, factor},
                    {0, 1, 3, 5, 2, 4});
  }
  return shuffled(context, {batch, channels / (factor * factor), factor, factor, rows, columns},
                  {0, 1, 4, 2, 5, 3});
}

Value generate_channel_shuffle(OpContext& context) {
  const Shape& shape = context.result_shape();
  const std::int64_t groups = context.integer("groups");
  const std::int64_t rest = element_count({shape.begin() + 2, shape.end()});
  return shuffled(context, {shape[0], groups, shape[1] / groups, rest}, {0, 2, 1, 3});
}

Value generate_rot90(OpContext& context) {
  Value x = context.tensor("self");
  const Ints dims = context.dims("dims", x.rank());
  const auto flipped = [&](const Value& value, std::int64_t dim) {
    const std::int64_t size = value.shape[at(dim)];
    return sliced(value, dim, size - 1, size, -1);
  };
  const std::int64_t turns = ((context.integer("k") % 4) + 4) % 4;
  if (turns == 1) return transposed(flipped(x, dims[1]), dims[0], dims[1]);
  if (turns == 2) return flipped(flipped(x, dims[0]), dims[1]);
  return turns == 3 ? flipped(transposed(x, dims[0], dims[1]), dims[1]) : x;
}

Value generate_block_diag(OpContext& context) {
  Program& program = context.program();
  const BufferId to = program.add_scratch(context.result_dtype(), context.result_shape());
  program.store(filled(std::int64_t{0}, context.result_dtype(), context.result_shape()), to);
  std::int64_t row = 0;
  std::int64_t column = 0;
  for (Value block : context.tensors("tensors")) {
    while (block.rank() < 2) block = unsqueezed(block, 0);
    const Value part =
        sliced(sliced(program.read(to), 0, row, block.shape[0]), 1, column, block.shape[1]);
    program.write(cast(block, context.result_dtype()), part);
    row += block.shape[0];
    column += block.shape[1];
  }
  return program.read(to);
}

Value generate_repeat_interleave(OpContext& context) {
  Value x = context.program().cheap(context.tensor("self"));
  const std::int64_t repeats = context.integer("repeats");
  if (context.is_none("dim")) x = context.program().reshaped(x, {x.count()});
  const auto dim = at(context.is_none("dim") ? 0 : context.dim("dim", x.rank()));
  return view(x, context.result_shape(), [dim, repeats](Indices index) {
    if (!index[dim].is_number()) {
      index[dim] = Index::of("(" + index[dim].atom() + " / " + std::to_string(repeats) + ")");
    }
    return index;
  });
}

}  // namespace

void register_shape(GeneratorRegistry& registry) {
  registry.add({"aten::view", "aten::reshape", "aten::_unsafe_view", "aten::view_copy",
                "aten::_reshape_alias", "aten::unsqueeze", "aten::squeeze", "aten::squeeze.dim",
                "aten::squeeze.dims", "aten::unsqueeze_copy", "aten::squeeze_copy",
                "aten::squeeze_copy.dim", "aten::squeeze_copy.dims"},
               generate_reshape);
  registry.add({"aten::expand", "aten::expand_copy", "aten::broadcast_to", "aten::expand_as"},
               generate_expand);
  registry.add({"aten::permute", "aten::permute_copy"}, generate_permute);
  registry.add({"aten::transpose.int", "aten::transpose_copy.int"},
               [](OpContext& context) { return generate_transpose(context, "dim0", "dim1"); });
  registry.add({"aten::t", "aten::t_copy"}, generate_t);
  registry.add({"aten::slice.Tensor", "aten::slice_copy.Tensor"}, generate_slice);
  registry.add({"aten::select.int", "aten::select_copy.int"}, generate_select);
  registry.add({"aten::flip"}, generate_flip);
  registry.add({"aten::diagonal", "aten::diagonal_copy"}, generate_diagonal);
  registry.add({"aten::cat"}, generate_cat);
  registry.add({"aten::stack"}, generate_stack);
  registry.add(
      {"aten::split.Tensor", "aten::split_with_sizes", "aten::split_with_sizes_copy",
       "aten::split_copy.Tensor", "aten::unsafe_split.Tensor", "aten::unsafe_split_with_sizes"},
      generate_split);
  registry.add({"aten::unbind.int", "aten::unbind_copy.int"}, generate_unbind);
  registry.add({"aten::repeat"}, generate_repeat);
  registry.add({"aten::roll"}, generate_roll);
  registry.add({"aten::unfold", "aten::unfold_copy"}, generate_unfold);
  registry.add({"aten::tril"},
               [](OpContext& context) { return generate_triangle(context, false); });
  registry.add({"aten::triu"}, [](OpContext& context) { return generate_triangle(context, true); });
  registry.add({"aten::diag_embed"}, generate_diag_embed);
  registry.add({"aten::pixel_shuffle"},
               [](OpContext& context) { return generate_pixel_shuffle(context, false); });
  registry.add({"aten::pixel_unshuffle"},
               [](OpContext& context) { return generate_pixel_shuffle(context, true); });
  registry.add({"aten::channel_shuffle", "aten::native_channel_shuffle"}, generate_channel_shuffle);
  registry.add({"aten::rot90"}, generate_rot90);
  registry.add({"aten::block_diag"}, generate_block_diag);
  registry.add({"aten::repeat_interleave.self_int"}, generate_repeat_interleave);
}

}  // namespace leapp::cpp_export
