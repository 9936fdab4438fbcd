#include "session/open_tape.h"

namespace leapp::session {

const std::shared_ptr<trace::Tape>& OpenTape::open(trace::CaptureTable& captures) {
  if (!tape_) tape_ = std::make_shared<trace::Tape>(captures);
  return tape_;
}

void OpenTape::close() {
  views.clear();
  baked.clear();
  tape_.reset();
}

bool OpenTape::can_hold(const at::Tensor& tensor) const {
  return tape_ && tensor.defined() && !trace::is_wrapped(tensor);
}

std::optional<VarId> OpenTape::variable_of(const at::Tensor& tensor) const {
  return can_hold(tensor) ? tape_->find(tensor) : std::nullopt;
}

NodeId OpenTape::owner_of(const at::Tensor& tensor) const {
  const auto var = variable_of(tensor);
  return var ? tape_->variable(*var).node : kNoId;
}

}  // namespace leapp::session
