// Messages of a shadow run.
#pragma once

#include <cstddef>
#include <string>

#include "shadow/shadow_node.h"

namespace leapp::shadow {

/// Returns the difference, as the second part of a sentence, and the fix.
std::string output_text(std::uint64_t tick);
std::string state_text(const std::string& port);
std::string wire_text(const std::string& port, const std::string& source);
std::string misfit_text();

/// Returns the message about a node that ran, or did not run, other than the schedule says.
std::string schedule_text(const std::string& node, bool ran);

/// Returns the whole sentence, which begins with node, port, tick and error.
std::string difference_text(const std::string& node, const ShadowDifference& difference,
                            const std::string& what);

/// Returns a message about a detected reset.
std::string reset_text(const ShadowNodeReport& node);

/// Returns why a node with a missing input cannot be followed.
std::string missing_text(const ShadowNode& node, std::size_t input);

}  // namespace leapp::shadow
