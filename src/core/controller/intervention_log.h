// Interventions of a controller: counts, and the last ones with tick and port.
#pragma once

#include <cstdint>
#include <string_view>

#include "controller/event_log.h"
#include "leapp/controller.h"

namespace leapp {

/// add() does not allocate.
class InterventionLog : public EventLog<Intervention, kCauses> {
 public:
  void add(std::uint64_t tick, Cause cause, std::string_view port) noexcept {
    EventLog::add(static_cast<std::size_t>(cause), {tick, cause, port});
  }
};

}  // namespace leapp
