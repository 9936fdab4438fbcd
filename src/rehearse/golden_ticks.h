// The golden traces of a bundle: traced passes, as ticks for other machines to repeat.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "rehearse/exported_node.h"
#include "state/ticks.h"

namespace leapp::rehearse {

/// Writes up to `wanted` ticks to the file and names it in the bundle. `ticks` are those of the
/// bundle's schedule; without one, each pass is a tick. Ticks count until one of them received a
/// different value than its wires carry, because later ones are then not a run of the pipeline from
/// its initial values. Returns a warning if there are fewer than requested.
std::optional<Diagnostic> write_golden(const std::vector<ExportedNode>& nodes, std::size_t wanted,
                                       const Tolerance& tolerance,
                                       const std::filesystem::path& file, Bundle& bundle,
                                       const state::Ticks& ticks = {});

}  // namespace leapp::rehearse
