// A port of a node, identified by the node's id in its session.
#pragma once

#include <compare>
#include <string>

#include "trace/tape.h"

namespace leapp::session {

using trace::kNoId;
using trace::NodeId;
using trace::VarId;

/// "pre/features".
struct PortId {
  NodeId node = kNoId;
  std::string port;

  auto operator<=>(const PortId&) const = default;
};

}  // namespace leapp::session
