// The generator functions of the operators.
//
// Writing a generator: it reads the arguments by their names in PyTorch's schema, creates a Value
// from its operands, and returns the value of the first result (or calls context.set() for each
// result and returns nothing):
//
//   Value generate_lerp(OpContext& context) {
//     const DType dtype = context.result_dtype();
//     return pointwise(dtype, context.result_shape(),
//                      {context.operand("self", dtype), context.operand("end", dtype),
//                       context.operand("weight", dtype)},
//                      [](const auto& x) { return "lerp(" + x[0] + ", " + x[1] + ", " + x[2] + ")";
//                      });
//   }
//
// - Element-wise operators are rows of the table in pointwise.cpp.
// - Element types and shapes of all values are known; a result must have exactly PyTorch's. The
//   graph has not promoted types: operand() casts.
// - An operator that reads an element more than once calls program.cheap() for the operand; one
//   that needs a pointer calls program.stored().
// - If PyTorch would raise an error at run time, make the run fail: program.add_error().
// - One file per family, ending in its register_<family>(); list that below and in registry.cpp.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "export/cpp/op_context.h"

namespace leapp::cpp_export {

using Generator = std::function<void(OpContext&)>;

class GeneratorRegistry {
 public:
  /// Registers a generator. Names are qualified, "aten::add.Tensor". A later registration replaces
  /// an earlier one.
  template <typename Function>
  void add(std::initializer_list<const char*> names, Function function) {
    for (const char* name : names) add(std::string(name), function);
  }
  template <typename Function>
  void add(const std::string& name, Function function) {
    if constexpr (std::is_same_v<std::invoke_result_t<Function, OpContext&>, Value>) {
      generators_[name] = [function](OpContext& context) { context.set(function(context)); };
    } else {
      generators_[name] = function;
    }
  }

  /// Returns the generator, or null.
  const Generator* find(const std::string& qualified_name) const;
  std::vector<std::string> names() const;

 private:
  std::unordered_map<std::string, Generator> generators_;
};

/// Returns all generators.
const GeneratorRegistry& registry();

void register_arithmetic(GeneratorRegistry& registry);
void register_attention(GeneratorRegistry& registry);
void register_convolution(GeneratorRegistry& registry);
void register_creation(GeneratorRegistry& registry);
void register_cumulative(GeneratorRegistry& registry);
void register_indexing(GeneratorRegistry& registry);
void register_linalg(GeneratorRegistry& registry);
void register_loss(GeneratorRegistry& registry);
void register_matmul(GeneratorRegistry& registry);
void register_normalization(GeneratorRegistry& registry);
void register_padding(GeneratorRegistry& registry);
void register_pointwise(GeneratorRegistry& registry);
void register_pooling(GeneratorRegistry& registry);
void register_recurrent(GeneratorRegistry& registry);
void register_reduce(GeneratorRegistry& registry);
void register_resize(GeneratorRegistry& registry);
void register_scatter(GeneratorRegistry& registry);
void register_search(GeneratorRegistry& registry);
void register_shape(GeneratorRegistry& registry);

}  // namespace leapp::cpp_export
