// Messages that wait for the session's lock to be released.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "leapp/code.h"
#include "session/record/diagnostic.h"
#include "trace/source.h"

namespace leapp::session {

/// A warning, or a remark for the log if it has no code.
struct Message {
  std::optional<Code> code = {};
  std::string node = {};
  std::string text = {};
  trace::FrameRef where = {};
};

/// Collects messages while the session's lock is held. They are delivered after it is released,
/// because a log sink, or reading a source line, may wait for Python's interpreter lock.
///
/// Not thread-safe: the session's lock guards it.
class MessageQueue {
 public:
  void remark(std::string text);
  /// Adds a warning, unless the same text was added for the same place before.
  void warn(Code code, std::string node, std::string text, trace::FrameRef where);
  /// Returns the messages since the last call and removes them.
  std::vector<Message> take();

 private:
  std::vector<Message> messages_;
  std::set<std::tuple<Code, const void*, int, std::string>> warned_;
};

/// Logs remarks and adds warnings to `diagnostics`. Ignores exceptions of a log sink, because the
/// caller did not cause them. No lock may be held.
void deliver(const std::vector<Message>& messages, Diagnostics& diagnostics);

}  // namespace leapp::session
