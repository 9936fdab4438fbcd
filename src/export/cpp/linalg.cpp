// Linear algebra on small matrices: kernels for a batch of matrices, one after the other.
#include <algorithm>

#include "export/cpp/pointwise.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

std::string number(std::int64_t value) {
  return std::to_string(value);
}

struct Matrix {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t batch;
};

Matrix size_of_matrix(const Value& x) {
  const std::int64_t rows = x.shape[x.shape.size() - 2];
  const std::int64_t columns = x.shape.back();
  const std::int64_t each = rows * columns;
  return {rows, columns, each == 0 ? 0 : x.count() / each};
}

// A copy that a kernel may overwrite.
BufferId copied(Program& program, const Value& x) {
  const BufferId to = program.add_scratch(x.dtype, x.shape);
  program.store(x, to);
  return to;
}

// Calls a kernel for each matrix of a batch; `call` receives a function that returns the matrix of
// a buffer, given the number of elements per matrix.
using Part = std::function<std::string(BufferId buffer, std::int64_t elements)>;
void for_each_matrix(OpContext& context, std::int64_t batch,
                     const std::function<std::string(const Part&)>& call) {
  Program& program = context.program();
  program.use_kernel("linalg.h");
  if (batch == 0) return;
  const std::string text = program.nest({batch}, 1, [&](const Indices& index, int depth) {
    const Part part = [&](BufferId buffer, std::int64_t elements) {
      const Index place = index[0].times(elements);
      return program.pointer(buffer) + (place.text() == "0" ? "" : " + " + place.text());
    };
    return indented(depth) + call(part) + "\n";
  });
  program.add_statement({}, text);
}

std::string failing(OpContext& context, const std::string& call, const std::string& what) {
  const int error = context.program().add_error(context.origin() + ": " + what);
  return "if (!" + call + ") status.fail(" + number(error) + ");";
}

// Solves a x = b. PyTorch treats b as vectors if it has one dimension less, or a's batch and size.
Value solved(OpContext& context, const Value& a, const Value& given, bool left) {
  Program& program = context.program();
  const Matrix size = size_of_matrix(a);
  const bool vector =
      given.rank() == 1 || (given.rank() == a.rank() - 1 &&
                            std::equal(given.shape.begin(), given.shape.end(), a.shape.begin()));
  Value b = vector ? unsqueezed(given, given.rank()) : given;
  context.need(left, "it solves from the right");
  const Shape front = broadcast_shape(Shape(a.shape.begin(), a.shape.end() - 2),
                                      Shape(b.shape.begin(), b.shape.end() - 2));
  const auto whole = [&](std::int64_t rows, std::int64_t columns) {
    Shape shape = front;
    shape.insert(shape.end(), {rows, columns});
    return shape;
  };
  const std::int64_t columns = b.shape.back();
  const BufferId work = copied(program, expanded(program.cheap(a), whole(size.rows, size.rows)));
  const BufferId right = copied(program, expanded(program.cheap(b), whole(size.rows, columns)));
  const BufferId to = program.add_scratch(a.dtype, whole(size.rows, columns));
  const std::int64_t batch = columns * size.rows == 0 ? 0 : element_count(front);
  for_each_matrix(context, batch, [&](const Part& part) {
    return failing(context,
                   "solve<" + number(size.rows) + ", " + number(columns) + ">(" +
                       part(work, size.rows * size.rows) + ", " + part(right, size.rows * columns) +
                       ", " + part(to, size.rows * columns) + ")",
                   "the matrix is singular");
  });
  const Value x = program.read(to);
  return vector ? squeezed(x, x.rank() - 1) : x;
}

void set_info(OpContext& context, std::size_t first) {
  for (std::size_t i = first; i < context.result_count(); ++i) {
    if (!context.is_used(i)) continue;
    context.need(context.result_dtype(i) == DType::kInt32 && i + 1 == context.result_count(),
                 "the factors that it returns are used");
    context.set(i, filled(std::int64_t{0}, DType::kInt32, context.result_shape(i)));
  }
}

