// The record of one completed pass of a node. It is immutable.
//
// A pass refers to tensors by the variables of its tape. It also records which tensor of an earlier
// pass each of them is, which node output it and which pass wrote its memory, because the program
// continues and releases its tensors. State is inferred from these records alone: see
// state/infer.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leapp/code.h"
#include "session/record/between.h"
#include "session/record/port_id.h"
#include "trace/capture.h"
#include "trace/recording.h"

namespace leapp::session {

/// A state of state_tensors() with its update_state(), or a buffer of module() or register_buffer()
/// with the value that the pass wrote or assigned to it.
struct Declared {
  std::string name;
  VarId before = kNoId;
  VarId after = kNoId;      ///< kNoId: unchanged, so it is an ordinary input or a constant
  at::Tensor initial = {};  ///< a copy; undefined for a buffer
  at::Tensor updated = {};  ///< a copy, or an alias of a buffer; undefined: unchanged
};

/// Memory from outside the node that a pass read or wrote. `before` and `after` contain its values;
/// they copy nothing until the memory changes.
struct MemoryUse {
  /// The pass that wrote the value at the start of this pass.
  struct Writer {
    NodeId node = kNoId;
    std::size_t pass = 0;

    bool operator==(const Writer&) const = default;
  };

  std::string declared;  ///< name of the declared state or buffer, or ""
  VarId var = kNoId;     ///< the variable at the start of the pass
  at::Tensor found;      ///< an alias of the tensor at the start of the pass
  /// An alias of the tensor with the value after the pass; undefined: unchanged.
  at::Tensor left = {};
  /// Null if the node declared the value as an input.
  std::shared_ptr<trace::Capture> before = {};
  std::shared_ptr<trace::Capture> after = {};  ///< null: unchanged
  std::optional<Writer> writer = {};
  /// The memory from which the program copied it, outside of nodes; or null.
  c10::intrusive_ptr<c10::StorageImpl> copy_of = {};
  /// True if the program created it outside of nodes during the session and released it.
  bool let_go = false;

  /// Returns a copy of the value before or after the pass.
  at::Tensor value_before() const;
  at::Tensor value_after() const;
};

/// An external tensor that the pass read.
struct OutsideRead {
  VarId var = kNoId;
  std::optional<PortId> source;            ///< the corresponding output, if it is unchanged
  int source_pass = 0;                     ///< the pass that output it
  std::shared_ptr<const Between> between;  ///< otherwise its route from outputs, if it has one
  NodeId from = kNoId;                     ///< the node that computed it, as an output or not
  std::optional<MemoryUse::Writer> writer;
  std::vector<trace::Tape::Match> known;  ///< its variable in each earlier pass of the node
  bool made_since = false;  ///< an operator outside of nodes created it since the previous pass
};

/// A value that depends on no input, but that the program read as a number or used for a branch.
struct Escape {
  VarId var = kNoId;
  trace::FrameRef where;
  Code code = Code::kNumber;
  std::string text;  ///< warning if the value varies
};

/// An array that a pass uses and that no recorded call computed.
struct ForeignValue {
  bool written = false;      ///< the program held it, but its content has changed in this pass
  std::string left_at = {};  ///< the line at which a traced value became an array; may be empty
};

/// A tensor that is exported as a constant although a node computed it, it is random, or LEAPP does
/// not know who computed it.
struct BakedValue {
  VarId var = kNoId;
  trace::FrameRef where;  ///< the line of its first use, or of the random draw
  std::string random;     ///< the operator that drew it, or ""
  PortId source;          ///< the node that computed it; the port may be empty
  std::optional<ForeignValue> foreign = {};
};

struct Pass {
  std::int32_t number = 0;          ///< number among the recorded passes of all nodes, from 1
  trace::Recording recording;       ///< without its calls, which depend on the states
  std::vector<at::Tensor> inputs;   ///< copies, in the order of the recording's inputs
  std::vector<at::Tensor> outputs;  ///< copies, in the order of Node::outputs, static ones included
  std::vector<Declared> states;
  std::vector<Declared> buffers;
  std::vector<MemoryUse> memory;
  std::vector<OutsideRead> outside;  ///< by variable, ascending
  std::vector<Escape> escapes;
  std::vector<BakedValue> baked;
  std::vector<Between> between;  ///< at most one for an input
  trace::FrameRef opened_at;
  trace::FrameRef closed_at;

  const trace::Tape& tape() const { return *recording.tape; }
  /// Returns whether the pass, or a later call on its tape, writes to the variable's memory.
  bool writes(VarId var) const { return tape().written_since(var, recording.first_call); }
  const OutsideRead* find_outside(VarId var) const;
  /// Returns the use of the variable's memory, or nullptr.
  const MemoryUse* find_memory(VarId var) const;
};

}  // namespace leapp::session
