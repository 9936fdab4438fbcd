// Views, joins and splits: operators that move elements without computing.
#include <algorithm>
#include <string>

#include "export/onnx/registry.h"

namespace leapp::onnx_export {
namespace {

/// Converts an operation whose result is `self` with the result's shape.
Value to_result_shape(OpContext& context) {
  return reshape(context.tensor("self"), context.result_shape());
}

Value expand_to_result(OpContext& context) {
  return expand(context.tensor("self"), context.result_shape());
}

Value convert_permute(OpContext& context) {
  return permute(context.tensor("self"), context.ints("dims"));
}

Value convert_transpose(OpContext& context) {
  const bool axes = context.has("axis0");
  return transpose(context.tensor("self"), context.integer(axes ? "axis0" : "dim0"),
                   context.integer(axes ? "axis1" : "dim1"));
}

/// Returns the dimensions in the order that moves each of `source` to its `destination`.
Dims moved_order(std::int64_t rank, const Dims& source, const Dims& destination) {
  Dims order(static_cast<std::size_t>(rank), -1);
  std::vector<bool> placed(static_cast<std::size_t>(rank), false);
  for (std::size_t i = 0; i < source.size(); ++i) {
    order[static_cast<std::size_t>(destination[i])] = source[i];
    placed[static_cast<std::size_t>(source[i])] = true;
  }
  std::int64_t next = 0;
  for (std::int64_t& dim : order) {
    if (dim >= 0) continue;
    while (placed[static_cast<std::size_t>(next)]) ++next;
    dim = next++;
  }
  return order;
}

Value convert_movedim(OpContext& context) {
  const Value x = context.tensor("self");
  return permute(x, moved_order(x.rank(), wrap_dims(context.ints("source"), x.rank()),
                                wrap_dims(context.ints("destination"), x.rank())));
}

Value reverse_dims(OpContext& context) {
  const Value x = context.tensor("self");
  Dims dims = all_dims(x.rank());
  std::reverse(dims.begin(), dims.end());
  return permute(x, dims);
}

Value convert_matrix_transpose(OpContext& context) {
  return transpose(context.tensor("self"), -2, -1);
}

Value convert_t(OpContext& context) {
  const Value x = context.tensor("self");
  return x.rank() < 2 ? x : transpose(x, 0, 1);
}

Value convert_select(OpContext& context) {
  return select(context.tensor("self"), context.integer("dim"), context.integer("index"));
}

Value convert_slice(OpContext& context) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  return slice(context.tensor("self"), context.integer("dim"), context.integer("start", 0),
               context.integer("end", kEnd), context.integer("step"));
}

Value convert_narrow(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = context.integer("dim");
  std::int64_t start = context.integer("start");
  if (start < 0) start += x.size(dim);
  return slice(x, dim, start, start + context.integer("length"));
}

Value convert_cat(OpContext& context) {
  const DType dtype = context.result_dtype();
  std::vector<Value> parts;
  for (const Value& part : context.tensors("tensors")) {
    // PyTorch still accepts an empty vector among tensors of any rank.
    if (part.shape() == Shape{0} && context.result_shape().size() != 1) continue;
    parts.push_back(cast(part, dtype));
  }
  if (parts.empty()) return full(context.builder(), context.result_type(), 0);
  return concat(parts, context.integer("dim"));
}

Value convert_stack(OpContext& context) {
  std::vector<Value> parts;
  for (const Value& part : context.tensors("tensors")) {
    parts.push_back(cast(part, context.result_dtype()));
  }
  return stack(parts, context.integer("dim"));
}

/// Converts by splitting each tensor into chunks along `dim`, and concatenating the chunks of all
/// tensors.
Value convert_chunk_cat(OpContext& context) {
  const std::int64_t chunks = context.integer("num_chunks");
  std::vector<Value> parts;
  for (const Value& given : context.tensors("tensors")) {
    const Value part = cast(given, context.result_dtype());
    const std::int64_t dim = wrap_dim(context.integer("dim"), part.rank());
    const std::int64_t each = (part.size(dim) + chunks - 1) / chunks;
    Dims after(part.shape().size(), 0);
    after[static_cast<std::size_t>(dim)] = each * chunks - part.size(dim);
    const Value padded = pad_constant(part, Dims(after.size(), 0), after, 0);
    Shape shape(part.shape().begin(), part.shape().begin() + dim);
    shape.push_back(chunks);
    shape.push_back(padded.count() / element_count(shape));
    parts.push_back(reshape(padded, shape));
  }
  return concat(parts, -1);
}

/// Splits along `dim` into the sizes of PyTorch's results.
void convert_split(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  Dims sizes;
  for (const ir::ValueId id : context.op().results[0].values) {
    sizes.push_back(context.value_shape(id).at(static_cast<std::size_t>(dim)));
  }
  context.set_list(0, split(x, sizes, dim));
}

void convert_unbind(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = wrap_dim(context.integer("dim"), x.rank());
  std::vector<Value> parts;
  if (x.size(dim) > 0) {
    for (const Value& part : split(x, Dims(static_cast<std::size_t>(x.size(dim)), 1), dim)) {
      parts.push_back(squeeze(part, dim));
    }
  }
  context.set_list(0, parts);
}

Value convert_flip(OpContext& context) {
  return flip(context.tensor("self"), context.ints("dims"));
}

Value roll_one(Value x, std::int64_t shift, std::int64_t dim) {
  const std::int64_t size = x.size(dim);
  if (size == 0) return x;
  const std::int64_t cut = ((-shift % size) + size) % size;
  if (cut == 0) return x;
  return concat({slice(x, dim, cut, size), slice(x, dim, 0, cut)}, dim);
}

Value convert_roll(OpContext& context) {
  Value x = context.tensor("self");
  const Dims shifts = context.ints("shifts");
  const Dims dims = context.ints("dims");
  if (dims.empty()) {
    return reshape(roll_one(reshape(x, {x.count()}), shifts.at(0), 0), x.shape());
  }
  for (std::size_t i = 0; i < dims.size(); ++i) x = roll_one(x, shifts[i], dims[i]);
  return x;
}

Value convert_repeat(OpContext& context) {
  const Dims repeats = context.ints(context.has("dims") ? "dims" : "repeats");
  const auto rank =
      static_cast<std::int64_t>(std::max(repeats.size(), context.tensor("self").shape().size()));
  const Value x = with_rank(context.tensor("self"), rank);
  Dims full_repeats(static_cast<std::size_t>(rank), 1);
  std::copy(repeats.rbegin(), repeats.rend(), full_repeats.rbegin());
  return tile(x, full_repeats);
}

Value convert_repeat_interleave(OpContext& context) {
  Value x = context.tensor("self");
  if (context.is_none("dim")) x = reshape(x, {x.count()});
  const std::int64_t dim = wrap_dim(context.integer("dim", 0), x.rank());
  const Value spread = unsqueeze(x, dim + 1);
  Shape shape = spread.shape();
  shape[static_cast<std::size_t>(dim) + 1] = context.integer("repeats");
  return reshape(expand(spread, shape), context.result_shape());
}

/// Returns the index in the flattened last two dimensions of each element of a diagonal.
Dims diagonal_positions(std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  Dims positions;
  for (std::int64_t row = std::max<std::int64_t>(0, -offset); row < rows && row + offset < columns;
       ++row) {
    positions.push_back(row * columns + row + offset);
  }
  return positions;
}

Value convert_diagonal(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t a = wrap_dim(context.integer("dim1"), x.rank());
  const std::int64_t b = wrap_dim(context.integer("dim2"), x.rank());
  Dims order;
  for (std::int64_t d = 0; d < x.rank(); ++d) {
    if (d != a && d != b) order.push_back(d);
  }
  order.push_back(a);
  order.push_back(b);
  const Value moved = permute(x, order);
  Shape flat(moved.shape().begin(), moved.shape().end() - 2);
  flat.push_back(x.size(a) * x.size(b));
  const Dims positions = diagonal_positions(x.size(a), x.size(b), context.integer("offset"));
  return gather(reshape(moved, flat), int_vector(context.builder(), positions), -1);
}

Value convert_unfold(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t size = context.integer("size");
  const std::int64_t step = context.integer("step");
  if (x.rank() == 0) return reshape(x, context.result_shape());
  const std::int64_t dim = wrap_dim(context.integer("dimension"), x.rank());
  const std::int64_t windows = (x.size(dim) - size) / step + 1;
  Dims positions;
  for (std::int64_t w = 0; w < windows; ++w) {
    for (std::int64_t i = 0; i < size; ++i) positions.push_back(w * step + i);
  }
  const Value taken = gather(x, int_tensor(context.builder(), positions, {windows, size}), dim);
  Dims order;
  for (std::int64_t d = 0; d <= x.rank(); ++d) {
    if (d != dim + 1) order.push_back(d);
  }
  order.push_back(dim + 1);
  return permute(taken, order);
}

Value convert_rot90(OpContext& context) {
  const Value x = context.tensor("self");
  const Dims dims = context.ints("dims");
  const Dims first = {dims.at(0)};
  const Dims second = {dims.at(1)};
  switch (((context.integer("k") % 4) + 4) % 4) {
    case 1:
      return transpose(flip(x, second), dims[0], dims[1]);
    case 2:
      return flip(x, dims);
    case 3:
      return transpose(flip(x, first), dims[0], dims[1]);
    default:
      return x;
  }
}

/// Returns the number of images: the product of all dimensions before the last three.
std::int64_t image_count(Value x) {
  return element_count(Shape(x.shape().begin(), x.shape().end() - 3));
}

/// Converts [.., c r^2, h, w] to [.., c, h r, w r], or back.
Value convert_pixel_shuffle(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t r = context.integer("upscale_factor");
  const Value images =
      reshape(x, {image_count(x), x.size(-3) / (r * r), r, r, x.size(-2), x.size(-1)});
  return reshape(permute(images, {0, 1, 4, 2, 5, 3}), context.result_shape());
}

Value convert_pixel_unshuffle(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t r = context.integer("downscale_factor");
  const Value images =
      reshape(x, {image_count(x), x.size(-3), x.size(-2) / r, r, x.size(-1) / r, r});
  return reshape(permute(images, {0, 1, 3, 5, 2, 4}), context.result_shape());
}

Value convert_channel_shuffle(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t groups = context.integer("groups");
  Shape split_shape = x.shape();
  split_shape[1] = groups;
  split_shape.insert(split_shape.begin() + 2, x.size(1) / groups);
  return reshape(transpose(reshape(x, split_shape), 1, 2), x.shape());
}

/// Registers a view under its own name and that of its copying variant, "aten::view_copy".
template <typename Function>
void add_view(ConverterRegistry& registry, std::initializer_list<const char*> names,
              Function function) {
  for (const std::string name : names) {
    registry.add(name, function);
    const std::size_t dot = name.find('.');
    registry.add(name.substr(0, dot) + "_copy" + (dot == std::string::npos ? "" : name.substr(dot)),
                 function);
  }
}

}  // namespace

