// Random draws inside a node as noise inputs: StartOptions::noise.
//
// The program's own call draws the numbers, so its values and its generators are those of the
// untraced program. The draw is recorded as arithmetic over standard numbers, which become an input
// of the node. So the exported model needs no random operator, and the traced numbers validate it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <vector>

#include "session/draw_forms.h"
#include "session/session_lock.h"

namespace leapp::session {

/// Returns whether a random call is recorded by its parts, because it is a composite operator, such
/// as dropout(), and a node of this thread draws noise. Reports dropout. Call it without a lock.
bool draws_in_parts(Session& session, const c10::OperatorHandle& op);

/// Records a call that drew random numbers as operators over noise of the node, or of the only open
/// node of this thread if `node` is kNoId. Returns the tensors that have the values of
/// draw.targets, in the same order. Returns none if StartOptions::noise leaves draws in the model,
/// if no single node is open, or if noise cannot express this draw. With Noise::kZero, it also
/// replaces the drawn numbers. Call it without a lock and with the recorder installed.
std::vector<at::Tensor> record_as_noise(Session& session, const Draw& draw, NodeId node);

/// Completes a pass that drew less often than the node's first pass: its other noise inputs are
/// zero.
void supply_missing_noise(SessionData& data, SessionNode& node);

}  // namespace leapp::session
