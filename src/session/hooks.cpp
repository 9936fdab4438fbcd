#include "session/hooks.h"

namespace leapp::session {

Hooks& hooks() noexcept {
  static auto* installed = new Hooks;  // never destroyed: it may hold Python objects at exit
  return *installed;
}

}  // namespace leapp::session