void register_shape(ConverterRegistry& registry) {
  add_view(registry,
           {"aten::view", "aten::_reshape_alias", "aten::squeeze", "aten::squeeze.dim",
            "aten::squeeze.dims", "aten::unsqueeze", "aten::unflatten.int"},
           to_result_shape);
  registry.add({"aten::reshape", "aten::_unsafe_view", "aten::flatten.using_ints", "aten::ravel",
                "aten::view_as", "aten::reshape_as", "aten::atleast_1d", "aten::atleast_2d"},
               to_result_shape);
  add_view(registry, {"aten::expand", "aten::expand_as"}, expand_to_result);
  registry.add({"aten::broadcast_to"}, expand_to_result);
  add_view(registry, {"aten::permute"}, convert_permute);
  add_view(registry, {"aten::transpose.int"}, convert_transpose);
  registry.add({"aten::swapaxes", "aten::swapdims"}, convert_transpose);
  registry.add({"aten::movedim.int", "aten::movedim.intlist", "aten::moveaxis.int",
                "aten::moveaxis.intlist"},
               convert_movedim);
  registry.add("aten::numpy_T", reverse_dims);
  registry.add({"aten::mT", "aten::mH", "aten::adjoint", "aten::matrix_H"},
               convert_matrix_transpose);
  add_view(registry, {"aten::t"}, convert_t);
  add_view(registry, {"aten::select.int"}, convert_select);
  add_view(registry, {"aten::slice.Tensor"}, convert_slice);
  registry.add({"aten::narrow", "aten::narrow_copy"}, convert_narrow);
  registry.add("aten::rot90", convert_rot90);
  registry.add("aten::pixel_shuffle", convert_pixel_shuffle);
  registry.add("aten::pixel_unshuffle", convert_pixel_unshuffle);
  registry.add({"aten::channel_shuffle", "aten::native_channel_shuffle"}, convert_channel_shuffle);
  registry.add({"aten::cat", "aten::concat", "aten::concatenate"}, convert_cat);
  registry.add("aten::_chunk_cat", convert_chunk_cat);
  registry.add("aten::stack", convert_stack);
  add_view(registry, {"aten::split.Tensor", "aten::split_with_sizes"}, convert_split);
  registry.add({"aten::split.sizes", "aten::chunk", "aten::unsafe_chunk",
                "aten::unsafe_split.Tensor", "aten::unsafe_split_with_sizes",
                "aten::tensor_split.sections", "aten::tensor_split.indices"},
               convert_split);
  add_view(registry, {"aten::unbind.int"}, convert_unbind);
  registry.add("aten::flip", convert_flip);
  registry.add("aten::roll", convert_roll);
  registry.add({"aten::repeat", "aten::tile"}, convert_repeat);
  registry.add("aten::repeat_interleave.self_int", convert_repeat_interleave);
  add_view(registry, {"aten::diagonal"}, convert_diagonal);
  add_view(registry, {"aten::unfold"}, convert_unfold);
  add_view(registry, {"aten::alias", "aten::detach"}, to_result_shape);
  registry.add({"aten::clone", "aten::contiguous", "aten::lift_fresh", "aten::lift",
                "aten::lift_fresh_copy"},
               to_result_shape);
}

}  // namespace leapp::onnx_export
