// Beginning and ending passes of nodes.
#pragma once

#include <string>
#include <vector>

#include "session/session_data.h"

namespace leapp::session {

/// Begins a pass of the node if none is open. If a line declares an input a second time, drops the
/// pass that the line began before, with a warning, and begins a new one, because an exception must
/// have interrupted it. Returns whether a pass was begun.
bool begin_pass_if_needed(SessionData& data, SessionNode& node, const NamedTensors& inputs,
                          trace::FrameRef frame);

/// Ends the pass, if one is open; its tensors then are ordinary tensors. Returns the tensors that
/// it computed and the program still holds, if the pass was recorded.
std::vector<at::Tensor> end_pass(SessionData& data, SessionNode& node);

/// Drops the pass, if one is open, for example after an exception in the user's code.
void drop_pass(SessionData& data, SessionNode& node);

/// Returns whether the variable depends on external memory that the open pass wrote to, such as a
/// counter.
bool depends_on_state(const OpenTape& tape, const SessionNode& node, VarId var);

/// Records that a variable became a number or decided a branch. Warns if `owner`, the node that
/// computed it, is open. Otherwise the recorded passes store it, for a warning if the value varies.
void note_escape(SessionData& data, VarId var, NodeId owner, trace::FrameRef frame, Code code,
                 const std::string& text);

}  // namespace leapp::session
