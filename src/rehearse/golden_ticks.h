// The golden traces of a bundle: traced passes, as ticks for other machines to repeat.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "rehearse/exported_node.h"

namespace leapp::rehearse {

/// Writes up to `wanted` passes to the file and names it in the bundle. Passes count until one of
/// them took in something else than its wires carry: what follows is no run of the pipeline from
/// its initial values. Returns a warning where there are fewer than were wanted.
std::optional<Diagnostic> write_golden(const std::vector<ExportedNode>& nodes, std::size_t wanted,
                                       const Tolerance& tolerance,
                                       const std::filesystem::path& file, Bundle& bundle);

}  // namespace leapp::rehearse
