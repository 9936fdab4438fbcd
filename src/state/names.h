// Paths of the program's tensors, for messages and for the names of states.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>

#include "leapp/trace/diagnostic.h"
#include "trace/recording.h"

namespace leapp::state {

/// The path of a tensor in the program, such as "env.scene['imu'].data", or "".
using Paths = std::function<std::string(const at::Tensor&)>;

/// Returns a path as the name of a port: "env.action_manager.action" is "action_manager_action".
std::string identifier_of(const std::string& path);

/// Returns "aten::cat reads a tensor of shape [3] ('env.scene['imu'].data', the third of its
/// tensors)".
std::string describe_read(const trace::Tape& tape, const trace::Site& site, const at::Tensor& read,
                          const Paths& paths);

/// Returns " ('env.scene['imu'].data', the third of its tensors)", or the known part of it.
std::string describe_argument(const trace::Tape& tape, const trace::Site& site, const Paths& paths);

/// Returns a diagnostic about a line of the program.
Diagnostic finding(Code code, LogLevel level, const ir::SourceLocation& where,
                   const std::string& node, std::string text);
Diagnostic warning(Code code, trace::FrameRef where, const std::string& node, std::string text);

}  // namespace leapp::state
