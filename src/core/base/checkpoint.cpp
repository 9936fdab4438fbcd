#include "base/checkpoint.h"

#include <utility>

#include "leapp/error.h"

namespace leapp {

Checkpoint::Checkpoint(std::function<bool()> is_cancelled)
    : is_cancelled_(std::move(is_cancelled)) {}

void Checkpoint::operator()() const {
  if (!is_cancelled_ || !is_cancelled_()) return;
  throw Error(Code::kCancelled,
              "compile_graph() was cancelled. Nothing was written, and an existing bundle is "
              "unchanged. The traced passes are kept; call compile_graph() again to continue.");
}

}  // namespace leapp
