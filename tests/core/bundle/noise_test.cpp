#include "bundle/noise.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace leapp {
namespace {

using Counter = std::array<std::uint32_t, 4>;

std::vector<float> draw(NoiseDistribution distribution, const NoiseDraw& draw, std::size_t count) {
  std::vector<float> elements(count);
  fill_noise(distribution, draw, elements);
  return elements;
}

const std::map<std::string, NoiseDistribution> kDistributions = {
    {"uniform", NoiseDistribution::kUniform},
    {"normal", NoiseDistribution::kNormal},
    {"exponential", NoiseDistribution::kExponential}};

// The vectors of Random123, the generator's own library.
TEST(Noise, PhiloxKnownAnswers) {
  EXPECT_EQ(philox4x32_10({0, 0, 0, 0}, {0, 0}),
            (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      philox4x32_10({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Noise, b45_EqualsTheVectorsBitForBit) {
  std::ifstream file(std::string(LEAPP_TEST_DATA) + "/noise_vectors.txt");
  int vectors = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string distribution;
    NoiseDraw key;
    words >> distribution >> key.seed >> key.port >> key.number;
    std::vector<std::uint32_t> expected;
    for (std::string bits; words >> bits;) {
      expected.push_back(static_cast<std::uint32_t>(std::stoul(bits, nullptr, 16)));
    }
    std::vector<std::uint32_t> computed;
    for (const float element : draw(kDistributions.at(distribution), key, expected.size())) {
      computed.push_back(std::bit_cast<std::uint32_t>(element));
    }
    EXPECT_EQ(computed, expected) << line;
    ++vectors;
  }
  EXPECT_EQ(vectors, 24);
}

TEST(Noise, b45_HasTheMomentsOfItsDistribution) {
  struct Moments {
    double mean = 0, square = 0, fourth = 0;
  };
  const auto moments = [](NoiseDistribution distribution) {
    constexpr std::size_t kCount = 1 << 20;
    Moments sums;
    for (const double x : draw(distribution, {.seed = 5}, kCount)) {
      sums.mean += x / kCount;
      sums.square += x * x / kCount;
      sums.fourth += x * x * x * x / kCount;
    }
    return sums;
  };
  const Moments normal = moments(NoiseDistribution::kNormal);
  EXPECT_NEAR(normal.mean, 0, 5e-3);  // five standard errors
  EXPECT_NEAR(normal.square, 1, 7e-3);
  EXPECT_NEAR(normal.fourth, 3, 5e-2);
  const Moments uniform = moments(NoiseDistribution::kUniform);
  EXPECT_NEAR(uniform.mean, 1.0 / 2, 1.5e-3);
  EXPECT_NEAR(uniform.square, 1.0 / 3, 1.5e-3);
  const Moments exponential = moments(NoiseDistribution::kExponential);
  EXPECT_NEAR(exponential.mean, 1, 5e-3);
  EXPECT_NEAR(exponential.square, 2, 2.2e-2);
}

TEST(Noise, b45_DiffersBetweenSeedsPortsAndDraws) {
  const auto normals = [](const NoiseDraw& key) {
    return draw(NoiseDistribution::kNormal, key, 9);
  };
  const std::vector<float> base = normals({});
  EXPECT_EQ(base, normals({}));
  EXPECT_NE(base, normals({.seed = std::uint64_t{1} << 32}));
  EXPECT_NE(base, normals({.port = 1}));
  EXPECT_NE(base, normals({.number = std::uint64_t{1} << 32}));
}

TEST(Noise, WritesNothingBeyondTheElements) {
  std::vector<float> elements(6, 7.0F);
  fill_noise(NoiseDistribution::kUniform, {}, std::span(elements).first(5));
  EXPECT_EQ(elements[5], 7.0F);
  fill_noise(NoiseDistribution::kUniform, {}, {});
}

}  // namespace
}  // namespace leapp
