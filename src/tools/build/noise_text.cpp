#include "build/noise_text.h"

#include "bundle/noise_port.h"

namespace leapp {
namespace {

const char* function_of(NoiseDistribution distribution) {
  switch (distribution) {
    case NoiseDistribution::kUniform:
      return "uniform_from";
    case NoiseDistribution::kNormal:
      return "normal_from";
    default:
      return "exponential_from";
  }
}

}  // namespace

std::string NoiseText::declarations(const std::string& ports) const {
  return "  // Noise. tick() draws its numbers.\n" + ports +
         "  /// Sets the seed from the next tick on: equal seeds give equal numbers. It is 0 at "
         "first.\n"
         "  void set_noise_seed(std::uint64_t seed) noexcept;\n"
         "  /// Sets whether tick() draws noise, as at first, or uses what was written to it.\n"
         "  void set_draws_noise(bool draws) noexcept;\n\n";
}

std::string NoiseText::variables() const {
  return R"(std::uint64_t noise_seed = 0;
bool draws_noise = true;

template <typename NumberFrom>
void draw(NumberFrom number_from, std::uint32_t port, std::int64_t number,
          std::span<float> elements) {
  if (!draws_noise) return;
  leapp::noise_generator::fill(number_from, noise_seed, port, static_cast<std::uint64_t>(number),
                               elements);
}

)";
}

std::string NoiseText::definitions() const {
  return "void Policy::set_noise_seed(std::uint64_t seed) noexcept {\n  noise_seed = seed;\n}\n"
         "void Policy::set_draws_noise(bool draws) noexcept {\n  draws_noise = draws;\n}\n";
}

std::string NoiseText::draws(std::size_t node, const std::vector<std::string>& members,
                             const std::string& number, const std::string& indent) const {
  std::string text;
  const std::vector<PortIndex> ports = noise_ports(bundle_);
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].node != node) continue;
    const Port& port = bundle_.models[node].inputs[ports[i].port];
    text += indent + "draw(leapp::noise_generator::" + function_of(distribution_of(port)) + ", " +
            std::to_string(i) + ", " + number + ", {buffers." + members[ports[i].port] + ", " +
            std::to_string(element_count(port.shape)) + "});\n";
  }
  return text;
}

}  // namespace leapp
