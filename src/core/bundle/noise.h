// The generator of noise ports, rule B45 of docs/reference/bundle.md: Philox4x32-10, a
// counter-based generator, and the uniform, normal and
// exponential numbers of its words.
//
// A number depends only on the seed, the port, the draw and the index of the element, so no state
// is kept. Every machine computes the same bits: there are only integers, correctly rounded
// operations
// (+, -, *, /, sqrt) and explicit fma, and no product that a compiler may fuse into a sum. The test
// vectors are in tests/data/noise_vectors.txt.
//
// No function allocates, locks or throws. Any thread may call them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "leapp/visibility.h"

namespace leapp {

/// Distribution of a noise port.
enum class NoiseDistribution : std::uint8_t {
  kUniform,      ///< multiples of 2^-24 in [0, 1)
  kNormal,       ///< mean 0, standard deviation 1; at most 5.42 in magnitude
  kExponential,  ///< mean 1; from 2^-25 to 17.33
};

/// One draw: all elements of one noise port in one run of its node.
struct NoiseDraw {
  std::uint64_t seed = 0;
  std::uint32_t port = 0;    ///< position among the noise ports of the bundle
  std::uint64_t number = 0;  ///< number of the run
};

/// Returns the four random words of a counter under a key (Salmon et al., "Parallel random numbers:
/// as easy as 1, 2, 3", 2011).
LEAPP_EXPORT std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                                        std::array<std::uint32_t, 2> key) noexcept;

/// Writes the elements of a draw. There are at most 2^34.
LEAPP_EXPORT void fill_noise(NoiseDistribution distribution, const NoiseDraw& draw,
                             std::span<float> elements) noexcept;

}  // namespace leapp
