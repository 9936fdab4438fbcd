// Random draws inside a node as noise inputs: StartOptions::noise.
//
// Each draw becomes operators over standard normal or uniform numbers, which are recorded as usual,
// and these numbers become an input of the node. So the exported model needs no random operator,
// and the traced numbers validate it.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "session/session_lock.h"

namespace leapp::session {

/// Runs a call that draws random numbers as operators over noise, and leaves its results on the
/// stack. Does nothing and returns false if StartOptions::noise leaves draws in the model, if not
/// exactly one node of this thread has a recorded pass open, or if the operator has no such form.
/// Call it without a lock and with the recorder installed.
bool draw_as_noise(Session& session, const c10::OperatorHandle& op, torch::jit::Stack* stack);

/// Completes a pass that drew less often than the node's first pass: its other noise inputs are
/// zero.
void supply_missing_noise(SessionData& data, SessionNode& node);

}  // namespace leapp::session
