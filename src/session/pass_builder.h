// Converts an open pass to its record.
#pragma once

#include "session/session_data.h"

namespace leapp::session {

/// Returns the record of the node's open pass, with copies of its outputs, the memory that it used
/// and the external tensors that it read. Throws PlacedError if an output belongs to another node
/// or depends on no input.
Pass build_pass(SessionData& data, SessionNode& node, const NamedTensors& tensors,
                const OutputOptions& options);

}  // namespace leapp::session
