#include "export/cpp/reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "export/cpp/pointwise.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

using Ints = std::vector<std::int64_t>;

bool contains(const Ints& dims, std::size_t dim) {
  return std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(dim)) != dims.end();
}

std::string limit_text(DType dtype, bool lowest) {
  const std::string type = type_text(dtype);
  if (is_floating_point(dtype)) return (lowest ? "-kInfinity<" : "kInfinity<") + type + ">";
  return "std::numeric_limits<" + type + ">::" + (lowest ? "min()" : "max()");
}

std::string plus_text(DType dtype, const std::string& a, const std::string& b) {
  return is_floating_point(dtype) ? a + " + " + b : "add(" + a + ", " + b + ")";
}

Reduction sum_reduction(DType dtype) {
  return {dtype,
          {type_text(dtype) + " sum{};"},
          [dtype](const std::string& element, const std::string&) {
            return std::vector{"sum = " + plus_text(dtype, "sum", element) + ";"};
          },
          "sum"};
}

Reduction extreme_reduction(DType dtype, bool largest) {
  return {dtype,
          {type_text(dtype) + " best = " + limit_text(dtype, largest) + ";"},
          [largest](const std::string& element, const std::string&) {
            return std::vector{std::string("best = ") + (largest ? "maximum" : "minimum") +
                               "(best, " + element + ");"};
          },
          "best"};
}

// Index of the first largest or smallest element; NaN counts as both.
Reduction place_reduction(DType dtype, bool largest) {
  return {DType::kInt64,
          {type_text(dtype) + " best{};", "std::int64_t best_place = -1;"},
          [dtype, largest](const std::string& element, const std::string& place) {
            const std::string compare = largest ? "best < element" : "element < best";
            return std::vector<std::string>{
                "const " + type_text(dtype) + " element = " + element + ";",
                "if (best_place < 0 || " + compare + " || (is_nan(element) && !is_nan(best))) {",
                "  best = element;", "  best_place = " + place + ";", "}"};
          },
          "best_place"};
}

Reduction truth_reduction(bool all) {
  const std::string joint = all ? " && " : " || ";
  const std::string begin = all ? "true;" : "false;";
  return {DType::kBool,
          {"bool truth = " + begin},
          [joint](const std::string& element, const std::string&) {
            return std::vector{"truth = truth" + joint + element + ";"};
          },
          "truth"};
}

Reduction product_reduction(DType dtype) {
  return {dtype,
          {type_text(dtype) + " product = " + number_text(std::int64_t{1}, dtype) + ";"},
          [](const std::string& element, const std::string&) {
            return std::vector{"product = multiply(product, " + element + ");"};
          },
          "product"};
}

// The dimensions that the operator reduces.
Ints dims_of(OpContext& context, const Value& x) {
  if (!context.has("dim") || context.is_none("dim")) return context.dims("", x.rank());
  return context.dims("dim", x.rank());
}

Value finished(OpContext& context, const Value& value) {
  return context.program().reshaped(value, context.result_shape());
}

Value generate_sum(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return finished(context, sum_of(context.program(), x, dims_of(context, x)));
}

Value generate_mean(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return finished(context, mean_of(context.program(), x, dims_of(context, x)));
}

Value generate_prod(OpContext& context) {
  const Value x = cast(context.tensor("self"), context.result_dtype());
  return finished(context,
                  reduced(context.program(), x, dims_of(context, x), product_reduction(x.dtype)));
}

Value generate_extreme(OpContext& context, bool largest) {
  const Value x = context.tensor("self");
  return finished(context, reduced(context.program(), x, dims_of(context, x),
                                   extreme_reduction(x.dtype, largest)));
}

Value generate_place(OpContext& context, bool largest) {
  const Value x = context.tensor("self");
  context.program().use_kernel("math.h");
  return finished(context, reduced(context.program(), x, dims_of(context, x),
                                   place_reduction(x.dtype, largest)));
}

