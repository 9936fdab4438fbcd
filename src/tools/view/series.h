// Values of ports by tick, in a form that the page can plot: from the golden traces of the bundle
// or from a controller's recording.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "leapp/bundle.h"

namespace leapp::view {

/// {"ticks": n, "rtol": .., "atol": .., "ports": {"inputs/policy/obs": {"elements": n, "ticks":
/// [..], "values": [[..], ..]}}}. For a port with many elements, each tick has the minimum, the
/// mean and the maximum ("range": true). If there are many ticks, some are left out ("every": n).
/// Null if the bundle has no golden traces; {"remark": ".."} if they cannot be read.
nlohmann::ordered_json golden_series(const Bundle& bundle, const BundleOptions& options);

/// Returns the same for a recording, with "period", the times between the ticks of the loop, and
/// "events", the counted interventions. For a recording of a supervisor, reads the ports of
/// `policy`. Throws Error (LP655).
nlohmann::ordered_json recorded_series(const std::filesystem::path& recording, const Bundle& bundle,
                                       const std::string& policy = {});

}  // namespace leapp::view
