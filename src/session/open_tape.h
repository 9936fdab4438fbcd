// The tape of the open recorded passes.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "session/record/pass.h"
#include "trace/dispatcher.h"
#include "trace/dynamic_index_views.h"
#include "trace/tape.h"

namespace leapp::session {

/// Holds a tape while a recorded pass is open. Overlapping passes share one tape. Records keep it
/// alive afterwards; the views and values below refer to it and are dropped with it.
///
/// Not thread-safe: the session's lock guards it.
class OpenTape {
 public:
  explicit operator bool() const noexcept { return tape_ != nullptr; }
  trace::Tape& operator*() const noexcept { return *tape_; }
  trace::Tape* operator->() const noexcept { return tape_.get(); }
  /// Returns the tape, or nullptr. Tapes that exist at the same time have different addresses.
  const std::shared_ptr<trace::Tape>& share() const noexcept { return tape_; }

  /// Returns the tape. Creates one if there is none. `captures` must outlive the tape.
  const std::shared_ptr<trace::Tape>& open(trace::CaptureTable& captures);
  void close();

  /// Returns whether there is a tape that may contain the tensor.
  bool can_hold(const at::Tensor& tensor) const;
  /// Returns the tensor's variable, if the tape contains it.
  std::optional<VarId> variable_of(const at::Tensor& tensor) const;
  /// Returns the open node that computed the tensor or received it as an input, or kNoId.
  NodeId owner_of(const at::Tensor& tensor) const;

  trace::DynamicIndexViews views;
  /// Values that cause a warning if a node exports them as constants.
  std::map<VarId, BakedValue> baked;

 private:
  std::shared_ptr<trace::Tape> tape_;
};

}  // namespace leapp::session