void generate_extreme_with_place(OpContext& context, bool largest) {
  const Value x = context.program().cheap(context.tensor("self"));
  const Ints dims = dims_of(context, x);
  context.program().use_kernel("math.h");
  if (context.is_used(0)) {
    context.set(0, context.program().reshaped(
                       reduced(context.program(), x, dims, extreme_reduction(x.dtype, largest)),
                       context.result_shape(0)));
  }
  if (!context.is_used(1)) return;
  context.set(1, context.program().reshaped(
                     reduced(context.program(), x, dims, place_reduction(x.dtype, largest)),
                     context.result_shape(1)));
}

void generate_aminmax(OpContext& context) {
  const Value x = context.program().cheap(context.tensor("self"));
  const Ints dims = dims_of(context, x);
  for (const bool largest : {false, true}) {
    const std::size_t i = largest ? 1 : 0;
    context.set(i, context.program().reshaped(
                       reduced(context.program(), x, dims, extreme_reduction(x.dtype, largest)),
                       context.result_shape(i)));
  }
}

Value generate_truth(OpContext& context, bool all) {
  const Value x = cast(context.tensor("self"), DType::kBool);
  const Value truth = reduced(context.program(), x, dims_of(context, x), truth_reduction(all));
  return cast(finished(context, truth), context.result_dtype());
}

Value generate_count_nonzero(OpContext& context) {
  const Value x = cast(cast(context.tensor("self"), DType::kBool), DType::kInt64);
  return finished(context, sum_of(context.program(), x, dims_of(context, x)));
}

// Sum of squared distances from the mean, divided by the count minus a correction.
Value variance(OpContext& context, const Value& x, const Ints& dims, const Value& mean) {
  double correction = 1;
  if (context.has("unbiased")) correction = context.flag("unbiased") ? 1 : 0;
  if (context.has("correction")) correction = context.number("correction", 1);
  Program& program = context.program();
  const Value squares = combine("(($0 - $1) * ($0 - $1))", {x, mean}, x.dtype);
  const double left = std::max(static_cast<double>(reduced_count(x.shape, dims)) - correction, 0.0);
  return combine("($0 / $1)", {sum_of(program, squares, dims), filled(left, x.dtype)}, x.dtype);
}

void generate_variance(OpContext& context, bool root, bool with_mean) {
  Program& program = context.program();
  const Value x = program.cheap(context.tensor("self"));
  const Ints dims = dims_of(context, x);
  const Value mean = program.cheap(mean_of(program, x, dims));
  Value spread = variance(context, x, dims, mean);
  program.use_kernel("math.h");
  if (root) spread = combine("sqrt($0)", {spread}, x.dtype);
  context.set(0, program.reshaped(spread, context.result_shape(0)));
  if (with_mean) context.set(1, program.reshaped(mean, context.result_shape(1)));
}

Value generate_norm(OpContext& context, const char* parameter) {
  Program& program = context.program();
  const DType dtype = context.result_dtype();
  const Value x = cast(context.tensor("self"), dtype);
  const double order = context.number(parameter, 2);
  const Ints dims = dims_of(context, x);
  program.use_kernel("math.h");
  const Value size = combine("abs($0)", {x}, dtype);
  Value result;
  if (std::isinf(order)) {
    // The norm of no elements is zero.
    result = reduced_count(x.shape, dims) == 0
                 ? sum_of(program, size, dims)
                 : reduced(program, size, dims, extreme_reduction(dtype, order > 0));
  } else if (order == 0) {
    result = sum_of(program, cast(cast(x, DType::kBool), dtype), dims);
  } else if (order == 1) {
    result = sum_of(program, size, dims);
  } else if (order == 2) {
    result =
        combine("sqrt($0)",
                {sum_of(program, combine("($0 * $0)", {program.cheap(x)}, dtype), dims)}, dtype);
  } else {
    const Value powers = combine("power($0, $1)", {size, filled(order, dtype)}, dtype);
    result =
        combine("power($0, $1)", {sum_of(program, powers, dims), filled(1 / order, dtype)}, dtype);
  }
  return finished(context, result);
}

