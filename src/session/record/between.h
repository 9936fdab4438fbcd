// Operators between nodes, kept so that they can become part of a node.
//
// Between two nodes, a program may slice, scale or join a value. The value and the pass that
// receives it store those calls. A route contains everything that is needed to run it again.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "session/record/port_id.h"
#include "trace/source.h"

namespace leapp::session {

struct BetweenCall;

/// The origin of a value: an output of a node, or a result of a call between nodes.
struct Route {
  PortId port;  ///< the output, or one of the outputs that the call depends on
  std::shared_ptr<const BetweenCall> call = {};
  std::size_t result = 0;  ///< index among the returned tensors
};

struct BetweenCall {
  c10::OperatorHandle op;
  trace::FrameRef where;
  std::vector<c10::IValue> arguments;  ///< a tensor with a route is replaced by a placeholder
  std::vector<std::optional<Route>>
      routes;                     ///< origins of the tensor arguments; nullopt: a constant
  std::map<NodeId, int> passes;   ///< the pass of each node whose outputs it uses
  std::size_t calls = 1;          ///< this call and its predecessors
  bool reads_constants = false;   ///< true if this call or a predecessor does
  std::set<PortId> sources = {};  ///< outputs that it depends on
};

/// An operator between nodes and the user's line.
struct Detour {
  std::string op;
  trace::FrameRef frame;
};

/// A value that an input, or an undeclared read, received through calls between nodes.
struct Between {
  std::string input;            ///< "" if it was undeclared
  std::vector<Detour> detours;  ///< the first calls of its route
  Route route;
  trace::FrameRef received_at;
  std::map<NodeId, int> completed;  ///< completed passes of each node at that time
};

}  // namespace leapp::session
