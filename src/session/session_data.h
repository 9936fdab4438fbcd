// Everything that a session knows while it traces.
#pragma once

#include <filesystem>
#include <map>

#include "leapp/leapp.h"
#include "session/memory_table.h"
#include "session/message_queue.h"
#include "session/node_table.h"
#include "session/open_tape.h"
#include "session/tags.h"
#include "trace/capture.h"

namespace leapp::session {

/// The data that the functions of this layer work on. Reachable only through a SessionLock; while
/// one is held nothing may call into Python or log, so messages go into the queue.
struct SessionData {
  bool active = false;
  StartOptions options = {};
  std::filesystem::path folder = {};  ///< empty before the first start()
  trace::CaptureTable captures = {};  ///< declared before the tapes, which refer to it
  NodeTable nodes = {};
  OpenTape tape = {};
  TagTable tags = {};
  MemoryTable memory = {};
  /// Branches outside of nodes that outputs of a node decided. They are reported if a node reads
  /// that node's output: a program may branch on its last outputs.
  std::multimap<NodeId, Detour> branches = {};
  std::int32_t recorded_passes = 0;  ///< of all nodes
  bool sizes_vary = false;           ///< traced values decided some size
  MessageQueue messages = {};
};

}  // namespace leapp::session
