// The text of a tick in which only some nodes run: the C++ of a bundle's schedule.
//
// It computes what runtime/schedule_runner.h does, without undo_tick(), which the class of a policy
// does not have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/unused_name.h"
#include "build/noise_text.h"
#include "bundle/wiring.h"
#include "leapp/bundle.h"

namespace leapp {

class ScheduleText {
 public:
  /// Names of the members of `Buffers`, by node and port.
  struct Members {
    std::vector<std::vector<std::string>> inputs;
    std::vector<std::vector<std::string>> outputs;
  };

  /// Reserves names for further members in `names`. Bundle, wiring and noise must outlive this.
  ScheduleText(const Bundle& bundle, const Wiring& wiring, Members members, UsedNames& names,
               const std::optional<NoiseText>& noise);

  /// Returns the further members of `Buffers`.
  std::string members() const;
  /// Returns the position in the schedule, and the function that undoes a failed tick.
  std::string position() const;
  /// Returns the statement that sets the position to tick 0.
  std::string reset() const;
  /// Returns the body of tick().
  std::string tick() const;

 private:
  struct Copy {
    std::string to;
    std::string from;
  };
  struct Node {
    std::vector<Copy> carried;  // the carried inputs' own members, and their sources
    std::vector<Copy> former;   // of a conditional node: outputs before this tick
    std::vector<Copy> seen;     // inputs of on_change at the last run
    std::vector<Copy> former_seen;
  };

  void add_members(std::size_t node, UsedNames& names);
  std::string condition(std::size_t node) const;
  std::string node_text(std::size_t position) const;
  std::string feedback() const;

  const Bundle& bundle_;
  const Wiring& wiring_;
  Members members_;
  const std::optional<NoiseText>& noise_;
  std::vector<Node> nodes_;
};

}  // namespace leapp
