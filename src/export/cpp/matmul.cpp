#include "export/cpp/matmul.h"

#include <cstring>
#include <memory>

#include "export/cpp/pointwise.h"
#include "export/cpp/registry.h"

namespace leapp::cpp_export {
namespace {

template <typename T>
void transpose_into(const ir::Blob& from, std::byte* to) {
  const auto rows = static_cast<std::size_t>(from.type.shape[0]);
  const auto columns = static_cast<std::size_t>(from.type.shape[1]);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      std::memcpy(to + (j * rows + i) * sizeof(T), from.as<T>() + i * columns + j, sizeof(T));
    }
  }
}

ir::Blob transposed_blob(const ir::Blob& from) {
  const std::shared_ptr<std::byte[]> bytes(new std::byte[from.byte_size()]);
  if (from.type.dtype == DType::kFloat64) {
    transpose_into<double>(from, bytes.get());
  } else {
    transpose_into<float>(from, bytes.get());
  }
  ir::Blob result;
  result.data = std::shared_ptr<const std::byte>(bytes, bytes.get());
  result.type = from.type;
  std::swap(result.type.shape[0], result.type.shape[1]);
  return result;
}

bool is_matrix(const ir::Blob* blob) {
  return blob != nullptr && is_floating_point(blob->type.dtype) && blob->type.shape.size() == 2 &&
         element_count(blob->type.shape) > 0;
}

// A value that a kernel can iterate over: numbers in one buffer, read without conversion.
Value walkable(Program& program, const Value& value) {
  const bool is_plain = value.cost == 0 && value.strides && value.strides->size() == 1 &&
                        value.at(Indices(value.shape.size())).find('(') == std::string::npos;
  return is_plain ? value : program.stored(value);
}

// A linear kernel with its weights, in their original order.
std::string packed_linear(Program& program, const ir::Blob& weight, const std::string& name,
                          BufferId bias) {
  const std::string type = "Linear<" + type_text(weight.type.dtype) + ", " +
                           std::to_string(weight.type.shape[0]) + ", " +
                           std::to_string(weight.type.shape[1]);
  const WeightFormat format =
      weight.type.dtype == DType::kFloat32 ? program.weight_format() : WeightFormat::kFloat32;
  if (format == WeightFormat::kBFloat16) {
    const BufferId bits = program.add_weight(to_bfloat16(weight), name + " (bfloat16)");
    return program.add_packed(type + ", BFloat16>", {bits, bias});
  }
  if (format == WeightFormat::kInt8) {
    const Int8Weights small = to_int8(weight);
    return program.add_packed(type + ", std::int8_t>",
                              {program.add_weight(small.values, name + " (int8)"), bias,
                               program.add_weight(small.scales, name + " (scales)")});
  }
  return program.add_packed(type + ">", {program.add_weight(weight, name), bias});
}

// y = x W^T + b for constant W [out, in] and b, in a kernel that packs them.
Value constant_linear(OpContext& context, const Value& x, const ir::Blob& weight,
                      const std::string& name, BufferId bias) {
  Program& program = context.program();
  const std::int64_t out = weight.type.shape[0];
  const std::int64_t in = weight.type.shape[1];
  program.use_kernel("linear.h");
  const Value given = program.stored(x);
  const std::string packed = packed_linear(program, weight, name, bias);
  Shape shape = x.shape;
  shape.back() = out;
  const std::string call = "  " + packed + ".run<" + std::to_string(x.count() / in) + ">(";
  return program.pending(
      x.dtype, shape, [&program, call, from = given.buffer](const std::string& text, BufferId to) {
        return call + program.pointer(from) + ", " + program.pointer(to) +
               ", [](auto x) { return " + text + "; });\n";
      });
}

// Some rows of a constant, copied to their own memory.
ir::Blob rows_of(const ir::Blob& blob, Rows rows) {
  if (rows.count < 0) return blob;
  ir::Blob part = blob;
  part.type.shape[0] = rows.count;
  const auto each = part.byte_size() / static_cast<std::size_t>(rows.count);
  part.data = {blob.data, blob.data.get() + each * static_cast<std::size_t>(rows.begin)};
  return part;
}

