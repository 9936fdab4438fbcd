#include "session/record/between.h"

#include <set>

namespace leapp::session {
namespace {

void collect(const Route& route, std::set<PortId>& sources, std::set<const BetweenCall*>& seen) {
  if (!route.call) {
    sources.insert(route.port);
  } else if (seen.insert(route.call.get()).second) {
    for (const std::optional<Route>& each : route.call->routes) {
      if (each) collect(*each, sources, seen);
    }
  }
}

}  // namespace

std::vector<PortId> sources_of(const Route& route) {
  std::set<PortId> sources;
  std::set<const BetweenCall*> seen;
  collect(route, sources, seen);
  return {sources.begin(), sources.end()};
}

}  // namespace leapp::session
