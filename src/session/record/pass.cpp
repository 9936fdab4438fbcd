#include "session/record/pass.h"

#include <algorithm>

namespace leapp::session {

at::Tensor MemoryUse::value_before() const {
  return trace::copy_of(before ? before->content(found) : found);
}

at::Tensor MemoryUse::value_after() const {
  return after ? trace::copy_of(after->content(left)) : value_before();
}

const OutsideRead* Pass::find_outside(VarId var) const {
  const auto it = std::ranges::lower_bound(outside, var, {}, &OutsideRead::var);
  return it == outside.end() || it->var != var ? nullptr : &*it;
}

const MemoryUse* Pass::find_memory(VarId var) const {
  const auto it = std::ranges::find_if(
      memory, [&](const MemoryUse& use) { return tape().same_memory(var, use.var); });
  return it == memory.end() ? nullptr : &*it;
}

}  // namespace leapp::session
