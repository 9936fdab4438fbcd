#include "state/ticks.h"

#include <algorithm>

namespace leapp::state {

const std::vector<Ticks::Turn>& Ticks::turns(trace::NodeId node) const {
  static const std::vector<Turn> none;
  const auto found = turns_.find(node);
  return found == turns_.end() ? none : found->second;
}

const Ticks::Turn* Ticks::turn_of(trace::NodeId node, int pass) const {
  const std::vector<Turn>& all = turns(node);
  const auto found = std::ranges::lower_bound(all, pass, {}, &Turn::last);
  return found == all.end() || found->first > pass ? nullptr : &*found;
}

const Ticks::Turn* Ticks::turn_in(trace::NodeId node, int tick) const {
  const Turn* const found = latest(node, tick);
  return found != nullptr && found->tick == tick ? found : nullptr;
}

const Ticks::Turn* Ticks::latest(trace::NodeId node, int tick) const {
  const std::vector<Turn>& all = turns(node);
  const auto after = std::ranges::upper_bound(all, tick, {}, &Turn::tick);
  return after == all.begin() ? nullptr : &*std::prev(after);
}

}  // namespace leapp::state
