// Resizing images: the positions that each result element reads are known at export time.
#include <algorithm>
#include <cmath>
#include <memory>

#include "export/cpp/pointwise.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// The distance in x between neighbouring elements of the result.
double step_of(OpContext& context, std::size_t i, std::int64_t from, std::int64_t to) {
  if (context.has("align_corners") && context.flag("align_corners")) {
    return to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0;
  }
  static constexpr const char* kNames[] = {"scales_d", "scales_h", "scales_w"};
  double scale = 0;
  const std::vector<double> factors = context.numbers("scale_factors");
  if (i < factors.size()) scale = factors[i];
  const std::size_t count = context.result_shape().size() - 2;
  if (count == 1 && context.has("scales")) scale = context.number("scales", 0);
  const char* name = kNames[3 - count + i];
  if (context.has(name)) scale = context.number(name, 0);
  if (scale > 0) return 1 / scale;
  return static_cast<double>(from) / static_cast<double>(to);
}

// A constant for each index of a dimension, stored as a weight.
template <typename T>
Value table(Program& program, DType dtype, const std::vector<T>& numbers) {
  const std::shared_ptr<T[]> memory(new T[numbers.size()]);
  std::copy(numbers.begin(), numbers.end(), memory.get());
  ir::Blob blob;
  blob.data = {memory, reinterpret_cast<const std::byte*>(memory.get())};
  blob.type = {dtype, {static_cast<std::int64_t>(numbers.size())}};
  return program.read(program.add_weight(blob, "places"));
}

// x with the indices of one dimension taken from a table.
Value chosen(const Value& x, std::size_t dim, const Value& places) {
  Shape shape = x.shape;
  shape[dim] = places.count();
  return view(x, shape, [dim, places](Indices index) {
    index[dim] = Index::of(places.at({index[dim]}));
    return index;
  });
}

Value generate_nearest(OpContext& context, bool exact) {
  Program& program = context.program();
  Value x = program.cheap(context.tensor(context.has("self") ? "self" : "input"));
  const Shape& to = context.result_shape();
  for (std::size_t i = 0; i + 2 < to.size(); ++i) {
    const std::int64_t from = x.shape[2 + i];
    const double step = step_of(context, i, from, to[2 + i]);
    std::vector<std::int64_t> places;
    for (std::int64_t k = 0; k < to[2 + i]; ++k) {
      const double middle = exact ? 0.5 : 0;
      // In single precision, as in PyTorch.
      const float place =
          (static_cast<float>(k) + static_cast<float>(middle)) * static_cast<float>(step);
      places.push_back(std::min(static_cast<std::int64_t>(std::floor(place)), from - 1));
    }
    x = chosen(x, 2 + i, table(program, DType::kInt64, places));
  }
  x.cost = std::max(x.cost, 1);
  return x;
}

Value generate_linear_resize(OpContext& context) {
  Program& program = context.program();
  Value x = program.cheap(context.tensor(context.has("self") ? "self" : "input"));
  context.need(x.dtype == DType::kFloat32 || x.dtype == DType::kFloat64, "it resizes integers");
  const Shape& to = context.result_shape();
  const bool corners = context.flag("align_corners");
  for (std::size_t i = 0; i + 2 < to.size(); ++i) {
    const std::int64_t from = x.shape[2 + i];
    const double step = step_of(context, i, from, to[2 + i]);
    std::vector<std::int64_t> low;
    std::vector<std::int64_t> high;
    std::vector<float> part;
    for (std::int64_t k = 0; k < to[2 + i]; ++k) {
      const double given = corners ? static_cast<double>(k) * step
                                   : std::max((static_cast<double>(k) + 0.5) * step - 0.5, 0.0);
      const auto place = std::min(static_cast<std::int64_t>(given), from - 1);
      low.push_back(place);
      high.push_back(std::min(place + 1, from - 1));
      part.push_back(static_cast<float>(given - static_cast<double>(place)));
    }
    Value share = cast(table(program, DType::kFloat32, part), x.dtype);
    for (std::size_t k = 2 + i + 1; k < to.size(); ++k) share = unsqueezed(share, share.rank());
    const Value below = chosen(x, 2 + i, table(program, DType::kInt64, low));
    const Value above = chosen(x, 2 + i, table(program, DType::kInt64, high));
    x = program.stored(combine("($0 + $2 * ($1 - $0))", {below, above, share}, x.dtype));
  }
  return x;
}

}  // namespace

void register_resize(GeneratorRegistry& registry) {
  for (const char* dims : {"1d", "2d", "3d"}) {
    for (const char* overload : {"", ".vec"}) {
      registry.add("aten::upsample_nearest" + std::string(dims) + overload,
                   [](OpContext& context) { return generate_nearest(context, false); });
      registry.add("aten::_upsample_nearest_exact" + std::string(dims) + overload,
                   [](OpContext& context) { return generate_nearest(context, true); });
    }
  }
  for (const char* name : {"upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d"}) {
    for (const char* overload : {"", ".vec"}) {
      registry.add(std::string("aten::") + name + overload, generate_linear_resize);
    }
  }
}

}  // namespace leapp::cpp_export
