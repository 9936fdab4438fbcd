// Rotations as operators.
#pragma once

#include <string>

#include "import/node_writer.h"

namespace leapp::importing {

/// Returns the [3, 3] rotation matrix of a unit quaternion w, x, y, z of shape [1, 4]. It
/// transforms column vectors from the body's frame to the world's.
std::string rotation_of(NodeWriter& writer, const std::string& quaternion);

}  // namespace leapp::importing
