// Ports as described by annotations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "leapp/leapp.h"
#include "session/message_queue.h"
#include "session/record/node.h"

namespace leapp::session {

/// Returns the port of one entry of a payload. Throws PlacedError for an invalid name or extra key,
/// or for a tensor without dense elements.
NodePort describe(const TensorSemantics& entry);

/// Returns "'h' float32 [1, 4]".
std::string describe(const NodePort& port);

/// Returns the port of the node's first pass that a later pass names again; `side` is "input",
/// "output" or "state". Throws PlacedError if its type or shape differ; warns if its semantics do.
NodePort& match_port(const Node& node, std::vector<NodePort>& ports, const NodePort& port,
                     const char* side, MessageQueue& messages, trace::FrameRef frame);

/// Returns the value of an integer or bool with one element, if it can be read without waiting for
/// a device.
std::optional<std::int64_t> number_of(const at::Tensor& tensor);

/// Returns the tensors of a payload, in order.
std::vector<at::Tensor> tensors_of(const NamedTensors& entries);

}  // namespace leapp::session
