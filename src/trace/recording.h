// What one pass of a node did: the part of a tape that its outputs and its state depend on.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "trace/tape.h"

namespace leapp::trace {

/// Memory that outlives the pass and that the pass may change.
struct StateCandidate {
  enum class Kind {
    kExplicit,  ///< state_tensors with an update: state, whatever the data flow says
    kDeclared,  ///< module or register_buffer, changed by the pass
    kFound,     ///< memory from outside that the pass writes to
    kShared,    ///< memory from outside that another node writes to, or reads after this one wrote
    kCarried,   ///< a tensor that later passes replace by a value of the pass before
  };
  Kind kind = Kind::kFound;
  std::string name;
  VarId before = kNobody;  ///< the variable as the pass found it
  VarId after = kNobody;  ///< the variable that holds its value when the pass ends; shared: kNobody
                          ///< when the pass only reads it
  bool fed = false;       ///< its value comes from another node, not from this one's last pass
};

struct Recording {
  struct Port {
    std::string name;
    VarId var = kNobody;
  };
  struct Constant {
    std::string name;
    at::Tensor value;
  };
  /// A value that depends on no input and left the graph, as a number or a choice of branch.
  struct Escape {
    VarId var = kNobody;
    FrameRef where;
    std::string text;       ///< what to say should it turn out to change
    std::int32_t call = 0;  ///< number of calls before it, on the tape
  };

  std::shared_ptr<Tape> tape;
  std::int32_t first_call = 0;      ///< of the pass, on the tape
  std::int32_t end_call = 0;        ///< one past its last
  std::vector<std::int32_t> calls;  ///< indices into the tape, ascending
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Constant> static_outputs;  ///< outputs that are constants, after the others
  std::vector<StateCandidate> states;
  std::vector<Escape> escapes;
};

/// The backward slice of `roots`: the calls that produced what they depend on, and every write to
/// memory that is read later. Conservative: what is superfluous is dead code in the pure graph.
std::vector<std::int32_t> slice(const Tape& tape, const std::vector<VarId>& roots);

/// Whether the value of `var` depends on one that `asked` is true for, or is one.
bool depends_on(const Tape& tape, VarId var, const std::function<bool(VarId)>& asked);

/// Whether it depends on an input of a node, or is one.
bool depends_on_inputs(const Tape& tape, VarId var);

/// What a pass is recorded for: its outputs, and what its states are when it ends.
std::vector<VarId> roots_of(const Recording& recording);

/// Visits the tensors a call takes.
template <typename Visit>
void for_each_variable(const Tape& tape, const Call& call, Visit&& visit) {
  const Arg* args = tape.args_of(call);
  for (std::size_t i = 0; i < call.op.schema().arguments().size(); ++i) {
    if (args[i].kind == Arg::Kind::kTensor && args[i].var != kNobody) visit(args[i].var);
    for (std::int32_t k = 0; k < args[i].list_size; ++k) {
      const VarId var = tape.list_item(args[i].list_begin + k);
      if (var != kNobody) visit(var);
    }
  }
}

}  // namespace leapp::trace
