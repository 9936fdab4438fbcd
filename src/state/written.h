// State that a pass writes: declared by annotations, or external memory that it writes to.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "state/names.h"
#include "state/state.h"

namespace leapp::state {

/// A pass with its written states, and the calls that compute these and its outputs.
struct WrittenPass {
  const Pass* pass = nullptr;
  std::vector<State> states;        ///< without values
  std::vector<std::int32_t> calls;  ///< indices into its tape, in the order of execution
};

/// A node whose states are inferred, with everything that is needed.
struct Subject {
  const Node& node;
  std::span<const WrittenPass> passes;      ///< of the node
  std::span<const Node* const> nodes = {};  ///< all exported nodes
  Paths paths = {};
  std::size_t base = 0;  ///< the exported pass, with which later ones are compared

  const WrittenPass& first() const { return passes[base]; }
};

/// Returns explicit states, declared buffers that changed, then undeclared memory that the pass
/// writes and on which its results depend.
WrittenPass written_in(const Pass& pass);
std::vector<WrittenPass> written_in(const Node& node);  ///< each of its passes

/// Returns additional memory that the exported pass writes to and on which its outputs or its
/// states depend. The values written there may depend on more such memory.
std::vector<State> more_written(const NodeStates& states);

/// Returns the memory that a pass of the node writes, with its values in each pass.
std::vector<State> find_written(const Node& node, const WrittenPass& pass);

/// Returns whether memory is treated as scratch memory after a single pass: the program created it
/// during the session and has released it, and no other node wrote to it. Several passes show it by
/// themselves.
bool is_scratch(const Node& node, VarId var);

/// Values that passes after the first found in written memory.
struct Persistence {
  bool continued = false;  ///< the value that was written last
  bool renewed = false;    ///< the value that the first pass found, which differs from that
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

/// Returns whether two passes used the same memory: with the same declared name, or the same
/// storage.
bool are_same(const session::MemoryUse& a, const session::MemoryUse& b);

/// Returns the values of external memory before and after a pass, by a variable in it.
State::Values values_of(const session::MemoryUse& use);
State::Values values_in(const Pass& pass, VarId var);

}  // namespace leapp::state
