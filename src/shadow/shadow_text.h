// What a shadow run says.
#pragma once

#include <cstddef>
#include <string>

#include "shadow/shadow_node.h"

namespace leapp::shadow {

/// What differs, as the second half of a sentence, and what to do about it.
std::string output_text(std::uint64_t tick);
std::string state_text(const std::string& port);
std::string wire_text(const std::string& port, const std::string& source);
std::string misfit_text();

/// Returns the whole sentence: node, port, tick and error in front.
std::string difference_text(const std::string& node, const ShadowDifference& difference,
                            const std::string& what);

/// That a reset was followed.
std::string reset_text(const ShadowNodeReport& node);

/// Why a node cannot be followed whose input nobody hands over.
std::string missing_text(const ShadowNode& node, std::size_t input);

}  // namespace leapp::shadow