BufferId bias_buffer(OpContext& context, const char* parameter, Rows rows = {}) {
  if (context.is_none(parameter)) return kNoBuffer;
  return context.program().add_weight(rows_of(*context.constant(parameter), rows),
                                      context.constant_name(parameter));
}

// The product of tensors of any rank, as in torch.matmul.
Value any_product(OpContext& context, const char* left, const char* right) {
  Program& program = context.program();
  Value a = context.tensor(left);
  const ir::Blob* weight = context.constant(right);
  if (is_matrix(weight) && a.rank() >= 1 && a.count() > 0) {
    return constant_linear(context, a, transposed_blob(*weight), context.constant_name(right),
                           kNoBuffer);
  }
  Value b = context.tensor(right);
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  if (row) a = unsqueezed(a, 0);
  if (column) b = unsqueezed(b, 1);
  Value y = product(program, a, b);
  if (column) y = program.reshaped(y, Shape(y.shape.begin(), y.shape.end() - 1));
  if (row) {
    Shape shape = y.shape;
    shape.erase(shape.end() - (column ? 1 : 2));
    y = program.reshaped(y, shape);
  }
  return y;
}

// Computes beta * self + alpha * product.
Value added(OpContext& context, const Value& product) {
  const DType dtype = context.result_dtype();
  Value result = product;
  if (context.number("alpha", 1) != 1) {
    result = combine("multiply($0, $1)", {result, context.operand("alpha", dtype)}, dtype);
  }
  if (context.number("beta", 1) == 0) return result;
  Value self = context.tensor("self");
  if (context.number("beta", 1) != 1) {
    self = combine("multiply($0, $1)", {self, context.operand("beta", dtype)}, dtype);
  }
  return apply(context, "add($0, $1)", {self, result}, "");
}

Value generate_addmm(OpContext& context) {
  const ir::Blob* weight = context.constant("mat2");
  const ir::Blob* bias = context.constant("self");
  const bool is_layer = is_matrix(weight) && bias != nullptr &&
                        bias->type.shape == Shape{weight->type.shape[1]} &&
                        context.number("alpha", 1) == 1 && context.number("beta", 1) == 1;
  const Value x = context.tensor("mat1");
  if (!is_layer || x.count() == 0) return added(context, any_product(context, "mat1", "mat2"));
  return constant_linear(context, x, transposed_blob(*weight), context.constant_name("mat2"),
                         bias_buffer(context, "self"));
}

Value generate_outer(OpContext& context, const char* left, const char* right) {
  const DType dtype = context.result_dtype();
  return combine("multiply($0, $1)",
                 {unsqueezed(context.program().cheap(context.operand(left, dtype)), 1),
                  context.program().cheap(context.operand(right, dtype))},
                 dtype);
}

Value generate_addbmm(OpContext& context) {
  Program& program = context.program();
  const Value a = context.tensor("batch1");
  const Value b = context.tensor("batch2");
  // A sum over the batch equals a sum over a longer inner dimension.
  const Value wide =
      program.reshaped(permuted(a, {1, 0, 2}), {a.shape[1], a.shape[0] * a.shape[2]});
  const Value tall = program.reshaped(b, {b.shape[0] * b.shape[1], b.shape[2]});
  return added(context, product(program, wide, tall));
}

}  // namespace

