// Beginning and ending the passes of nodes.
#pragma once

#include <string>
#include <vector>

#include "session/session_data.h"

namespace leapp::session {

/// Begins a pass of the node if none is under way. A line that gives an input a second time also
/// begins a new pass: the pass that it began before is dropped, with a warning, because an
/// exception must have interrupted it. Returns whether a pass was begun.
bool begin_pass_if_needed(SessionData& data, SessionNode& node, const NamedTensors& inputs,
                          trace::FrameRef frame);

/// Ends the pass, if one is under way: its tensors are ordinary tensors afterwards. Returns the
/// tensors that it computed and the program still holds, if the pass was recorded.
std::vector<at::Tensor> end_pass(SessionData& data, SessionNode& node);

/// Drops the pass, if one is under way, for example after an exception in the user's code.
void drop_pass(SessionData& data, SessionNode& node);

/// Returns whether the variable depends on memory from outside that the open pass wrote to, such as
/// a counter.
bool depends_on_state(const OpenTape& tape, const SessionNode& node, VarId var);

/// Notes that a variable became a number or decided a branch. Warns if `owner`, the node that
/// computed it, is open; otherwise the recorded passes keep it, in case the value turns out to
/// vary.
void note_escape(SessionData& data, VarId var, NodeId owner, trace::FrameRef frame, Code code,
                 const std::string& text);

}  // namespace leapp::session
