// State that a pass writes: declared by annotations, or memory from outside that it writes to.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "state/names.h"
#include "state/state.h"

namespace leapp::state {

/// A pass with what it writes, and the calls that compute that and its outputs.
struct WrittenPass {
  const Pass* pass = nullptr;
  std::vector<State> states;        ///< without values
  std::vector<std::int32_t> calls;  ///< indices into its tape, as they run
};

/// A node whose states are asked for, with all that it takes to answer.
struct Subject {
  const Node& node;
  std::span<const WrittenPass> passes;      ///< of the node
  std::span<const Node* const> nodes = {};  ///< all that are exported
  Paths paths = {};
  std::size_t base = 0;  ///< the pass that is exported, which later ones are compared with

  const WrittenPass& first() const { return passes[base]; }
};

/// Returns explicit states, declared buffers that changed, then undeclared memory that the pass
/// writes and that its results depend on.
WrittenPass written_in(const Pass& pass);
std::vector<WrittenPass> written_in(const Node& node);  ///< each of its passes

/// Returns the memory that the exported pass writes to and that its outputs or its states depend
/// on, as far as it is not among them. What it writes there may depend on more such memory.
std::vector<State> more_written(const NodeStates& states);

/// Returns the memory that a pass of the node writes, with its values in each pass.
std::vector<State> find_written(const Node& node, const WrittenPass& pass);

/// Returns whether memory is treated as scratch memory after a single pass: the program created it
/// during the session and has released it, and no other node wrote to it. Several passes show it by
/// themselves.
bool is_scratch(const Node& node, VarId var);

/// Values that passes after the first found in memory that is written to.
struct Persistence {
  bool continued = false;  ///< what was left there
  bool renewed = false;    ///< what the first pass found, and not that
  bool strange = false;    ///< something else

  void add(const at::Tensor& before, const at::Tensor& left, const at::Tensor& first);
  /// Returns whether the program resets it in every pass, so that it is not state.
  bool is_set_anew() const { return renewed && !continued && !strange; }
};

/// End of the warning about memory with unexpected values, after how it is used.
inline constexpr const char* kForeignWriteText =
    ", so it is exported as state. However, a later pass found a value there that the previous "
    "pass had not written. If code outside the node changes it, pass it through "
    "annotate.input_tensors().";

/// Returns the memory that a pass reads states from.
std::set<trace::StoreId> stores_of(const Pass& pass, const std::vector<State>& states);

/// Returns whether two passes used the same: told by the name that it was declared with, or by the
/// memory.
bool are_same(const session::MemoryUse& a, const session::MemoryUse& b);

/// Returns the values of external memory before and after a pass, by a variable in it.
State::Values values_of(const session::MemoryUse& use);
State::Values values_in(const Pass& pass, VarId var);

}  // namespace leapp::state
