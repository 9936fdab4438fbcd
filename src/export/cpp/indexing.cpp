// Elements selected by values of other tensors.
#include "export/cpp/indexing.h"

#include <algorithm>

#include "export/cpp/pointwise.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {

std::function<Index(const Indices&)> place_of(OpContext& context, const Value& index,
                                              std::int64_t size, bool from_end) {
  const int error = context.program().add_error(
      context.origin() + ": an index is out of range for a dimension of size " +
      std::to_string(size));
  const std::string rest = ", " + std::to_string(size) + ", status, " + std::to_string(error) + ")";
  const std::string function = from_end ? "place(" : "place_from_front(";
  const auto text = [index, function, rest](const Indices& at) {
    return function + index.at(at) + rest;
  };
  if (size == 1) {
    // Views leave out indices along such a dimension, and with them the range check.
    Program& program = context.program();
    program.add_statement({}, program.nest(index.shape, 1, [&](const Indices& at, int depth) {
      return indented(depth) + "static_cast<void>(" + text(at) + ");\n";
    }));
    return [](const Indices&) { return Index(0); };
  }
  return [text](const Indices& at) { return Index::of(text(at)); };
}

namespace {

// Returns the operand, in memory if a dimension repeats one element, because the generated code
// would otherwise leave out indices along it, and their range check.
Value indexed(OpContext& context, const char* parameter) {
  const Value value = context.program().cheap(context.tensor(parameter));
  for (std::size_t i = 0; value.strides && i < value.shape.size(); ++i) {
    const bool repeats =
        value.shape[i] > 1 &&
        std::ranges::all_of(*value.strides, [i](const Shape& walk) { return walk[i] == 0; });
    if (repeats) return context.program().stored(value);
  }
  return value;
}

Value generate_gather(OpContext& context) {
  Program& program = context.program();
  Value x = indexed(context, "self");
  Value index = program.cheap(context.tensor("index"));
  if (x.rank() == 0) x = unsqueezed(x, 0);
  const bool scalar = index.rank() == 0;
  if (scalar) index = unsqueezed(index, 0);
  const std::int64_t dim = context.dim("dim", x.rank());
  const auto place = place_of(context, index, x.shape[at(dim)], false);
  const Value picked = view(x, index.shape, [dim, place](Indices own) {
    own[at(dim)] = place(own);
    return own;
  });
  Value result = picked;
  result.cost = std::max(1, picked.cost);
  return scalar ? squeezed(result, 0) : result;
}

// Rows of x along a dimension, by a vector of indices.
Value generate_index_select(OpContext& context) {
  Program& program = context.program();
  Value x = indexed(context, "self");
  const bool scalar = x.rank() == 0;
  if (scalar) x = unsqueezed(x, 0);
  Value index = program.cheap(context.tensor("index"));
  if (index.rank() == 0) index = unsqueezed(index, 0);
  const std::int64_t dim = context.dim("dim", x.rank());
  const auto place = place_of(context, index, x.shape[at(dim)], false);
  Shape shape = x.shape;
  shape[at(dim)] = index.count();
  Value result = view(x, shape, [dim, place](Indices own) {
    own[at(dim)] = place({own[at(dim)]});
    return own;
  });
  result.cost = std::max(1, result.cost);
  return scalar ? squeezed(result, 0) : result;
}

Value generate_embedding(OpContext& context) {
  Program& program = context.program();
  const Value table = indexed(context, "weight");
  const Value index = program.cheap(context.tensor("indices"));
  const auto place = place_of(context, index, table.shape[0], false);
  Value result = view(table, context.result_shape(), [place](Indices own) {
    const Index column = own.back();
    own.pop_back();
    return Indices{place(own), column};
  });
  result.cost = std::max(1, result.cost);
  return result;
}

Value generate_index(OpContext& context) {
  const Value x = indexed(context, "self");
  const IndexedPlaces places = places_of(context, x.shape, "indices");
  context.need(places.shape == context.result_shape(), "it selects by a mask");
  Value result = view(x, places.shape, places.map);
  result.cost = std::max(1, result.cost);
  return result;
}

Value generate_take(OpContext& context) {
  Program& program = context.program();
  const Value given = context.tensor("self");
  const Value x = program.reshaped(program.stored(given), {given.count()});
  const Value index = program.cheap(context.tensor("index"));
  const auto place = place_of(context, index, x.count(), true);
  Value result = view(x, index.shape, [place](const Indices& own) { return Indices{place(own)}; });
  result.cost = std::max(1, result.cost);
  return result;
}

}  // namespace

IndexedPlaces places_of(OpContext& context, const Shape& shape, const char* parameter) {
  Program& program = context.program();
  std::vector<std::optional<Value>> indices = context.optional_tensors(parameter);
  indices.resize(shape.size());
  Shape common;
  std::vector<std::size_t> indexed;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (!indices[i]) continue;
    context.need(indices[i]->dtype != DType::kBool && indices[i]->dtype != DType::kUInt8,
                 "it selects by a mask");
    indices[i] = program.cheap(*indices[i]);
    common = broadcast_shape(common, indices[i]->shape);
    indexed.push_back(i);
  }
  // Adjacent indexed dimensions are replaced in place; otherwise the common dimensions go in front.
  const bool together = indexed.empty() || indexed.back() - indexed.front() + 1 == indexed.size();
  const std::size_t front = together && !indexed.empty() ? indexed.front() : 0;
  IndexedPlaces places;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i == front) places.shape.insert(places.shape.end(), common.begin(), common.end());
    if (!indices[i]) places.shape.push_back(shape[i]);
  }
  std::vector<std::function<Index(const Indices&)>> ways(shape.size());
  for (const std::size_t i : indexed) {
    ways[i] = place_of(context, expanded(*indices[i], common), shape[i], true);
  }
  const std::size_t rank = common.size();
  places.map = [ways, front, rank](const Indices& own) {
    const auto begin = own.begin() + static_cast<std::ptrdiff_t>(front);
    const Indices shared(begin, begin + static_cast<std::ptrdiff_t>(rank));
    Indices result;
    std::size_t next = 0;
    for (const auto& way : ways) {
      if (way) {
        result.push_back(way(shared));
        continue;
      }
      if (next == front) next += rank;
      result.push_back(own[next++]);
    }
    return result;
  };
  return places;
}

void register_indexing(GeneratorRegistry& registry) {
  registry.add({"aten::gather"}, generate_gather);
  registry.add({"aten::index_select"}, generate_index_select);
  registry.add({"aten::embedding"}, generate_embedding);
  registry.add({"aten::index.Tensor", "aten::_unsafe_index.Tensor"}, generate_index);
  registry.add({"aten::take"}, generate_take);
}

}  // namespace leapp::cpp_export
