// Private to Session: the lock that hands out messages after it is released, and common texts.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "leapp/error.h"
#include "session/session.h"
#include "trace/source.h"

namespace leapp::session {

struct Session::Lock {
  explicit Lock(Session& session) : session_(session) { session_.mutex_.lock(); }
  ~Lock() {
    std::vector<Message> messages;
    messages.swap(session_.messages_);
    session_.mutex_.unlock();
    for (const Message& message : messages) session_.emit(message);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Session& session_;
};

/// An error found while the lock is held. Turning its place into text may need Python's lock, so
/// that waits until ours is released: see placed().
struct PlacedError {
  ErrorKind kind = ErrorKind::kUsage;
  std::string text;
  trace::FrameRef where;
};

/// Runs `work` and turns a PlacedError into an Error that begins with the user's line.
template <typename Work>
auto placed(Work&& work) {
  try {
    return work();
  } catch (const PlacedError& error) {
    throw Error(error.kind, trace::line_prefix(error.where) + error.text);
  }
}

/// Runs `work` under the lock, with our own operators unseen. An error without a place gets
/// `frame`.
template <typename Work>
auto Session::locked(trace::FrameRef frame, Work&& work) {
  return placed([&] {
    const Lock lock(*this);
    const trace::Unobserved guard;
    try {
      return work();
    } catch (PlacedError& error) {
      if (error.where.code == nullptr) error.where = frame;
      throw;
    }
  });
}

/// The tensors of a payload, in order.
std::vector<at::Tensor> refs_of(const NamedTensors& tensors);

/// The port that an entry of a payload makes. Throws PlacedError for what no port can be.
NodePort describe(const TensorSemantics& entry);

/// A contiguous copy that autograd and the recorder ignore.
at::Tensor copy_of(const at::Tensor& tensor);

std::string escape_text(const std::string& op, trace::Escape escape);

std::string not_traced_text(const std::string& node, const std::string& output);

}  // namespace leapp::session
