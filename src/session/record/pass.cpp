#include "session/record/pass.h"

#include "base/find.h"

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
  return find_where(memory, [&](const MemoryUse& use) { return tape().same_memory(var, use.var); });
}

}  // namespace leapp::session
