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
  Code code = Code::kUsage;
  std::string text;
  trace::FrameRef where = {};
};

/// Runs `work` and turns a PlacedError into an Error that begins with the user's line.
template <typename Work>
auto placed(Work&& work) {
  try {
    return work();
  } catch (const PlacedError& error) {
    throw Error(error.code, trace::line_prefix(error.where) + error.text);
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

/// Visits a tensor, or the tensors of a list.
template <typename Visit>
void for_each_tensor(const c10::IValue& value, Visit&& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const c10::IValue& item : value.toListRef()) {
      if (item.isTensor() && item.toTensor().defined()) visit(item.toTensor());
    }
  }
}

/// The tensors of a payload, in order.
std::vector<at::Tensor> refs_of(const NamedTensors& tensors);

/// The port that an entry of a payload makes. Throws PlacedError for what no port can be.
NodePort describe(const TensorSemantics& entry);

/// "'h' float32 [1, 4]".
std::string describe(const NodePort& port);

/// What is said of an operator that turns a traced value into a number or a choice.
std::string escape_text(const std::string& op, trace::Escape escape);
Code escape_code(trace::Escape escape);

}  // namespace leapp::session
