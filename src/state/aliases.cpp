#include "state/aliases.h"

#include <map>

namespace leapp::state {
namespace {

using trace::StoreId;

struct Memory {
  const session::Pass& pass;
  StoreId id;

  const trace::Store& store() const { return pass.tape().store(id); }
  bool is_written() const { return store().last_write >= pass.recording.first_call; }
  bool is_outside() const { return store().capture != nullptr && !store().fresh; }
};

}  // namespace

std::vector<trace::Site> find_torn(const session::Pass& first, const session::Pass& again,
                                   const trace::Alignment& aligned) {
  std::vector<trace::Site> torn;
  std::map<StoreId, StoreId> there;
  std::map<StoreId, StoreId> here;
  for (const auto& [old_index, new_index] : aligned.pairs) {
    trace::for_each_site(first.tape(), old_index, [&](const trace::Site& site, trace::VarId was) {
      const auto is = trace::variable_at(again.tape(), {new_index, site.arg, site.item});
      if (was == trace::kNobody || is == trace::kNobody) return;
      const Memory old{first, first.tape().variable(was).store};
      const Memory now{again, again.tape().variable(is).store};
      if (old.id == trace::kNobody || now.id == trace::kNobody) return;
      if (!old.is_outside() && !now.is_outside()) return;
      const Memory partner{again, there.try_emplace(old.id, now.id).first->second};
      const Memory other{first, here.try_emplace(now.id, old.id).first->second};
      const bool same = partner.id == now.id && other.id == old.id;
      const bool written =
          old.is_written() || now.is_written() || partner.is_written() || other.is_written();
      if (!same && written) torn.push_back(site);
    });
  }
  return torn;
}

}  // namespace leapp::state
