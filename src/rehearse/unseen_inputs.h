// Inputs with which a node was not traced, derived from the traced ones.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace leapp::rehearse {

/// Types of untraced inputs.
enum class Unseen : std::uint8_t {
  kInRange,   ///< random values between the smallest and the largest traced value
  kScaled,    ///< three times the magnitude
  kPermuted,  ///< the same values, permuted
  kFlipped,   ///< the opposite sign
  kZeros,
  kExtreme,  ///< the largest and smallest numbers of the type
};

/// All kinds with their names, for messages.
inline constexpr std::array<std::pair<Unseen, std::string_view>, 6> kUnseenKinds = {{
    {Unseen::kInRange, "drawn from the traced range"},
    {Unseen::kFlipped, "sign-flipped"},
    {Unseen::kZeros, "zeros"},
    {Unseen::kScaled, "three times as large"},
    {Unseen::kPermuted, "permuted"},
    {Unseen::kExtreme, "extremes of their type"},
}};

/// Returns a tensor like the traced ones of one input, which are all defined. Integers and bools
/// stay in the traced range, because they may be indices, and are only drawn again or permuted.
/// Uses only the generator `random`.
at::Tensor make_unseen(Unseen kind, const std::vector<at::Tensor>& traced, at::Generator& random);

/// Returns the tensor with every element changed by a few ulps; tensors that are not floating-point
/// are unchanged.
at::Tensor nudged(const at::Tensor& tensor, at::Generator& random);

/// Returns the tensor with floating-point numbers limited to the range -1000 to 1000.
at::Tensor limit_magnitude(const at::Tensor& tensor);

}  // namespace leapp::rehearse
