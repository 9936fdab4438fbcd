// Follows the outputs of nodes through operators outside of nodes.
#pragma once

#include <memory>
#include <string>

#include "session/seen_call.h"
#include "session/session_data.h"

namespace leapp::session {

/// Returns a copy of the call that can be replayed, or nullptr if it, or a call that leads to it,
/// cannot be replayed.
std::shared_ptr<const BetweenCall> copy_if_replayable(const SessionData& data,
                                                      const SeenCall& call);

/// Gives the results of a call outside of nodes the tag of an argument. `copy` is the replayable
/// copy of the call, or nullptr.
void propagate_tag(TagTable& tags, const SeenCall& call, const TagRef& tag,
                   const std::shared_ptr<const BetweenCall>& copy);

/// Returns the tag with the tensor's shape: adds a reshape to its route if the shape of the tagged
/// value is another.
TagRef with_shape_of(const at::Tensor& tensor, const TagRef& tag, trace::FrameRef frame);

/// Describes how a value with that tag came to an input.
Between make_between(const NodeTable& nodes, const std::string& input, const Tag& tag,
                     trace::FrameRef frame);

}  // namespace leapp::session
