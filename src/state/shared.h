// Memory that several nodes use: one writes it, another reads it, and nobody annotated it.
//
// In the program the value simply is in memory when the reader runs. In the bundle it has to
// travel: the writer puts it out, and the reader takes it in. Who wrote what a pass found is known
// from the passes themselves; with a single pass, memory that is written in place tells as much.
#pragma once

#include <vector>

#include "state/written.h"

namespace leapp::state {

/// Gives the nodes the states that they share, and says who feeds whom. `nodes` are in order of
/// completion, and `written` is what their passes write. `findings` receives what cannot travel.
std::vector<NodeStates> find_shared(std::vector<NodeStates> nodes,
                                    const std::vector<std::vector<WrittenPass>>& written,
                                    Findings& findings);

}  // namespace leapp::state
