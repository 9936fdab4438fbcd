// Cumulative results along a dimension, and sorting along it.
#include <algorithm>

#include "export/cpp/pointwise.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

// A loop along one dimension inside loops along the others. `begin` and `step` return lines; step
// receives the text of the element, its index, and the texts of the results at that index.
void scan(Program& program, const Value& x, std::size_t dim, const std::vector<Value>& results,
          const std::vector<std::string>& begin,
          const std::function<
              std::vector<std::string>(const std::string& element, const std::string& place,
                                       const std::vector<std::string>& results)>& step) {
  if (x.count() == 0) return;
  Shape others = x.shape;
  others[dim] = 1;
  Shape along(x.shape.size(), 1);
  along[dim] = x.shape[dim];
  const std::string text = program.nest(others, 1, [&](const Indices& outer, int depth) {
    std::string lines = indented(depth) + "{\n";
    for (const std::string& line : begin) lines += indented(depth + 1) + line + "\n";
    lines += program.nest(along, depth + 1, [&](const Indices& inner, int deep) {
      Indices index = outer;
      index[dim] = inner[dim];
      std::vector<std::string> targets;
      for (const Value& result : results) targets.push_back(result.at(index));
      std::string steps;
      for (const std::string& line : step(x.at(index), inner[dim].text(), targets)) {
        steps += indented(deep) + line + "\n";
      }
      return steps;
    });
    return lines + indented(depth) + "}\n";
  });
  program.add_statement(program.origins_of({x}), text);
}

Value generate_cumulative(OpContext& context, const std::string& combine_text, std::int64_t start) {
  Program& program = context.program();
  const DType dtype = context.result_dtype();
  Value x = cast(context.tensor("self"), dtype);
  const Shape shape = x.shape;
  if (x.rank() == 0) x = unsqueezed(x, 0);
  const Value result = program.read(program.add_scratch(dtype, x.shape));
  scan(program, x, static_cast<std::size_t>(context.dim("dim", x.rank())), {result},
       {type_text(dtype) + " sum = " + number_text(start, dtype) + ";"},
       [&](const std::string& element, const std::string&, const std::vector<std::string>& to) {
         return std::vector<std::string>{"sum = " + combine_text + "(sum, " + element + ");",
                                         to[0] + " = sum;"};
       });
  return program.reshaped(result, shape);
}

Value generate_logcumsumexp(OpContext& context) {
  Program& program = context.program();
  Value x = context.tensor("self");
  const Shape shape = x.shape;
  if (x.rank() == 0) x = unsqueezed(x, 0);
  program.use_kernel("math.h");
  const Value result = program.read(program.add_scratch(x.dtype, x.shape));
  scan(program, x, static_cast<std::size_t>(context.dim("dim", x.rank())), {result},
       {type_text(x.dtype) + " sum = -kInfinity<" + type_text(x.dtype) + ">;"},
       [&](const std::string& element, const std::string&, const std::vector<std::string>& to) {
         return std::vector<std::string>{"sum = logaddexp(sum, " + element + ");",
                                         to[0] + " = sum;"};
       });
  return program.reshaped(result, shape);
}

// The largest or smallest element so far, the last of equal ones, and its index.
void generate_running_extreme(OpContext& context, bool largest) {
  Program& program = context.program();
  Value x = context.tensor("self");
  if (x.rank() == 0) x = unsqueezed(x, 0);
  program.use_kernel("math.h");
  const Value values = program.read(program.add_scratch(x.dtype, x.shape));
  const Value places = program.read(program.add_scratch(DType::kInt64, x.shape));
  const std::string better = largest ? "!(element < best)" : "!(best < element)";
  scan(program, x, static_cast<std::size_t>(context.dim("dim", x.rank())), {values, places},
       {type_text(x.dtype) + " best{};", "std::int64_t best_place = -1;"},
       [&](const std::string& element, const std::string& place,
           const std::vector<std::string>& to) {
         return std::vector<std::string>{
             "const " + type_text(x.dtype) + " element = " + element + ";",
             "if (best_place < 0 || is_nan(element) || (!is_nan(best) && " + better + ")) {",
             "  best = element;",
             "  best_place = " + place + ";",
             "}",
             to[0] + " = best;",
             to[1] + " = best_place;"};
       });
  context.set(0, program.reshaped(values, context.result_shape(0)));
  context.set(1, program.reshaped(places, context.result_shape(1)));
}

struct Sorted {
  Value values;
  Value places;
};

