// Products of matrices.
#include <cstring>
#include <memory>

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

// y = x W^T + b for constant W [out, in] and b, in a kernel that packs them.
Value constant_linear(OpContext& context, const Value& x, const ir::Blob& weight,
                      const std::string& name, BufferId bias) {
  Program& program = context.program();
  const std::int64_t out = weight.type.shape[0];
  const std::int64_t in = weight.type.shape[1];
  program.use_kernel("linear.h");
  const Value given = program.stored(x);
  const std::string packed = program.add_packed(
      "Linear<" + type_text(x.dtype) + ", " + std::to_string(out) + ", " + std::to_string(in) + ">",
      {program.add_weight(weight, name), bias});
  const BufferId to = program.add_scratch(x.dtype, context.result_shape());
  const std::int64_t rows = in == 0 ? 0 : x.count() / in;
  program.add_statement(x.origins, "  " + packed + ".run<" + std::to_string(rows) + ">(" +
                                       program.pointer(given.buffer) + ", " + program.pointer(to) +
                                       ", [](auto x) { return x; });\n");
  return program.read(to);
}

BufferId bias_buffer(OpContext& context, const char* parameter) {
  if (context.is_none(parameter)) return kNoBuffer;
  return context.program().add_weight(*context.constant(parameter), context.constant_name(parameter));
}

bool is_float(const ir::Blob* blob) {
  return blob != nullptr && is_floating_point(blob->type.dtype) && blob->type.shape.size() == 2;
}

Value generate_linear(OpContext& context) {
  const ir::Blob* weight = context.constant("weight");
  context.need(is_float(weight) && (context.is_none("bias") || context.constant("bias") != nullptr),
               "its weight is no constant");
  return constant_linear(context, context.tensor("input"), *weight, context.constant_name("weight"),
                         bias_buffer(context, "bias"));
}

Value generate_addmm(OpContext& context) {
  const ir::Blob* weight = context.constant("mat2");
  const ir::Blob* bias = context.constant("self");
  context.need(is_float(weight) && bias != nullptr && bias->type.shape == Shape{weight->type.shape[1]} &&
                   context.number("alpha", 1) == 1 && context.number("beta", 1) == 1,
               "its weight is no constant");
  return constant_linear(context, context.tensor("mat1"), transposed_blob(*weight),
                         context.constant_name("mat2"), bias_buffer(context, "self"));
}

}  // namespace

void register_linear(GeneratorRegistry& registry) {
  registry.add({"aten::linear"}, generate_linear);
  registry.add({"aten::addmm"}, generate_addmm);
}

}  // namespace leapp::cpp_export
