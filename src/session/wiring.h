// Finds out which output an input receives.
#pragma once

#include "session/session_data.h"

namespace leapp::session {

/// Connects an input of the open pass to the output that its tensor is, if it is one. Returns what
/// the input received. Warns if the tensor came from a node in a form that cannot be connected.
/// Throws PlacedError if the input had another source in an earlier pass, unless one of the two is
/// the node itself, or if the tensor belongs to a node that is still open.
NodeRun::Input connect(SessionData& data, SessionNode& node, NodePort& port,
                       const at::Tensor& tensor, trace::FrameRef frame);

/// Gives `target` the tag and the value of `source`, after a copy that no operator made. Throws
/// PlacedError if their elements differ.
void mirror_tags(SessionData& data, const at::Tensor& source, const at::Tensor& target);

}  // namespace leapp::session
