// A value that a node keeps from one tick to the next, in one class for every kind of state.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "leapp/trace/diagnostic.h"
#include "session/record/node.h"

namespace leapp::state {

using session::Node;
using session::NodeId;
using session::NodePort;
using session::Pass;
using session::PortId;
using trace::kNoId;
using trace::StateSlot;
using trace::VarId;

/// One state of one node.
struct State {
  enum class Origin {
    kExplicit,  ///< state_tensors() with an update: always state, whatever the data flow
    kDeclared,  ///< module() or register_buffer(), changed by the pass
    kWritten,   ///< external memory that the pass writes to
    kShared,    ///< external memory that another node writes, or reads after this one wrote it
    kCarried,   ///< a tensor that later passes replace by a value of the previous pass
    kDelayed,   ///< an output of several ticks ago, kept until an input receives it
    kFlag,      ///< true in the first tick only
  };
  /// Values before and after a pass; undefined if unknown.
  struct Values {
    at::Tensor before;
    at::Tensor after;
  };
  /// The origin of its value, if another node provides it.
  struct Feed {
    NodeId node = kNoId;
    std::string output = {};                ///< an output of that node; or
    std::optional<std::size_t> state = {};  ///< the index of one of its states

    bool operator==(const Feed&) const = default;
  };

  Origin origin = Origin::kWritten;
  StateSlot slot = {};                ///< how the exported pass reads and updates it
  std::optional<Feed> fed_by = {};    ///< nullopt: its own value after the previous tick
  std::vector<Values> per_pass = {};  ///< one for each recorded pass
};

/// State of one node, as shown by its passes.
struct NodeStates {
  const Node* node = nullptr;
  /// Index of the exported pass: the first, or the second if the first tick differs.
  std::size_t base = 0;
  std::vector<State> states = {};
  /// Reads and writes of each state in the first pass, if the first tick differs; otherwise empty.
  std::vector<StateSlot> opening = {};
  /// Memory that is new in every pass: a constant, although it is written to.
  std::vector<VarId> renewed = {};
  /// Inputs that receive the output of a state, by its index: the last link of a delay.
  std::map<std::string, std::size_t> received = {};
  /// Differences between later passes and the first; the first one is then exported.
  std::vector<Diagnostic> differences = {};

  const Pass& exported() const { return node->passes[base]; }
  /// Returns the first variable as which the exported pass reads the state; kNoId if it does not
  /// read it.
  VarId read_as(const State& state) const;
};

/// Warnings about the program, in addition to the result.
using Findings = std::vector<Diagnostic>;

/// Returns the state in memory that a pass reads as the variable, or nullptr.
State* find_state(std::vector<State>& states, VarId before);

/// Returns the slots of some states, in order.
std::vector<StateSlot> slots_of(const std::vector<State>& states);

/// Returns the exported pass with the calls that compute its outputs and its states.
trace::Recording recording_of(const NodeStates& states);

/// Returns `wish`, or a similar name that is not a port of the node or one of these states.
std::string unused_name(const Node& node, const std::vector<State>& states,
                        const std::string& wish);

}  // namespace leapp::state
