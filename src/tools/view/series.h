// Values of ports tick by tick, in a form that the page can plot: from golden traces of the bundle
// or from a controller's recording.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "leapp/bundle.h"

namespace leapp::view {

/// {"ticks": n, "rtol": .., "atol": .., "ports": {"inputs/policy/obs": {"elements": n, "ticks":
/// [..], "values": [[..], ..]}}}. Of a port with many elements each tick has the least, the mean
/// and the greatest value ("range": true); of many ticks some are left out ("every": n). Null when
/// the bundle has no golden traces; {"remark": ".."} when they cannot be read.
nlohmann::ordered_json golden_series(const Bundle& bundle, const BundleOptions& options);

/// Does the same for a recording, with "period": how long the ticks of the loop were apart, and
/// "events": what the controller did, counted. The recording of a supervisor has the ports of
/// several policies; those of `policy` are read. Throws Error (LP655).
nlohmann::ordered_json recorded_series(const std::filesystem::path& recording, const Bundle& bundle,
                                       const std::string& policy = {});

}  // namespace leapp::view
