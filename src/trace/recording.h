// One recorded pass of a node, as the slice of a tape that computes it.
#pragma once

#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/tape.h"

namespace leapp::trace {

struct Recording {
  struct Port {
    std::string name = {};
    VarId var = kNoId;
  };
  struct Constant {
    std::string name;
    at::Tensor value;
  };

  std::shared_ptr<Tape> tape;
  std::int32_t first_call = 0;      ///< of the pass, on the tape
  std::int32_t end_call = 0;        ///< one past the last call
  std::vector<std::int32_t> calls;  ///< the calls that compute it: indices into the tape, in order
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Constant> static_outputs;  ///< outputs that are constants, after the others
};

/// A place at which a pass reads a tensor: an argument of a call, or an item of a list argument.
struct Site {
  std::int32_t call = 0;
  std::int32_t arg = 0;
  std::int32_t item = -1;  ///< -1: no list

  auto operator<=>(const Site&) const = default;
};

/// A value that is passed from one tick to the next, as a recorded pass reads and writes it.
///
/// It is read from memory that existed before the pass (`before`), or at sites at which the pass
/// read a constant (`sites`). Its new value is a variable (`after`), the value of another slot
/// before the pass (`same_as`), or a constant; a slot with none of these is only read.
struct StateSlot {
  std::string name = {};
  VarId before = kNoId;
  std::vector<Site> sites = {};
  at::Tensor value = {};  ///< its value before the pass; needed if `before` is kNoId
  VarId after = kNoId;
  std::optional<std::size_t> same_as = {};  ///< index among the slots of the pass
  at::Tensor constant = {};

  bool is_left() const { return after != kNoId || same_as || constant.defined(); }
};

/// Returns the calls that `roots` depend on, in the order of execution: producers, and every write
/// to memory that is read later. A value that is read at a site in `given` is an input.
/// Conservative: the pure graph later removes superfluous calls.
std::vector<std::int32_t> slice(const Tape& tape, const std::vector<VarId>& roots,
                                const std::set<Site>& given = {});

/// Returns whether the value of `var` depends on a variable for which `asked` is true, or is one.
bool depends_on(const Tape& tape, VarId var, const std::function<bool(VarId)>& asked);

/// Returns whether it depends on an input of a node, or is one.
bool depends_on_inputs(const Tape& tape, VarId var);

/// Returns whether a tensor existed before the pass: the pass found it, or it is a view of such
/// memory.
bool is_from_outside(const Tape& tape, VarId var);

/// Returns the variable of which this one is an inferred alias, or else itself.
VarId aliased(const Tape& tape, VarId var);

/// Returns whether the variable is external or fresh: its content was stored by value, whatever
/// computed it.
bool is_outside_or_fresh(const Tape& tape, VarId var);

/// Returns the first variable in the memory of this one, if that memory existed before the tape and
/// may be state; otherwise kNoId.
VarId root_outside(const Tape& tape, VarId var);

/// Returns whether a variable of another tape is a tensor that the pass computed.
bool is_computed_in(const Recording& pass, const Tape& other, VarId var);

/// Returns all calls of a pass of the node, without those of other nodes.
std::vector<std::int32_t> own_calls(const Recording& recording, NodeId node);

/// Returns the calls that compute the outputs of a pass and its states at the end.
std::vector<std::int32_t> calls_for(const Recording& recording,
                                    const std::vector<StateSlot>& slots);

/// Returns the tensor that is read at a site; kNoId if there is none.
VarId variable_at(const Tape& tape, const Site& site);

/// Visits the tensors that a call reads, with their sites.
template <typename Visit>
void for_each_site(const Tape& tape, std::int32_t index, Visit&& visit) {
  const Call& call = tape.call(index);
  const Arg* args = tape.args_of(call);
  const auto count = static_cast<std::int32_t>(call.op.schema().arguments().size());
  for (std::int32_t k = 0; k < count; ++k) {
    if (args[k].kind == Arg::Kind::kTensor) visit(Site{index, k, -1}, args[k].var);
    for (std::int32_t item = 0; item < args[k].list_size; ++item) {
      visit(Site{index, k, item}, tape.list_item(args[k].list_begin + item));
    }
  }
}

/// Visits the tensors that a call reads.
template <typename Visit>
void for_each_variable(const Tape& tape, const Call& call, Visit&& visit) {
  const Arg* args = tape.args_of(call);
  for (std::size_t i = 0; i < call.op.schema().arguments().size(); ++i) {
    if (args[i].kind == Arg::Kind::kTensor && args[i].var != kNoId) visit(args[i].var);
    for (std::int32_t k = 0; k < args[i].list_size; ++k) {
      const VarId var = tape.list_item(args[i].list_begin + k);
      if (var != kNoId) visit(var);
    }
  }
}

/// Visits the tensors a call returns; kNoId for those that are undefined.
template <typename Visit>
void for_each_result(const Tape& tape, const Call& call, Visit&& visit) {
  const CallResult* results = tape.results_of(call);
  for (std::size_t i = 0; i < call.op.schema().returns().size(); ++i) {
    if (!results[i].is_tensor) continue;
    if (!results[i].is_list) visit(results[i].var);
    for (std::int32_t k = 0; k < results[i].list_size; ++k) {
      visit(tape.list_item(results[i].list_begin + k));
    }
  }
}

}  // namespace leapp::trace
