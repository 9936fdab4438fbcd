// One stage of the pipeline, as the annotations describe it and the passes fill it.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "leapp/leapp.h"
#include "session/age.h"
#include "session/carried.h"
#include "session/pass_comparison.h"
#include "session/tags.h"
#include "trace/recording.h"

namespace leapp::session {

using trace::kNobody;
using trace::NodeId;
using trace::VarId;

/// "pre/features".
struct PortId {
  NodeId node = kNobody;
  std::string port;

  bool operator==(const PortId&) const = default;
};

struct NodePort {
  std::string name;
  Semantics semantics;
  DType dtype = DType::kFloat32;
  Shape shape;
  std::optional<PortId> source;   ///< input: the output it receives, once one is known
  int source_pass = -1;           ///< the pass in which the source was first seen
  Age age;                        ///< input: how old what it receives from its source is
  std::optional<Age::Read> read;  ///< input: what the pass under way received from its source
  bool is_static = false;         ///< output: a constant
};

/// Memory from outside the node that a pass read or wrote, or that became its state. Contents are
/// those of `before` and `after`, which copy nothing until the memory changes.
struct MemoryUse {
  /// Who wrote what this pass found there.
  struct Writer {
    NodeId node = kNobody;
    std::size_t sample = 0;
  };

  std::string state;    ///< the candidate for state it is, or ""
  VarId var = kNobody;  ///< the variable as the pass found it
  at::Tensor found;     ///< an alias of the tensor as it was found
  at::Tensor left;      ///< an alias of the tensor that holds the value after; undefined: unchanged
  std::shared_ptr<trace::Capture> before;  ///< null where the node declared the value as an input
  std::shared_ptr<trace::Capture> after;   ///< null: unchanged
  std::optional<Writer> writer;
};

/// What one pass took in and put out, kept for validation. Every tensor is a copy.
struct Sample {
  std::vector<at::Tensor> inputs;   ///< in the order of Node::inputs
  std::vector<at::Tensor> outputs;  ///< in the order of Node::outputs, static ones included
  std::map<std::string, at::Tensor> states_before;
  std::map<std::string, at::Tensor> states_after;
  std::vector<MemoryUse> memory;
};

/// What is known of the pass under way.
struct Pass {
  struct State {
    std::string name;
    VarId before = kNobody;
    VarId after = kNobody;
    at::Tensor initial;  ///< a copy
    at::Tensor updated;  ///< as the user passed it
  };
  struct Buffer {
    std::string name;
    VarId before = kNobody;
    at::Tensor tensor;
  };
  struct BufferGroup {
    std::vector<Buffer> buffers;
    std::function<std::vector<at::Tensor>()> current;  ///< empty: they are only written in place
  };

  bool open = false;
  bool recorded = false;  ///< operators are logged; else only inputs and outputs are kept
  std::thread::id thread;
  std::int32_t first_call = 0;  ///< the tape's length when the pass began
  std::map<std::string, VarId> inputs;
  std::map<std::string, at::Tensor> input_values;  ///< copies
  std::vector<State> states;
  std::vector<BufferGroup> buffers;
};

struct Node {
  std::string name;
  NodeId id = kNobody;
  bool traced = true;        ///< false: listed in non_traced
  bool random = false;       ///< a random operator works on its inputs
  bool read_values = false;  ///< a pass took numbers out of the graph, and may have chosen by them
  int passes = 0;            ///< completed ones
  int completion = -1;       ///< position among the nodes, by first completion

  std::vector<NodePort> inputs;
  std::vector<NodePort> outputs;
  std::vector<NodePort> states;      ///< explicit states, in the order declared
  std::vector<at::Tensor> declared;  ///< what annotations of the first pass named, as it was given
  std::set<std::string> undecided;   ///< outputs of no input's that later passes decide on
  std::optional<std::string> export_with;
  Metadata::Map backend_params;

  Pass pass;
  trace::FrameRef opened_at;   ///< where the latest pass began
  trace::Recording recording;  ///< of the first pass
  std::vector<Sample> samples;
  Carried carried;  ///< from the second pass on
  Notes notes;
  /// The second pass, where it differs, and what those after it carry: the first tick may be the
  /// only one of its kind.
  struct Later {
    trace::Recording recording;
    Carried carried;
    Notes notes;
  } later;
  /// Of the first pass, once compile_graph() has found that: `recording` is of the second then.
  std::optional<trace::Recording> opening;

  bool complete() const noexcept { return passes > 0; }
};

}  // namespace leapp::session
