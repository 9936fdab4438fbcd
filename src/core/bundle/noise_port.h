// Noise ports: inputs that the runtime fills with random numbers. B44 of docs/reference/bundle.md;
// noise.h has the generator.
#pragma once

#include <string>
#include <vector>

#include "bundle/noise.h"
#include "bundle/port_index.h"
#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Returns whether the runtime fills this input: its kind is `noise`, and it has the key `noise`.
/// Without this key, it is an input that the caller supplies.
LEAPP_EXPORT bool is_noise(const Port& input);

/// Returns the fault of a noise port as the end of a sentence, or an empty string: B44.
LEAPP_EXPORT std::string find_noise_fault(const Port& input);

/// Returns the distribution of a noise port without fault.
LEAPP_EXPORT NoiseDistribution distribution_of(const Port& input);

/// Makes a noise port of an input.
LEAPP_EXPORT void make_noise(Port& input, NoiseDistribution distribution);

/// Returns all noise ports of a bundle: models in their order, then inputs. The position in this
/// list is NoiseDraw::port.
LEAPP_EXPORT std::vector<PortIndex> noise_ports(const Bundle& bundle);

}  // namespace leapp
