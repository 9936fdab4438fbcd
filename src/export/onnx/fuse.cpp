#include <algorithm>
#include <vector>

#include "export/onnx/finish.h"

namespace leapp::onnx_export {
namespace {

class Fuser {
 public:
  Fuser(Builder& builder, const std::vector<NamedOutput>& outputs)
      : builder_(builder), uses_(builder.value_count(), 0) {
    for (const BuiltNode& node : builder.nodes()) {
      for (const std::int32_t id : node.inputs) count_use(id);
      if (node.body == nullptr) continue;
      for (const std::int32_t id : node.body->outputs) count_use(id);
    }
    // A port counts twice, so its value is never fused into another node.
    for (const NamedOutput& output : outputs) {
      count_use(output.value.id());
      count_use(output.value.id());
    }
  }

  void run() {
    for (BuiltNode& node : builder_.nodes()) {
      if (node.is("Add")) fuse_add(node);
      if (node.is("Gemm")) fuse_transposes(node);
    }
  }

 private:
  void count_use(std::int32_t id) {
    if (id >= 0) ++uses_[static_cast<std::size_t>(id)];
  }

  const BuiltNode* producer(std::int32_t id, const char* op_type) const {
    const std::int32_t index = id < 0 ? -1 : builder_.value(id).producer;
    if (index < 0) return nullptr;
    const BuiltNode& node = builder_.node(index);
    return node.is(op_type) ? &node : nullptr;
  }

  const Shape& shape(std::int32_t id) const { return builder_.value(id).type.shape; }

  /// Fuses Add(MatMul(a, b), c) of matrices into Gemm(a, b, c), if c is no larger than the product.
  void fuse_add(BuiltNode& node) {
    for (std::size_t side = 0; side < 2; ++side) {
      const std::int32_t product = node.inputs[side];
      const std::int32_t addend = node.inputs[1 - side];
      const BuiltNode* matmul = producer(product, "MatMul");
      if (matmul == nullptr || uses_[static_cast<std::size_t>(product)] != 1) continue;
      if (shape(matmul->inputs[0]).size() != 2 || shape(matmul->inputs[1]).size() != 2) continue;
      if (shape(node.outputs[0]) != shape(product) || shape(addend).size() > 2) continue;
      if (!is_floating_point(builder_.value(product).type.dtype)) continue;
      node.op_type = "Gemm";
      node.inputs = {matmul->inputs[0], matmul->inputs[1], addend};
      node.attributes = {{"alpha", 1.0F},
                         {"beta", 1.0F},
                         {"transA", std::int64_t{0}},
                         {"transB", std::int64_t{0}}};
      return;
    }
  }

  /// Fuses a transposed operand into the flag of a Gemm.
  void fuse_transposes(BuiltNode& node) {
    for (std::size_t side = 0; side < 2; ++side) {
      const BuiltNode* transpose = producer(node.inputs[side], "Transpose");
      if (transpose == nullptr) continue;
      const char* name = side == 0 ? "transA" : "transB";
      const auto flag = std::find_if(node.attributes.begin(), node.attributes.end(),
                                     [&](const Attr& attribute) { return attribute.name == name; });
      if (flag == node.attributes.end()) continue;
      flag->value = std::int64_t{1} - std::get<std::int64_t>(flag->value);
      node.inputs[side] = transpose->inputs[0];
    }
  }

  Builder& builder_;
  std::vector<int> uses_;
};

}  // namespace

void fuse(Builder& builder, const std::vector<NamedOutput>& outputs) {
  Fuser(builder, outputs).run();
}

}  // namespace leapp::onnx_export