Value generate_logsumexp(OpContext& context) {
  Program& program = context.program();
  const DType dtype = context.result_dtype();
  const Value x = program.cheap(cast(context.tensor("self"), dtype));
  const Ints dims = dims_of(context, x);
  program.use_kernel("math.h");
  // Infinity is not subtracted, because the result would be NaN.
  Value high = max_of(program, x, dims);
  high = program.stored(combine("(is_infinite($0) ? $1 : $0)", {high, filled(0.0, dtype)}, dtype));
  const Value sum = sum_of(program, combine("exp($0 - $1)", {x, high}, dtype), dims);
  return finished(context, combine("(log($0) + $1)", {sum, high}, dtype));
}

// NaN elements count as zero, and do not count in a mean.
Value generate_nansum(OpContext& context, bool mean) {
  Program& program = context.program();
  const DType dtype = context.result_dtype();
  const Value x = program.cheap(cast(context.tensor("self"), dtype));
  const Ints dims = dims_of(context, x);
  program.use_kernel("math.h");
  const Value zero = filled(std::int64_t{0}, dtype);
  const Value sum = sum_of(program, combine("(is_nan($0) ? $1 : $0)", {x, zero}, dtype), dims);
  if (!mean) return finished(context, sum);
  const Value one = filled(std::int64_t{1}, dtype);
  const Value count =
      sum_of(program, combine("(is_nan($0) ? $1 : $2)", {x, zero, one}, dtype), dims);
  return finished(context, combine("($0 / $1)", {sum, count}, dtype));
}

Value generate_softmax(OpContext& context, bool logarithm) {
  Program& program = context.program();
  const DType dtype = context.result_dtype();
  const Value x = program.cheap(cast(context.tensor("self"), dtype));
  const Ints dims = x.rank() == 0 ? Ints{} : Ints{context.dim("dim", x.rank())};
  program.use_kernel("math.h");
  const Value high = max_of(program, x, dims);
  if (logarithm) {
    const Value sum = sum_of(program, combine("exp($0 - $1)", {x, high}, dtype), dims);
    const Value log = program.stored(combine("log($0)", {sum}, dtype));
    return combine("($0 - $1 - $2)", {x, high, log}, dtype);
  }
  const Value powers = program.stored(combine("exp($0 - $1)", {x, high}, dtype));
  return combine("($0 / $1)", {powers, sum_of(program, powers, dims)}, dtype);
}

Value generate_trace(OpContext& context) {
  Program& program = context.program();
  const Value x = cast(context.tensor("self"), context.result_dtype());
  const std::int64_t size = std::min(x.shape[0], x.shape[1]);
  const Value diagonal = view(
      x, {size},
      [](const Indices& index) {
        return Indices{index[0], index[0]};
      },
      [](const Shape& strides) { return Shape{strides[0] + strides[1]}; });
  return finished(context, sum_of(program, diagonal, {0}));
}

}  // namespace

std::int64_t reduced_count(const Shape& shape, const Ints& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= shape[static_cast<std::size_t>(dim)];
  return count;
}

Value reduced(Program& program, const Value& value, const Ints& dims, const Reduction& reduction) {
  Shape kept = value.shape;
  Shape gone = value.shape;
  for (std::size_t i = 0; i < kept.size(); ++i) (contains(dims, i) ? kept : gone)[i] = 1;
  const BufferId to = program.add_scratch(reduction.dtype, kept);
  const Value target = program.read(to);
  if (target.count() == 0) return target;
  const std::string text = program.nest(kept, 1, [&](const Indices& outer, int depth) {
    std::string lines;
    // Without a surrounding loop, a block separates the names of one statement from those of the
    // next.
    const bool alone = depth == 1;
    const int inside = alone ? 2 : depth;
    for (const std::string& line : reduction.begin) lines += indented(inside) + line + "\n";
    lines += program.nest(gone, inside, [&](const Indices& inner, int deep) {
      Indices index;
      Index place;
      for (std::size_t i = 0; i < outer.size(); ++i) {
        index.push_back(outer[i].plus(inner[i]));
        place = place.times(gone[i]).plus(inner[i]);
      }
      std::string steps;
      for (const std::string& line : reduction.step(value.at(index), place.text())) {
        steps += indented(deep) + line + "\n";
      }
      return steps;
    });
    lines += indented(inside) + target.at(outer) + " = " + reduction.result + ";\n";
    return alone ? indented(1) + "{\n" + lines + indented(1) + "}\n" : lines;
  });
  program.add_statement(program.origins_of({value}), text);
  return target;
}