Value product(Program& program, const Value& a, const Value& b) {
  const std::int64_t rows = a.shape[a.shape.size() - 2];
  const std::int64_t inner = a.shape.back();
  const std::int64_t columns = b.shape.back();
  const Shape batch = broadcast_shape(Shape(a.shape.begin(), a.shape.end() - 2),
                                      Shape(b.shape.begin(), b.shape.end() - 2));
  const auto whole = [&](std::int64_t first, std::int64_t second) {
    Shape shape = batch;
    shape.insert(shape.end(), {first, second});
    return shape;
  };
  const BufferId to = program.add_scratch(a.dtype, whole(rows, columns));
  const Value target = program.read(to);
  if (target.count() == 0) return target;
  if (inner == 0) return filled(std::int64_t{0}, a.dtype, target.shape);
  const Value left = expanded(walkable(program, a), whole(rows, inner));
  const Value right = expanded(walkable(program, b), whole(inner, columns));
  program.use_kernel("matmul.h");
  const auto walk = [](const Value& value) {
    const Shape& strides = value.strides->front();
    return std::to_string(strides[strides.size() - 2]) + ", " + std::to_string(strides.back());
  };
  const std::string text = program.nest(batch, 1, [&](Indices index, int depth) {
    index.insert(index.end(), {Index(0), Index(0)});
    return indented(depth) + "matmul<" + std::to_string(rows) + ", " + std::to_string(inner) +
           ", " + std::to_string(columns) + ">(&" + left.at(index) + ", " + walk(left) + ", &" +
           right.at(index) + ", " + walk(right) + ", &" + target.at(index) + ");\n";
  });
  program.add_statement({}, text);
  return target;
}

Value linear(OpContext& context, const Value& x, const char* weight, const char* bias, Rows rows) {
  Program& program = context.program();
  const ir::Blob* constant = context.constant(weight);
  const bool is_bias_constant = context.is_none(bias) || context.constant(bias) != nullptr;
  if (is_matrix(constant) && is_bias_constant && x.count() > 0) {
    return constant_linear(context, x, rows_of(*constant, rows), context.constant_name(weight),
                           bias_buffer(context, bias, rows));
  }
  const auto part = [&](const Value& whole) {
    return rows.count < 0 ? whole : sliced(whole, 0, rows.begin, rows.count);
  };
  Value w = part(context.tensor(weight));
  const bool is_vector = w.rank() == 1;
  if (is_vector) w = unsqueezed(w, 0);
  const Value wide = x.rank() == 1 ? unsqueezed(x, 0) : x;
  Shape shape(x.shape.begin(), x.shape.end() - 1);
  if (!is_vector) shape.push_back(w.shape[0]);
  const Value y = program.reshaped(product(program, wide, transposed(w, 0, 1)), shape);
  return context.is_none(bias) ? y
                               : combine("add($0, $1)", {y, part(context.tensor(bias))}, y.dtype);
}

void register_matmul(GeneratorRegistry& registry) {
  registry.add({"aten::linear"}, [](OpContext& context) {
    return linear(context, context.tensor("input"), "weight", "bias");
  });
  registry.add({"aten::addmm"}, generate_addmm);
  registry.add({"aten::mm"},
               [](OpContext& context) { return any_product(context, "self", "mat2"); });
  registry.add({"aten::bmm"},
               [](OpContext& context) { return any_product(context, "self", "mat2"); });
  registry.add({"aten::matmul"},
               [](OpContext& context) { return any_product(context, "self", "other"); });
  registry.add({"aten::mv"},
               [](OpContext& context) { return any_product(context, "self", "vec"); });
  registry.add({"aten::dot", "aten::vdot"}, [](OpContext& context) {
    return any_product(context, "self", context.has("tensor") ? "tensor" : "other");
  });
  registry.add({"aten::addmv"}, [](OpContext& context) {
    return added(context, any_product(context, "mat", "vec"));
  });
  registry.add({"aten::baddbmm"}, [](OpContext& context) {
    return added(context, any_product(context, "batch1", "batch2"));
  });
  registry.add({"aten::addbmm"}, generate_addbmm);
  registry.add({"aten::outer", "aten::ger"},
               [](OpContext& context) { return generate_outer(context, "self", "vec2"); });
  registry.add({"aten::addr"}, [](OpContext& context) {
    return added(context, generate_outer(context, "vec1", "vec2"));
  });
}

}  // namespace leapp::cpp_export
