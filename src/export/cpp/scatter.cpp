// Writes elements to positions that other tensors select.
#include <algorithm>
#include <cmath>

#include "export/cpp/indexing.h"
#include "export/cpp/pointwise.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// A copy of the operand that may be written to.
Value writable(Program& program, const Value& x) {
  const BufferId to = program.add_scratch(x.dtype, x.shape);
  program.store(x, to);
  return program.read(to);
}

// Writes source to the positions of target that `map` returns for its indices, in order. `text`
// computes the written value from the old one ($0) and the source ($1).
void put(Program& program, const Value& target, const Value& source, const Shape& shape,
         const IndexMap& map, const std::string& text) {
  if (element_count(shape) == 0) return;
  const Value wide = expanded(source, shape);
  const std::string loops = program.nest(shape, 1, [&](const Indices& index, int depth) {
    const std::string there = target.at(map(index));
    std::string line = text;
    for (const auto& [mark, with] : {std::pair{std::string("$1"), wide.at(index)},
                                     std::pair{std::string("$0"), std::string("there")}}) {
      for (std::size_t found = line.find(mark); found != std::string::npos;
           found = line.find(mark, found + with.size())) {
        line.replace(found, 2, with);
      }
    }
    return indented(depth) + "{\n" + indented(depth + 1) + "auto& there = " + there + ";\n" +
           indented(depth + 1) + "there = " + line + ";\n" + indented(depth) + "}\n";
  });
  program.add_statement(program.origins_of({source}), loops);
}

std::string reduction_text(OpContext& context, const std::string& name) {
  if (name.empty()) return "$1";
  if (name == "sum" || name == "add") return "add($0, $1)";
  if (name == "prod" || name == "multiply") return "multiply($0, $1)";
  if (name == "amax") return "maximum($0, $1)";
  if (name == "amin") return "minimum($0, $1)";
  context.fail("it reduces by '" + name + "'");
}

// Returns self with src written along a dimension to the positions in index.
Value scattered(OpContext& context, const Value& source, const std::string& text,
                std::optional<Value> begin = {}) {
  Program& program = context.program();
  Value x = begin ? *begin : context.tensor("self");
  Value index = program.cheap(context.tensor("index"));
  const bool scalar = x.rank() == 0;
  const Shape shape = x.shape;
  Value target = writable(program, x);
  if (scalar) target = unsqueezed(target, 0);
  Value from = source.cost > 0 ? program.stored(source) : source;
  if (index.rank() == 0) {
    index = unsqueezed(index, 0);
    if (from.rank() == 0) from = unsqueezed(from, 0);
  }
  const std::int64_t dim = context.dim("dim", target.rank());
  const auto place = place_of(context, index, target.shape[at(dim)], false);
  // src may be larger than index.
  if (from.rank() == index.rank() && from.count() != 1) {
    for (std::int64_t i = 0; i < from.rank(); ++i) from = sliced(from, i, 0, index.shape[at(i)]);
  }
  put(
      program, target, from, index.shape,
      [dim, place](Indices own) {
        own[at(dim)] = place(own);
        return own;
      },
      text);
  return program.reshaped(target, shape);
}

Value generate_scatter(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Value source = context.operand(context.has("src") ? "src" : "value", dtype);
  return scattered(context, source,
                   reduction_text(context, context.has("reduce") ? context.text("reduce") : ""));
}

