#include "session/message_queue.h"

#include <utility>

#include "leapp/log.h"

namespace leapp::session {
namespace {

void deliver(const Message& message, Diagnostics& diagnostics) {
  if (!message.code) {
    log(LogLevel::kInfo, message.text);
    return;
  }
  const bool escapes = message.code == Code::kNumber || message.code == Code::kBranch;
  if (escapes && trace::only_shown(message.where)) return;
  diagnostics.add({.code = *message.code,
                   .level = LogLevel::kWarning,
                   .where = trace::resolve_source(message.where).to_string(),
                   .node = message.node,
                   .text = message.text});
}

}  // namespace

void MessageQueue::remark(std::string text) {
  messages_.push_back({.text = std::move(text)});
}

void MessageQueue::warn(Code code, std::string node, std::string text, trace::FrameRef where) {
  if (!warned_.emplace(code, where.code, where.position, text).second) return;
  messages_.push_back({code, std::move(node), std::move(text), where});
}

std::vector<Message> MessageQueue::take() {
  return std::exchange(messages_, {});
}

void deliver(const std::vector<Message>& messages, Diagnostics& diagnostics) {
  for (const Message& message : messages) {
    try {
      deliver(message, diagnostics);
    } catch (...) {
    }
  }
}

}  // namespace leapp::session