void generate_solve(OpContext& context) {
  const bool left = !context.has("left") || context.flag("left");
  context.set(0, solved(context, context.tensor("A"), context.tensor("B"), left));
  set_info(context, 1);
}

void generate_inverse(OpContext& context) {
  const Value a = context.tensor(context.has("A") ? "A" : "self");
  const std::int64_t size = a.shape.back();
  const Value one = guarded(
      filled(std::int64_t{1}, a.dtype, {size, size}), {size, size},
      [](const Indices& index) { return index; },
      [](const Indices& index) { return index[0].text() + " == " + index[1].text(); },
      filled(std::int64_t{0}, a.dtype));
  context.set(0, solved(context, a, expanded(one, a.shape), true));
  set_info(context, 1);
}

Value determinants(OpContext& context, const Value& a) {
  Program& program = context.program();
  const Matrix size = size_of_matrix(a);
  const BufferId work = copied(program, a);
  const Shape front(a.shape.begin(), a.shape.end() - 2);
  if (size.rows == 0) return filled(std::int64_t{1}, a.dtype, front);
  const BufferId to = program.add_scratch(a.dtype, front);
  for_each_matrix(context, size.batch, [&](const Part& part) {
    return "*(" + part(to, 1) + ") = determinant<" + number(size.rows) + ">(" +
           part(work, size.rows * size.rows) + ");";
  });
  return program.read(to);
}

void generate_det(OpContext& context) {
  context.set(0, determinants(context, context.tensor(context.has("A") ? "A" : "self")));
  set_info(context, 1);
}

void generate_slogdet(OpContext& context) {
  const Value value = determinants(context, context.tensor("A"));
  context.program().use_kernel("math.h");
  context.set(0, combine("sign($0)", {value}, value.dtype));
  context.set(1, combine("log(abs($0))", {value}, value.dtype));
  set_info(context, 2);
}

void generate_cholesky(OpContext& context) {
  Program& program = context.program();
  Value a = context.tensor("self");
  const bool upper = context.flag("upper");
  if (upper) a = transposed(a, a.rank() - 2, a.rank() - 1);
  const Matrix size = size_of_matrix(a);
  const Value given = program.stored(a);
  const BufferId to = program.add_scratch(a.dtype, a.shape);
  for_each_matrix(context, size.batch, [&](const Part& part) {
    const std::int64_t each = size.rows * size.rows;
    return failing(context,
                   "cholesky<" + number(size.rows) + ">(" + part(given.buffer, each) + ", " +
                       part(to, each) + ")",
                   "the matrix is not positive definite");
  });
  const Value lower = program.read(to);
  context.set(0, upper ? transposed(lower, a.rank() - 2, a.rank() - 1) : lower);
  set_info(context, 1);
}

Value triangular(OpContext& context, const Value& a, const Value& b, bool upper, bool unit) {
  Program& program = context.program();
  const Matrix size = size_of_matrix(a);
  const Shape front = broadcast_shape(Shape(a.shape.begin(), a.shape.end() - 2),
                                      Shape(b.shape.begin(), b.shape.end() - 2));
  const std::int64_t columns = b.shape.back();
  const auto whole = [&](std::int64_t rows, std::int64_t wide) {
    Shape shape = front;
    shape.insert(shape.end(), {rows, wide});
    return shape;
  };
  const Value left = program.stored(expanded(a, whole(size.rows, size.rows)));
  const Value right = program.stored(expanded(b, whole(size.rows, columns)));
  const BufferId to = program.add_scratch(a.dtype, right.shape);
  const std::int64_t batch = size.rows * columns == 0 ? 0 : element_count(front);
  for_each_matrix(context, batch, [&](const Part& part) {
    return "solve_triangular<" + number(size.rows) + ", " + number(columns) + ">(" +
           part(left.buffer, size.rows * size.rows) + ", " +
           part(right.buffer, size.rows * columns) + ", " + part(to, size.rows * columns) + ", " +
           (upper ? "true" : "false") + ", " + (unit ? "true" : "false") + ");";
  });
  return program.read(to);
}