Value sum_of(Program& program, const Value& value, const Ints& dims) {
  return reduced(program, value, dims, sum_reduction(value.dtype));
}

Value max_of(Program& program, const Value& value, const Ints& dims) {
  return reduced(program, value, dims, extreme_reduction(value.dtype, true));
}

Value argmax(Program& program, const Value& value, const Ints& dims) {
  program.use_kernel("math.h");
  return reduced(program, value, dims, place_reduction(value.dtype, true));
}

Value mean_of(Program& program, const Value& value, const Ints& dims) {
  const auto count = static_cast<double>(reduced_count(value.shape, dims));
  return program.stored(combine(
      "($0 / $1)", {sum_of(program, value, dims), filled(count, value.dtype)}, value.dtype));
}

void register_reduce(GeneratorRegistry& registry) {
  registry.add({"aten::sum", "aten::sum.dim_IntList"}, generate_sum);
  registry.add({"aten::mean", "aten::mean.dim"}, generate_mean);
  registry.add({"aten::prod", "aten::prod.dim_int"}, generate_prod);
  for (const bool largest : {false, true}) {
    const std::string name = largest ? "max" : "min";
    const auto extreme = [largest](OpContext& context) {
      return generate_extreme(context, largest);
    };
    registry.add("aten::" + name, extreme);
    registry.add("aten::a" + name, extreme);
    registry.add("aten::" + name + ".dim",
                 [largest](OpContext& context) { generate_extreme_with_place(context, largest); });
    registry.add("aten::arg" + name,
                 [largest](OpContext& context) { return generate_place(context, largest); });
  }
  registry.add({"aten::aminmax"}, generate_aminmax);
  for (const bool all : {false, true}) {
    const std::string name = all ? "aten::all" : "aten::any";
    for (const char* overload : {"", ".dim", ".dims"}) {
      registry.add(name + overload,
                   [all](OpContext& context) { return generate_truth(context, all); });
    }
  }
  registry.add({"aten::count_nonzero", "aten::count_nonzero.dim_IntList"}, generate_count_nonzero);
  for (const bool root : {false, true}) {
    const std::string name = root ? "aten::std" : "aten::var";
    for (const char* overload : {"", ".dim", ".correction"}) {
      registry.add(name + overload,
                   [root](OpContext& context) { generate_variance(context, root, false); });
      registry.add(name + "_mean" + overload,
                   [root](OpContext& context) { generate_variance(context, root, true); });
    }
  }
  registry.add({"aten::linalg_vector_norm"},
               [](OpContext& context) { return generate_norm(context, "ord"); });
  registry.add({"aten::norm.Scalar", "aten::norm.ScalarOpt_dim", "aten::norm.ScalarOpt_dim_dtype",
                "aten::norm.ScalarOpt_dtype"},
               [](OpContext& context) { return generate_norm(context, "p"); });
  registry.add({"aten::logsumexp"}, generate_logsumexp);
  registry.add({"aten::nansum"},
               [](OpContext& context) { return generate_nansum(context, false); });
  registry.add({"aten::nanmean"},
               [](OpContext& context) { return generate_nansum(context, true); });
  registry.add({"aten::softmax.int", "aten::_softmax"},
               [](OpContext& context) { return generate_softmax(context, false); });
  registry.add({"aten::log_softmax.int", "aten::_log_softmax"},
               [](OpContext& context) { return generate_softmax(context, true); });
  registry.add({"aten::trace"}, generate_trace);
}

}  // namespace leapp::cpp_export
