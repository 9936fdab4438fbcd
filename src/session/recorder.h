// Records the operators that the program runs.
#pragma once

#include "session/session.h"
#include "trace/dispatcher.h"

namespace leapp::session {

/// Observes each operator of a thread that took part in the session. While a recorded pass is open,
/// it appends the call to the tape; outside of nodes it follows the tags of outputs. It takes the
/// session's lock before and after an operator, never while the operator runs.
class Recorder final : public trace::Observer {
 public:
  explicit Recorder(Session& session) : session_(session) {}
  void on_call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
               torch::jit::Stack* stack) override;

 private:
  Session& session_;
};

}  // namespace leapp::session
