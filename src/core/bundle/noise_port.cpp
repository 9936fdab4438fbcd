#include "bundle/noise_port.h"

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/utf8.h"
#include "bundle/metadata_reader.h"

namespace leapp {
namespace {

constexpr std::string_view kKey = "noise";  // also the kind
constexpr std::string_view kDistribution = "distribution";
constexpr std::array<std::pair<std::string_view, NoiseDistribution>, 3> kDistributions = {
    {{"uniform", NoiseDistribution::kUniform},
     {"normal", NoiseDistribution::kNormal},
     {"exponential", NoiseDistribution::kExponential}}};

std::optional<NoiseDistribution> find_distribution(const Port& input) {
  const Metadata* const noise = find_key(input.semantics.extra, kKey);
  const auto* const map = noise != nullptr ? std::get_if<Metadata::Map>(&noise->value) : nullptr;
  if (map == nullptr || !has_only(*map, {kDistribution})) return std::nullopt;
  const Metadata* const name = find_key(*map, kDistribution);
  const std::optional<std::string> text = name != nullptr ? as_text(*name) : std::nullopt;
  for (const auto& [known, distribution] : kDistributions) {
    if (text == known) return distribution;
  }
  return std::nullopt;
}

}  // namespace

bool is_noise(const Port& input) {
  return input.semantics.kind == kKey && find_key(input.semantics.extra, kKey) != nullptr;
}

std::string find_noise_fault(const Port& input) {  // B44
  if (!is_noise(input)) return {};
  if (!find_distribution(input)) {
    return "the input " + quote_for_message(input.name) +
           " of kind noise must have the field noise: {distribution: normal}, or uniform, or "
           "exponential; no other distribution and no other key is known";
  }
  if (input.dtype != DType::kFloat32) {
    return "the noise port " + quote_for_message(input.name) + " is " +
           std::string(name_of(input.dtype)) + "; noise is float32";
  }
  return {};
}

NoiseDistribution distribution_of(const Port& input) {
  const std::optional<NoiseDistribution> distribution = find_distribution(input);
  demand(distribution.has_value(), "a noise port has no distribution");
  return *distribution;
}

void make_noise(Port& input, NoiseDistribution distribution) {
  input.semantics.kind = std::string(kKey);
  for (const auto& [name, known] : kDistributions) {
    if (known != distribution) continue;
    set_key(input.semantics.extra, kKey,
            {Metadata::Map{{std::string(kDistribution), {std::string(name)}}}});
  }
}

std::vector<PortIndex> noise_ports(const Bundle& bundle) {
  std::vector<PortIndex> ports;
  for (std::size_t node = 0; node < bundle.models.size(); ++node) {
    const std::vector<Port>& inputs = bundle.models[node].inputs;
    for (std::size_t port = 0; port < inputs.size(); ++port) {
      if (is_noise(inputs[port])) ports.push_back({node, port});
    }
  }
  return ports;
}

}  // namespace leapp
