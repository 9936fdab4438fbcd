// The tape of the recorded passes that are under way.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "session/record/pass.h"
#include "trace/dispatcher.h"
#include "trace/dynamic_index_views.h"
#include "trace/tape.h"

namespace leapp::session {

/// Holds a tape while a recorded pass is under way. Passes that overlap share one tape. Records
/// keep it alive afterwards; the views and values below refer to it and are dropped with it.
///
/// Not thread-safe: the session's lock guards it.
class OpenTape {
 public:
  explicit operator bool() const noexcept { return tape_ != nullptr; }
  trace::Tape& operator*() const noexcept { return *tape_; }
  trace::Tape* operator->() const noexcept { return tape_.get(); }
  /// Returns the tape, or nullptr. Another tape has another address as long as it is held.
  const std::shared_ptr<trace::Tape>& share() const noexcept { return tape_; }

  /// Returns the tape; makes one if there is none. `captures` must outlive the tape.
  const std::shared_ptr<trace::Tape>& open(trace::CaptureTable& captures);
  void close();

  /// Returns whether there is a tape and the tensor can be on it.
  bool can_hold(const at::Tensor& tensor) const;
  /// Returns the tensor's variable, if there is a tape and the tensor is on it.
  std::optional<VarId> variable_of(const at::Tensor& tensor) const;
  /// Returns the open node that computed the tensor or took it in, or kNoId.
  NodeId owner_of(const at::Tensor& tensor) const;

  trace::DynamicIndexViews views;
  /// Values that deserve a warning if a node exports them as constants.
  std::map<VarId, BakedValue> baked;

 private:
  std::shared_ptr<trace::Tape> tape_;
};

}  // namespace leapp::session
