#include "export/onnx/registry.h"

#include <algorithm>

namespace leapp::onnx_export {

const Converter* ConverterRegistry::find(const std::string& qualified_name) const {
  const auto found = converters_.find(qualified_name);
  return found == converters_.end() ? nullptr : &found->second;
}

const Converter* ConverterRegistry::find_complex(const std::string& qualified_name) const {
  const auto found = complex_.find(qualified_name);
  return found == complex_.end() ? nullptr : &found->second;
}

void ConverterRegistry::add_by_parts(std::initializer_list<const char*> names) {
  for (const std::string name : names) {
    // Looked up at the time of use, so families may register in any order.
    complex_[name] = [this, name](OpContext& context) {
      const auto found = converters_.find(name);
      if (found == converters_.end()) context.fail("there is no ONNX converter for it");
      const Converter& convert = found->second;
      OpContext real = context.part(Part::kReal);
      OpContext imaginary = context.part(Part::kImaginary);
      convert(real);
      convert(imaginary);
      for (const auto& [id, value] : real.parts()) {
        context.set_parts(id, value, imaginary.parts().at(id));
      }
    };
  }
}

std::vector<std::string> ConverterRegistry::names() const {
  std::vector<std::string> names;
  names.reserve(converters_.size());
  for (const auto& [name, converter] : converters_) names.push_back(name);
  for (const auto& [name, converter] : complex_) {
    if (!converters_.contains(name)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void register_all(ConverterRegistry& registry) {
  register_activation(registry);
  register_arithmetic(registry);
  register_attention(registry);
  register_backward(registry);
  register_compare_logic(registry);
  register_complex(registry);
  register_convolution(registry);
  register_creation(registry);
  register_cumulative(registry);
  register_diagonal(registry);
  register_distance(registry);
  register_elementwise(registry);
  register_factorization(registry);
  register_fft(registry);
  register_histogram(registry);
  register_indexing(registry);
  register_linalg(registry);
  register_loss(registry);
  register_matmul(registry);
  register_matrix_exp(registry);
  register_normalization(registry);
  register_padding(registry);
  register_pooling(registry);
  register_random(registry);
  register_recurrent(registry);
  register_reduce(registry);
  register_resize(registry);
  register_scatter(registry);
  register_shape(registry);
  register_sort(registry);
  register_special_bessel(registry);
  register_special_erf(registry);
  register_special_gamma(registry);
  register_special_polynomial(registry);
  register_spectral(registry);
}

}  // namespace leapp::onnx_export