Value generate_scatter_reduce(OpContext& context) {
  Program& program = context.program();
  const DType dtype = context.result_dtype();
  const std::string name = context.text("reduce");
  const bool mean = name == "mean";
  const std::string text = reduction_text(context, mean ? "sum" : name);
  if (!context.is_none("include_self") && context.flag("include_self") && !mean) {
    return scattered(context, context.tensor("src"), text);
  }
  // Counts the elements that are written to each index; an index without any keeps self's value.
  const Value x = program.cheap(context.tensor("self"));
  const Value one = filled(std::int64_t{1}, DType::kInt64);
  const Value counts =
      scattered(context, one, "add($0, $1)", filled(std::int64_t{0}, DType::kInt64, x.shape));
  const Value zero = filled(std::int64_t{0}, DType::kInt64);
  Value neutral = filled(std::int64_t{name == "prod" ? 1 : 0}, dtype);
  if (name == "amax" || name == "amin") {
    context.need(is_floating_point(dtype), "it takes the extremes of integers without self");
    neutral = filled(name == "amax" ? -HUGE_VAL : HUGE_VAL, dtype);
  }
  const bool with_self = context.flag("include_self");
  const Value begin =
      with_self ? x : combine("(equal($0, $1) ? $2 : $3)", {counts, zero, x, neutral}, dtype);
  const Value sum = scattered(context, context.tensor("src"), text, begin);
  if (!mean) return sum;
  context.need(is_floating_point(dtype), "it takes the mean of integers");
  const Value all =
      combine(with_self ? "add($0, $1)" : "maximum($0, $1)", {counts, one}, DType::kInt64);
  return combine("($0 / $1)", {sum, cast(all, dtype)}, dtype);
}

// Returns the value that is written where a mask over the first dimensions is true, if it is the
// same for all; nothing if the operator does not select by one mask.
std::optional<Value> masked_put(OpContext& context, const Value& x) {
  const std::vector<std::optional<Value>> indices = context.optional_tensors("indices");
  if (indices.size() != 1 || !indices[0] || indices[0]->dtype != DType::kBool) return std::nullopt;
  Value mask = *indices[0];
  Value values = cast(context.tensor("values"), x.dtype);
  const std::int64_t inner = x.rank() - mask.rank();
  while (values.rank() > inner && values.shape[0] == 1) values = squeezed(values, 0);
  context.need(values.rank() <= inner && !context.flag("accumulate"),
               "as many elements as a mask selects are put");
  while (mask.rank() < x.rank()) mask = unsqueezed(mask, mask.rank());
  return combine("($0 ? $1 : $2)", {mask, context.program().cheap(values), x}, x.dtype);
}

Value generate_index_put(OpContext& context) {
  Program& program = context.program();
  const Value x = context.tensor("self");
  if (const std::optional<Value> masked = masked_put(context, x)) return *masked;
  const Value values = program.cheap(cast(context.tensor("values"), x.dtype));
  const IndexedPlaces places = places_of(context, x.shape, "indices");
  const Value target = writable(program, x);
  put(program, target, values, places.shape, places.map,
      context.flag("accumulate") ? "add($0, $1)" : "$1");
  return target;
}

// Writes rows of source along a dimension, to the positions in a vector of indices.
Value put_rows(OpContext& context, const Value& source, const std::string& text) {
  Program& program = context.program();
  const Value x = context.tensor("self");
  Value target = writable(program, x);
  if (x.rank() == 0) target = unsqueezed(target, 0);
  Value index = program.cheap(context.tensor("index"));
  if (index.rank() == 0) index = unsqueezed(index, 0);
  const std::int64_t dim = context.dim("dim", target.rank());
  const auto place = place_of(context, index, target.shape[at(dim)], true);
  Shape shape = target.shape;
  shape[at(dim)] = index.count();
  Value from = program.cheap(source);
  if (from.rank() == 0 && x.rank() != 0 && source.count() == 1 && !context.has("source")) {
    from = expanded(from, shape);
  }
  put(
      program, target, program.reshaped(from.count() == 1 ? expanded(from, shape) : from, shape),
      shape,
      [dim, place](Indices own) {
        own[at(dim)] = place({own[at(dim)]});
        return own;
      },
      text);
  return program.reshaped(target, x.shape);
}

Value generate_index_add(OpContext& context) {
  const DType dtype = context.result_dtype();
  Value source = context.operand("source", dtype);
  if (context.number("alpha", 1) != 1) {
    source = combine("multiply($0, $1)", {source, context.operand("alpha", dtype)}, dtype);
  }
  return put_rows(context, source, "add($0, $1)");
}

