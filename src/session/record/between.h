// Computing between nodes, kept so that it can become part of one.
//
// A value on its way from one node to the next may be sliced, scaled or joined with others, in no
// node. The calls that do so are kept with the value, and with the pass that receives it. They are
// values: whoever holds a route holds all that it takes to run it again.
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

/// Where a value comes from: an output of a node, or a result of a call between nodes.
struct Route {
  PortId port;  ///< the output, or one of those that the call comes from
  std::shared_ptr<const BetweenCall> call = {};
  std::size_t result = 0;  ///< among the tensors that the call returns
};

struct BetweenCall {
  c10::OperatorHandle op;
  trace::FrameRef where;
  std::vector<c10::IValue> arguments;        ///< with any tensor in place of one that has a route
  std::vector<std::optional<Route>> routes;  ///< of the tensors among them; nullopt: a constant
  std::map<NodeId, int> passes;   ///< the passes that put out what it works on: one of each node
  std::size_t calls = 1;          ///< it and those that lead to it
  bool reads_constants = false;   ///< it, or one that leads to it
  std::set<PortId> sources = {};  ///< the outputs that it works on, also through those
};

/// An operator by its name, and its line.
struct Detour {
  std::string op;
  trace::FrameRef frame;
};

/// What an input, or a read of something undeclared, received through calls between nodes.
struct Between {
  std::string input;            ///< "" where it was undeclared
  std::vector<Detour> detours;  ///< the first of the calls on its way
  Route route;
  trace::FrameRef received_at;
  std::map<NodeId, int> completed;  ///< passes that each of the nodes had completed by then
};

}  // namespace leapp::session