Value generate_solve_triangular(OpContext& context) {
  const Value a = context.tensor("self");
  const Value b = context.tensor("B");
  const bool left = context.is_none("left") || context.flag("left");
  const bool unit = context.flag("unitriangular");
  if (left) return triangular(context, a, b, context.flag("upper"), unit);
  // x a = b is the same as a^T x^T = b^T.
  const auto turned = [](const Value& x) { return transposed(x, x.rank() - 2, x.rank() - 1); };
  return turned(triangular(context, turned(a), turned(b), !context.flag("upper"), unit));
}

void generate_old_triangular(OpContext& context) {
  Value a = context.tensor("A");
  bool upper = context.flag("upper");
  if (context.flag("transpose")) {
    a = transposed(a, a.rank() - 2, a.rank() - 1);
    upper = !upper;
  }
  context.set(0,
              triangular(context, a, context.tensor("self"), upper, context.flag("unitriangular")));
  if (context.is_used(1)) context.set(1, context.tensor("A"));
}

void generate_qr(OpContext& context) {
  Program& program = context.program();
  const Value a = context.tensor(context.has("A") ? "A" : "self");
  const Matrix size = size_of_matrix(a);
  Shape square = a.shape;
  square.back() = size.rows;
  const BufferId q = program.add_scratch(a.dtype, square);
  const BufferId r = copied(program, a);
  for_each_matrix(context, size.batch, [&](const Part& part) {
    return "factor_qr<" + number(size.rows) + ", " + number(size.columns) + ">(" +
           part(q, size.rows * size.rows) + ", " + part(r, size.rows * size.columns) + ");";
  });
  if (context.is_used(0)) {
    context.set(0, sliced(program.read(q), a.rank() - 1, 0, context.result_shape(0).back()));
  }
  if (!context.is_used(1)) return;
  const Shape& kept = context.result_shape(1);
  context.set(1, sliced(program.read(r), a.rank() - 2, 0, kept[kept.size() - 2]));
}

Value generate_cross(OpContext& context) {
  const DType dtype = context.result_dtype();
  const Shape& shape = context.result_shape();
  const Value a = expanded(context.program().cheap(context.operand("self", dtype)), shape);
  const Value b = expanded(context.program().cheap(context.operand("other", dtype)), shape);
  const auto dim =
      static_cast<std::size_t>(context.dim("dim", static_cast<std::int64_t>(shape.size())));
  // The element two positions later, cyclically.
  const auto turned = [&](const Value& x, std::int64_t by) {
    return view(x, shape, [dim, by](Indices index) {
      index[dim] = Index::of("((" + index[dim].plus(by).text() + ") % 3)");
      return index;
    });
  };
  return combine("subtract(multiply($0, $1), multiply($2, $3))",
                 {turned(a, 1), turned(b, 2), turned(a, 2), turned(b, 1)}, dtype);
}

}  // namespace

void register_linalg(GeneratorRegistry& registry) {
  registry.add({"aten::_linalg_solve_ex", "aten::linalg_solve"}, generate_solve);
  registry.add({"aten::linalg_inv_ex", "aten::linalg_inv", "aten::inverse"}, generate_inverse);
  registry.add({"aten::_linalg_det"}, generate_det);
  registry.add({"aten::_linalg_slogdet"}, generate_slogdet);
  registry.add({"aten::linalg_cholesky_ex", "aten::cholesky", "aten::linalg_cholesky"},
               generate_cholesky);
  registry.add({"aten::linalg_solve_triangular"}, generate_solve_triangular);
  registry.add({"aten::triangular_solve"}, generate_old_triangular);
  registry.add({"aten::linalg_qr"}, generate_qr);
  registry.add({"aten::linalg_cross"}, generate_cross);
}

}  // namespace leapp::cpp_export
