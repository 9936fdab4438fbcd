#include "leapp/tolerance.h"

#include <array>
#include <cstdio>

namespace leapp {

Tolerance tolerance_for(DType dtype, const Tolerance& asked) noexcept {
  if (asked != Tolerance{}) return asked;
  if (dtype == DType::kFloat16) return {2e-3, 1e-3};
  if (dtype == DType::kBFloat16) return {1.6e-2, 8e-3};
  return asked;
}

Tolerance tolerance_for(std::span<const DType> precisions, std::size_t output,
                        const Tolerance& asked) noexcept {
  return output < precisions.size() ? tolerance_for(precisions[output], asked) : asked;
}

Tolerance exact_unless_rounded(DType dtype, const Tolerance& asked) noexcept {
  return is_floating_point(dtype) || is_complex(dtype) ? asked : kExact;
}

std::string to_string(const Tolerance& tolerance) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "rtol=%g, atol=%g", tolerance.rtol, tolerance.atol);
  return text.data();
}

}  // namespace leapp