// Returns self with a part replaced: the part is a view, and src has its shape.
Value replaced(OpContext& context, const Value& x, const std::function<Value(const Value&)>& part) {
  Program& program = context.program();
  const Value target = writable(program, x);
  const Value source = cast(context.tensor("src"), x.dtype);
  const Value place = part(target);
  program.write(expanded(source, place.shape), place);
  return target;
}

Value generate_slice_scatter(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = context.dim("dim", x.rank());
  const std::int64_t size = x.shape[at(dim)];
  const std::int64_t step = context.integer("step", 1);
  std::int64_t begin = context.integer("start", 0);
  std::int64_t end = context.integer("end", size);
  begin = std::clamp<std::int64_t>(begin < 0 ? begin + size : begin, 0, size);
  end = std::clamp<std::int64_t>(end < 0 ? end + size : end, begin, size);
  return replaced(context, x, [&](const Value& target) {
    return sliced(target, dim, begin, (end - begin + step - 1) / step, step);
  });
}

Value generate_select_scatter(OpContext& context) {
  const Value x = context.tensor("self");
  const std::int64_t dim = context.dim("dim", x.rank());
  const std::int64_t place = context.integer("index");
  return replaced(context, x, [&](const Value& target) {
    return selected(target, dim, place < 0 ? place + x.shape[at(dim)] : place);
  });
}

Value generate_diagonal_scatter(OpContext& context) {
  const Value x = context.tensor("self");
  const auto first = at(context.dim("dim1", x.rank()));
  const auto second = at(context.dim("dim2", x.rank()));
  const std::int64_t offset = context.integer("offset", 0);
  const std::int64_t down = std::max<std::int64_t>(-offset, 0);
  const std::int64_t right = std::max<std::int64_t>(offset, 0);
  const Value source = context.tensor("src");
  return replaced(context, x, [&](const Value& target) {
    return view(target, source.shape, [=, rank = x.shape.size()](const Indices& index) {
      Indices own;
      std::size_t next = 0;
      for (std::size_t i = 0; i < rank; ++i) {
        if (i == first)
          own.push_back(index.back().plus(down));
        else if (i == second)
          own.push_back(index.back().plus(right));
        else
          own.push_back(index[next++]);
      }
      return own;
    });
  });
}

Value generate_put(OpContext& context) {
  Program& program = context.program();
  const Value x = context.tensor("self");
  const Value target = program.reshaped(writable(program, x), {x.count()});
  const Value index = program.cheap(context.tensor("index"));
  const auto place = place_of(context, index, x.count(), true);
  const Value source = program.reshaped(program.stored(context.tensor("source")), index.shape);
  put(
      program, target, source, index.shape,
      [place](const Indices& own) { return Indices{place(own)}; },
      context.flag("accumulate") ? "add($0, $1)" : "$1");
  return program.reshaped(target, x.shape);
}

}  // namespace

void register_scatter(GeneratorRegistry& registry) {
  registry.add({"aten::scatter.src", "aten::scatter.value", "aten::scatter.reduce",
                "aten::scatter.value_reduce"},
               generate_scatter);
  registry.add({"aten::scatter_add"}, [](OpContext& context) {
    return scattered(context, context.tensor("src"), "add($0, $1)");
  });
  registry.add({"aten::scatter_reduce.two"}, generate_scatter_reduce);
  registry.add({"aten::index_put", "aten::_unsafe_index_put"}, generate_index_put);
  registry.add({"aten::index_add"}, generate_index_add);
  registry.add({"aten::index_copy"}, [](OpContext& context) {
    return put_rows(context, context.tensor("source"), "$1");
  });
  registry.add({"aten::index_fill.int_Scalar", "aten::index_fill.int_Tensor"},
               [](OpContext& context) {
                 return put_rows(context, context.operand("value", context.result_dtype()), "$1");
               });
  registry.add({"aten::slice_scatter"}, generate_slice_scatter);
  registry.add({"aten::select_scatter"}, generate_select_scatter);
  registry.add({"aten::diagonal_scatter"}, generate_diagonal_scatter);
  registry.add({"aten::put"}, generate_put);
}

}  // namespace leapp::cpp_export
