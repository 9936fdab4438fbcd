// One completed pass of a node, as it happened. Nothing changes it afterwards.
//
// A pass refers to the tensors it met by variables of its tape. Which tensor of an earlier pass one
// of them is, who put it out and who wrote its memory is recorded here as well, for the program
// goes on and its tensors die: state is inferred from passes alone, see state/infer.h.
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

/// What state_tensors() declared, with the update_state() that followed, or a buffer that module()
/// or register_buffer() declared, with what the pass wrote there or assigned to it.
struct Declared {
  std::string name;
  VarId before = kNoId;
  VarId after = kNoId;      ///< kNoId: it was not changed, so it is an ordinary input or a constant
  at::Tensor initial = {};  ///< a copy; undefined for a buffer
  at::Tensor updated = {};  ///< a copy, or an alias of a buffer; undefined: it was not changed
};

/// Memory from outside the node that a pass read or wrote. Contents are those of `before` and
/// `after`, which copy nothing until the memory changes.
struct MemoryUse {
  /// Who wrote what this pass found there.
  struct Writer {
    NodeId node = kNoId;
    std::size_t pass = 0;

    bool operator==(const Writer&) const = default;
  };

  std::string declared;  ///< the name of the state or buffer that it was declared as, or ""
  VarId var = kNoId;     ///< the variable as the pass found it
  at::Tensor found;      ///< an alias of the tensor as it was found
  /// An alias of the tensor that holds the value after; undefined: unchanged.
  at::Tensor left = {};
  /// Null where the node declared the value as an input.
  std::shared_ptr<trace::Capture> before = {};
  std::shared_ptr<trace::Capture> after = {};  ///< null: unchanged
  std::optional<Writer> writer = {};
  /// The program made it outside of nodes, as a copy of what was in this memory; or null.
  c10::intrusive_ptr<c10::StorageImpl> copy_of = {};
  /// The program made it outside of nodes while the session was on, and has let go of it since.
  bool let_go = false;

  /// A copy of what was there before the pass, and after it.
  at::Tensor value_before() const;
  at::Tensor value_after() const;
};

/// A tensor from outside that the pass read.
struct OutsideRead {
  VarId var = kNoId;
  std::optional<PortId> source;            ///< the output that it is, exactly
  int source_pass = 0;                     ///< the pass that put it out
  std::shared_ptr<const Between> between;  ///< else, how it came of outputs
  NodeId from = kNoId;  ///< the node that computed it, whether it put it out or not
  std::optional<MemoryUse::Writer> writer;
  std::vector<trace::Tape::Match> known;  ///< what it was in each earlier pass of the node
  bool made_since = false;  ///< after the pass before, by an operator outside of nodes
};

/// A value that the program read as a number or a choice of branch, though no input decides it.
struct Escape {
  VarId var = kNoId;
  trace::FrameRef where;
  Code code = Code::kNumber;
  std::string text;  ///< what to say should it turn out to change
};

/// A tensor whose value ends up as a constant though it came from a node, or was drawn at random.
struct BakedValue {
  VarId var = kNoId;
  trace::FrameRef where;  ///< of its first use, or where it was drawn
  std::string random;     ///< the operator that drew it, or ""
  PortId source;          ///< the node that it came from; the port may be empty
};

struct Pass {
  std::int32_t number = 0;          ///< among the recorded passes of all nodes, from 1
  trace::Recording recording;       ///< without its calls: those follow from what is state
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
  /// Whether it, or what came after it on its tape, writes to the memory of a variable.
  bool writes(VarId var) const { return tape().written_since(var, recording.first_call); }
  const OutsideRead* find_outside(VarId var) const;
  /// The use of the memory that a variable is in.
  const MemoryUse* find_memory(VarId var) const;
};

}  // namespace leapp::session
