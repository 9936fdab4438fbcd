#include "bundle/noise.h"

#include "bundle/noise_generator.h"

namespace leapp {

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                           std::array<std::uint32_t, 2> key) noexcept {
  return noise_generator::philox4x32_10(counter, key);
}

void fill_noise(NoiseDistribution distribution, const NoiseDraw& draw,
                std::span<float> elements) noexcept {
  const auto fill = [&](auto number_from) {
    noise_generator::fill(number_from, draw.seed, draw.port, draw.number, elements);
  };
  switch (distribution) {
    case NoiseDistribution::kUniform:
      return fill(noise_generator::uniform_from);
    case NoiseDistribution::kNormal:
      return fill(noise_generator::normal_from);
    case NoiseDistribution::kExponential:
      return fill(noise_generator::exponential_from);
  }
}

}  // namespace leapp
