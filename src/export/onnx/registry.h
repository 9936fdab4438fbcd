// The converters of operators.
//
// A converter is a function of an OpContext; it reads the arguments by their names in PyTorch's
// schema, uses the functions of ops.h, and returns the value of the first result (or calls
// context.set() for each result and returns nothing):
//
//   Value convert_lerp(OpContext& context) {
//     const DType dtype = context.result_dtype();
//     const Value start = cast(context.tensor("self"), dtype);
//     const Value end = cast(context.tensor("end"), dtype);
//     return start + cast(context.operand("weight"), dtype) * (end - start);
//   }
//   void register_interpolation(ConverterRegistry& registry) {
//     registry.add({"aten::lerp.Scalar", "aten::lerp.Tensor"}, convert_lerp);
//   }
//
// - Element types and shapes of all values are known; a result must have exactly PyTorch's.
// - The IR has not promoted types: cast operands to result_dtype(), or to promoted({..}) if the
// result's type does not help (comparisons).
// - Never approximate. If an exact result is impossible, call context.fail(reason, advice); for an
// operator that needs a newer opset, call context.need_opset(version, "..").
// - One file per family, ending in its register_<family>(); list that below and in registry.cpp.
// - A composite operator (one that PyTorch can decompose) gets a converter only if that is better
// than its decomposition.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "export/onnx/op_context.h"

namespace leapp::onnx_export {

using Converter = std::function<void(OpContext&)>;

class ConverterRegistry {
 public:
  ConverterRegistry() = default;
  ConverterRegistry(const ConverterRegistry&) = delete;
  ConverterRegistry& operator=(const ConverterRegistry&) = delete;

  /// Registers a converter. Names are qualified, "aten::add.Tensor". A later registration replaces
  /// an earlier one.
  template <typename Function>
  void add(std::initializer_list<const char*> names, Function function) {
    for (const char* name : names) add(std::string(name), function);
  }
  template <typename Function>
  void add(const std::string& name, Function function) {
    if constexpr (std::is_same_v<std::invoke_result_t<Function, OpContext&>, Value>) {
      converters_[name] = [function](OpContext& context) { context.set(function(context)); };
    } else {
      converters_[name] = function;
    }
  }

  /// Registers a converter for calls of the operator with complex operands or results.
  template <typename Function>
  void add_complex(std::initializer_list<const char*> names, Function function) {
    for (const char* name : names) complex_[name] = function;
  }
  /// Marks operators whose converter for real tensors may be applied separately to the real and the
  /// imaginary part of complex ones: they move elements, or are linear in all their tensors.
  void add_by_parts(std::initializer_list<const char*> names);

  /// Returns the converter, or null.
  const Converter* find(const std::string& qualified_name) const;
  const Converter* find_complex(const std::string& qualified_name) const;
  bool can_convert(const std::string& qualified_name) const {
    return find(qualified_name) != nullptr || find_complex(qualified_name) != nullptr;
  }
  std::vector<std::string> names() const;

 private:
  std::unordered_map<std::string, Converter> converters_;
  std::unordered_map<std::string, Converter> complex_;
};

/// Registers every built-in converter.
void register_all(ConverterRegistry& registry);

void register_activation(ConverterRegistry& registry);
void register_arithmetic(ConverterRegistry& registry);
void register_attention(ConverterRegistry& registry);
void register_backward(ConverterRegistry& registry);
void register_compare_logic(ConverterRegistry& registry);
void register_complex(ConverterRegistry& registry);
void register_convolution(ConverterRegistry& registry);
void register_creation(ConverterRegistry& registry);
void register_cumulative(ConverterRegistry& registry);
void register_diagonal(ConverterRegistry& registry);
void register_distance(ConverterRegistry& registry);
void register_elementwise(ConverterRegistry& registry);
void register_factorization(ConverterRegistry& registry);
void register_fft(ConverterRegistry& registry);
void register_histogram(ConverterRegistry& registry);
void register_indexing(ConverterRegistry& registry);
void register_linalg(ConverterRegistry& registry);
void register_loss(ConverterRegistry& registry);
void register_matmul(ConverterRegistry& registry);
void register_matrix_exp(ConverterRegistry& registry);
void register_normalization(ConverterRegistry& registry);
void register_padding(ConverterRegistry& registry);
void register_pooling(ConverterRegistry& registry);
void register_random(ConverterRegistry& registry);
void register_recurrent(ConverterRegistry& registry);
void register_reduce(ConverterRegistry& registry);
void register_resize(ConverterRegistry& registry);
void register_scatter(ConverterRegistry& registry);
void register_shape(ConverterRegistry& registry);
void register_sort(ConverterRegistry& registry);
void register_special_bessel(ConverterRegistry& registry);
void register_special_erf(ConverterRegistry& registry);
void register_special_gamma(ConverterRegistry& registry);
void register_special_polynomial(ConverterRegistry& registry);
void register_spectral(ConverterRegistry& registry);

}  // namespace leapp::onnx_export
