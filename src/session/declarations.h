// Declarations of inputs, states and buffers in an open pass.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "session/session_data.h"

namespace leapp::session {

/// All functions throw PlacedError if a declaration is wrong, and return the tensors to compute
/// with, in order.

struct AddedInputs {
  std::vector<at::Tensor> handles;
  int begun_pass = 0;  ///< number of the pass that the call began, from 1; 0 if it began none
};
/// Creates the node if there is none of that name, and begins its pass if none is open.
AddedInputs add_inputs(SessionData& data, const std::string& node, const NamedTensors& tensors,
                       trace::FrameRef frame);

std::vector<at::Tensor> add_states(SessionData& data, SessionNode& node,
                                   const NamedTensors& tensors, trace::FrameRef frame);

/// Gives a declared state its value for the next pass.
void set_state(SessionData& data, SessionNode& node, const TensorSemantics& entry);

/// Adds buffers. `current` returns their tensors when the pass ends; if it is empty they stay the
/// same.
std::vector<at::Tensor> add_buffers(SessionData& data, SessionNode& node,
                                    const NamedTensors& buffers,
                                    const std::function<std::vector<at::Tensor>()>& current);

}  // namespace leapp::session
