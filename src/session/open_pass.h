// A pass in progress, and its node.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "session/record/node.h"
#include "session/record/node_run.h"
#include "session/tags.h"

namespace leapp::session {

struct OpenPass {
  /// Declared buffers whose current tensors are read when the pass ends.
  struct BufferQuery {
    std::size_t first;  ///< index in Pass::buffers of the first of `count` buffers
    std::size_t count;
    std::function<std::vector<at::Tensor>()> current;
  };

  bool open = false;
  bool recorded = false;  ///< operators are recorded; otherwise only inputs and outputs
  TagRef inside = {};     ///< tag of its values that are not outputs
  std::thread::id thread = {};
  /// The record so far. An input without a value has no name yet; the `updated` tensor of a buffer
  /// is the tensor itself.
  Pass record = {};
  NodeRun run = {};
  std::map<std::string, trace::FrameRef> input_places = {};  ///< lines that gave the inputs
  std::vector<BufferQuery> buffer_queries = {};
  std::vector<at::Tensor> handles = {};  ///< tensors that TagTable::enter() was called for

  /// Returns whether an input or a state of that name was given.
  bool has(const std::string& name) const;
};

/// A node and its open pass.
struct SessionNode : Node {
  OpenPass pass;
  std::set<std::string> foreign = {};  ///< outputs that code may compute which is not recorded
  int computed = 0;                    ///< number of passes that were not played
  std::shared_ptr<trace::Tape> latest = {};  ///< tape of the last one of these that was recorded
};

}  // namespace leapp::session
