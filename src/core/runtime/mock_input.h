// Mock values for ports.
#pragma once

#include <random>

#include "leapp/bundle.h"
#include "leapp/tensor.h"
#include "leapp/visibility.h"

namespace leapp {

/// Returns normally distributed numbers, ones for integers, random bools.
LEAPP_EXPORT Tensor mock_value(const Port& port, std::mt19937& random);

}  // namespace leapp
