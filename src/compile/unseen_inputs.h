// Inputs that a node was never traced with, made out of those that it was.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace leapp::compile {

/// How they are made.
enum class Unseen : std::uint8_t {
  kInRange,   ///< anything between the least and the greatest value that was traced
  kScaled,    ///< three times as large
  kPermuted,  ///< the same values at other places
  kFlipped,   ///< of the other sign
  kZeros,
  kExtreme,  ///< the greatest and the least number that the type has
};

inline constexpr std::array kUnseenKinds = {Unseen::kInRange, Unseen::kFlipped,  Unseen::kZeros,
                                            Unseen::kScaled,  Unseen::kPermuted, Unseen::kExtreme};

/// For messages: "sign-flipped".
std::string_view name_of(Unseen kind) noexcept;

/// A tensor like those that one input held in the passes, none of them undefined. Integers and
/// truth values stay within what was traced, for they may be indices, and are only drawn anew or
/// permuted. Draws from `random` alone.
at::Tensor make_unseen(Unseen kind, const std::vector<at::Tensor>& traced, at::Generator& random);

/// The tensor with every element a few steps of its type away; others than floating-point ones as
/// they are.
at::Tensor nudged(const at::Tensor& tensor, at::Generator& random);

/// The tensor with floating-point numbers cut to a thousand at most, either way: large for an.
at::Tensor merely_large(const at::Tensor& tensor);

}  // namespace leapp::compile
