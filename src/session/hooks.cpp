#include "session/hooks.h"

#include <utility>

namespace leapp::session {
namespace {

Hooks& installed() {
  static auto* value = new Hooks;  // never destroyed: it may hold Python objects at exit
  return *value;
}

}  // namespace

void set_hooks(Hooks hooks) {
  installed() = std::move(hooks);
}
const Hooks& hooks() noexcept {
  return installed();
}

}  // namespace leapp::session
