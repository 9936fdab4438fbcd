// All data of a tracing session.
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

/// The data that the functions of this layer work on. Accessible only through a SessionLock. While
/// one is held, no code may call into Python or log, so messages are queued.
struct SessionData {
  bool active = false;
  StartOptions options = {};
  std::filesystem::path folder = {};  ///< empty before the first start()
  trace::CaptureTable captures = {};  ///< declared before the tapes, which refer to it
  NodeTable nodes = {};
  OpenTape tape = {};
  TagTable tags = {};
  MemoryTable memory = {};
  /// Branches outside of nodes on outputs of a node. They are reported if a node reads another
  /// output of that node; a program may branch on its last outputs.
  std::multimap<NodeId, Detour> branches = {};
  RunLog runs = {};
  std::int32_t recorded_passes = 0;  ///< number of passes of all nodes
  bool sizes_vary = false;           ///< traced values decided a size
  MessageQueue messages = {};
};

}  // namespace leapp::session
