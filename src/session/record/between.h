// Operators between nodes, kept so that they can become part of a node.
//
// Between two nodes, a program may slice, scale or join a value. Those calls are kept with the
// value and with the pass that receives it. A route holds everything that is needed to run it
// again.
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
  PortId port;  ///< the output, or one of those that the call depends on
  std::shared_ptr<const BetweenCall> call = {};
  std::size_t result = 0;  ///< among the tensors that the call returns
};

struct BetweenCall {
  c10::OperatorHandle op;
  trace::FrameRef where;
  std::vector<c10::IValue> arguments;  ///< a placeholder stands for a tensor that has a route
  std::vector<std::optional<Route>>
      routes;                     ///< of the tensors among the arguments; nullopt: a constant
  std::map<NodeId, int> passes;   ///< the pass of each node whose outputs it uses
  std::size_t calls = 1;          ///< this call and those that lead to it
  bool reads_constants = false;   ///< this call or one that leads to it does
  std::set<PortId> sources = {};  ///< the outputs that it depends on
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
  std::map<NodeId, int> completed;  ///< passes that each node had completed then
};

}  // namespace leapp::session
