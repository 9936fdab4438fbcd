// Inputs that a node was never traced with, made out of those that it was.
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
  kInRange,   ///< anything between the least and the greatest value that was traced
  kScaled,    ///< three times as large
  kPermuted,  ///< the same values at other places
  kFlipped,   ///< of the other sign
  kZeros,
  kExtreme,  ///< the greatest and the least number that the type has
};

/// Each with its name, for messages.
inline constexpr std::array<std::pair<Unseen, std::string_view>, 6> kUnseenKinds = {{
    {Unseen::kInRange, "drawn from the traced range"},
    {Unseen::kFlipped, "sign-flipped"},
    {Unseen::kZeros, "zeros"},
    {Unseen::kScaled, "three times as large"},
    {Unseen::kPermuted, "permuted"},
    {Unseen::kExtreme, "extremes of their type"},
}};

/// Returns a tensor like those that one input held in the passes, none of them undefined. Integers
/// and bools stay in the traced range, because they may be indices, and are only drawn again or
/// permuted. Draws from `random` alone.
at::Tensor make_unseen(Unseen kind, const std::vector<at::Tensor>& traced, at::Generator& random);

/// Returns the tensor with every element a few steps of its type away; others than floating-point
/// ones as they are.
at::Tensor nudged(const at::Tensor& tensor, at::Generator& random);

/// Returns the tensor with floating-point numbers cut to a thousand at most, either way.
at::Tensor merely_large(const at::Tensor& tensor);

}  // namespace leapp::rehearse