// Sorts along a dimension, which becomes the last: rows in memory, each sorted by a kernel.
Sorted sorted_rows(Program& program, const Value& x, std::int64_t dim, bool descending) {
  const std::int64_t size = x.shape[static_cast<std::size_t>(dim)];
  const Value moved = transposed(x, dim, x.rank() - 1);
  program.use_kernel("sort.h");
  const BufferId values = program.add_scratch(x.dtype, moved.shape);
  const BufferId places = program.add_scratch(DType::kInt64, moved.shape);
  program.store(moved, values);
  if (x.count() > 0) {
    const std::string text =
        program.nest({x.count() / size}, 1, [&](const Indices& index, int depth) {
          const std::string row = index[0].times(size).text();
          return indented(depth) + "sort_row<" + std::to_string(size) + ">(" +
                 program.pointer(values) + " + " + row + ", " + program.pointer(places) + " + " +
                 row + ", " + (descending ? "true" : "false") + ");\n";
        });
    program.add_statement(program.origins_of({x}), text);
  }
  return {program.read(values), program.read(places)};
}

// The first `count` elements of a sorted dimension, moved back to its position.
void set_sorted(OpContext& context, const Sorted& sorted, std::int64_t dim, std::int64_t begin,
                std::int64_t count, bool only_places) {
  Program& program = context.program();
  const std::int64_t last = sorted.values.rank() - 1;
  const auto part = [&](const Value& rows) {
    return transposed(sliced(rows, last, begin, count), dim, last);
  };
  if (only_places) {
    context.set(0, program.reshaped(part(sorted.places), context.result_shape(0)));
    return;
  }
  context.set(0, program.reshaped(part(sorted.values), context.result_shape(0)));
  context.set(1, program.reshaped(part(sorted.places), context.result_shape(1)));
}

void generate_sort(OpContext& context, bool only_places) {
  Value x = context.tensor("self");
  if (x.rank() == 0) x = unsqueezed(x, 0);
  const std::int64_t dim = context.dim("dim", x.rank());
  const Sorted sorted = sorted_rows(context.program(), x, dim, context.flag("descending"));
  set_sorted(context, sorted, dim, 0, x.shape[static_cast<std::size_t>(dim)], only_places);
}

void generate_topk(OpContext& context) {
  Value x = context.tensor("self");
  if (x.rank() == 0) x = unsqueezed(x, 0);
  const std::int64_t dim = context.dim("dim", x.rank());
  const Sorted sorted = sorted_rows(context.program(), x, dim, context.flag("largest"));
  set_sorted(context, sorted, dim, 0, context.integer("k"), false);
}

void generate_kthvalue(OpContext& context, std::int64_t k) {
  Value x = context.tensor("self");
  if (x.rank() == 0) x = unsqueezed(x, 0);
  const std::int64_t dim = context.dim("dim", x.rank());
  const Sorted sorted = sorted_rows(context.program(), x, dim, false);
  set_sorted(context, sorted, dim, k - 1, 1, false);
}

// The median, the lower of two middle elements; NaN if any element is NaN.
void generate_median(OpContext& context) {
  Program& program = context.program();
  Value x = context.tensor("self");
  if (x.rank() == 0) x = unsqueezed(x, 0);
  const std::int64_t dim = context.dim("dim", x.rank());
  const std::int64_t size = x.shape[static_cast<std::size_t>(dim)];
  const Sorted sorted = sorted_rows(program, x, dim, false);
  const std::int64_t last = x.rank() - 1;
  program.use_kernel("math.h");
  const auto at = [&](const Value& rows, std::int64_t place) {
    return sliced(rows, last, place, 1);
  };
  const Value high = at(sorted.values, size - 1);
  const auto chosen = [&](const Value& rows, std::size_t result) {
    const Value one = combine("(is_nan($0) ? $1 : $2)",
                              {high, at(rows, size - 1), at(rows, (size - 1) / 2)}, rows.dtype);
    context.set(result, program.reshaped(transposed(one, dim, last), context.result_shape(result)));
  };
  chosen(sorted.values, 0);
  chosen(sorted.places, 1);
}

}  // namespace

void register_cumulative(GeneratorRegistry& registry) {
  registry.add({"aten::cumsum"},
               [](OpContext& context) { return generate_cumulative(context, "add", 0); });
  registry.add({"aten::cumprod"},
               [](OpContext& context) { return generate_cumulative(context, "multiply", 1); });
  registry.add({"aten::logcumsumexp", "aten::_logcumsumexp"}, generate_logcumsumexp);
  registry.add({"aten::cummax"},
               [](OpContext& context) { generate_running_extreme(context, true); });
  registry.add({"aten::cummin"},
               [](OpContext& context) { generate_running_extreme(context, false); });
  registry.add({"aten::sort", "aten::sort.stable"},
               [](OpContext& context) { generate_sort(context, false); });
  registry.add({"aten::argsort", "aten::argsort.stable"},
               [](OpContext& context) { generate_sort(context, true); });
  registry.add({"aten::topk"}, generate_topk);
  registry.add({"aten::median.dim"}, generate_median);
  registry.add({"aten::kthvalue"},
               [](OpContext& context) { generate_kthvalue(context, context.integer("k")); });
}

}  // namespace leapp::cpp_export
