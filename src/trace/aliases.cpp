#include "trace/aliases.h"

#include <map>

namespace leapp::trace {
namespace {

struct UsedMemory {
  const Recording& pass;
  StoreId id;

  const Store& store() const { return pass.tape->store(id); }
  bool is_written() const { return store().last_write >= pass.first_call; }
  bool is_outside() const { return store().capture != nullptr && !store().fresh; }
};

}  // namespace

std::vector<Site> find_mismatched_aliases(const Recording& first, const Recording& again,
                                          const Alignment& aligned) {
  std::vector<Site> mismatched;
  std::map<StoreId, StoreId> there;
  std::map<StoreId, StoreId> here;
  for (const auto& [old_index, new_index] : aligned.pairs) {
    for_each_site(*first.tape, old_index, [&](const Site& site, VarId was) {
      const VarId is = variable_at(*again.tape, {new_index, site.arg, site.item});
      if (was == kNoId || is == kNoId) return;
      const UsedMemory old{first, first.tape->variable(was).store};
      const UsedMemory now{again, again.tape->variable(is).store};
      if (old.id == kNoId || now.id == kNoId) return;
      if (!old.is_outside() && !now.is_outside()) return;
      const UsedMemory partner{again, there.try_emplace(old.id, now.id).first->second};
      const UsedMemory other{first, here.try_emplace(now.id, old.id).first->second};
      const bool same = partner.id == now.id && other.id == old.id;
      const bool written =
          old.is_written() || now.is_written() || partner.is_written() || other.is_written();
      if (!same && written) mismatched.push_back(site);
    });
  }
  return mismatched;
}

}  // namespace leapp::trace
