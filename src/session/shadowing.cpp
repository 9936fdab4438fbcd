#include "session/shadowing.h"

#include <atomic>

namespace leapp::session {
namespace {

std::atomic<Shadowing*> told = nullptr;

}  // namespace

Shadowing* shadowing() noexcept {
  return told.load(std::memory_order_acquire);
}

void set_shadowing(Shadowing* shadowing) noexcept {
  told.store(shadowing, std::memory_order_release);
}

}  // namespace leapp::session
