// Completes a pass with its outputs.
#pragma once

#include "session/session_data.h"

namespace leapp::session {

/// Returns the outputs that no node computed and that depend on no known state. They may depend on
/// state that only later passes show.
NamedTensors find_independent_outputs(const SessionData& data, const SessionNode& node,
                                      const NamedTensors& tensors);

/// Records the open pass with these outputs, tags them, and ends the pass. Throws PlacedError, and
/// leaves the pass open, if an output is wrong.
void complete_pass(SessionData& data, SessionNode& node, const NamedTensors& tensors,
                   const OutputOptions& options, trace::FrameRef frame);

/// Records the open pass as the played one, and ends it in the same way.
void complete_played(SessionData& data, SessionNode& node, const NamedTensors& tensors,
                     const OutputOptions& options, PlayedPass played, trace::FrameRef frame);

}  // namespace leapp::session
