#include "base/checkpoint.h"

#include <utility>

#include "leapp/error.h"

namespace leapp {

Checkpoint::Checkpoint(std::function<bool()> is_cancelled)
    : is_cancelled_(std::move(is_cancelled)) {}

void Checkpoint::operator()() const {
  if (!is_cancelled_ || !is_cancelled_()) return;
  throw Error(Code::kCancelled,
              "compile_graph() was cancelled: nothing was written, and the former bundle, if there "
              "is one, is unchanged. What was traced is kept; call it again to go on.");
}

}  // namespace leapp
