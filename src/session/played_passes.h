// Passes that output results of earlier ones: session/record/played_pass.h.
#pragma once

#include <optional>

#include "session/session_data.h"

namespace leapp::session {

/// Returns the record of the open pass if its outputs are results of the node's last computing
/// pass, and depend on nothing else that changes. It may be completed with complete_played().
std::optional<PlayedPass> find_played(SessionData& data, const SessionNode& node,
                                      const NamedTensors& tensors, const OutputOptions& options);

/// Returns whether later passes of the node are recorded only to see which of them are played.
bool has_enough_passes(const SessionData& data, const SessionNode& node);

}  // namespace leapp::session
