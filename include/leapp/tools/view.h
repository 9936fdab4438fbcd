// One HTML page that shows a bundle and needs only a browser.
//
//   std::ofstream("walker.html") << leapp::view_page("walker/walker.yaml");
//
// The page contains the drawing of the pipeline, with pan, zoom and search; for each node its
// operators with the user's source lines, its ports with their semantics, and its weights with
// histograms; for each wire its values, if the bundle has golden traces or a recording is given;
// and the results of the validation. It loads nothing from the network, and a bundle cannot make it
// run code: names are shown as text, and the page's security policy allows only its own script.
//
// No model is run or loaded by an engine. Not for real time: allocates, reads files, throws Error.
// Thread-safe; only one drawing is made at a time.
#pragma once

#include <filesystem>
#include <string>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Additional content of the page. An empty path means none.
struct ViewOptions {
  BundleOptions bundle = {};
  std::filesystem::path bench = {};      ///< output of `leapp bench --json`
  std::filesystem::path recording = {};  ///< MCAP file of a Controller or a Supervisor
  std::string policy = {};  ///< the policy whose ports are shown, for a supervisor's recording
  std::filesystem::path robot = {};  ///< the robot's description; shows the binding
};

/// Returns the page of a bundle. Throws the errors of read_bundle(), LP961 for an invalid bench
/// report, and LP651 and LP655 for a robot and a recording. Unreadable models and a failed drawing
/// become remarks on the page.
LEAPP_EXPORT std::string view_page(const std::filesystem::path& yaml,
                                   const ViewOptions& options = {});

/// Returns the page of the second bundle, with the differences from the first one marked.
LEAPP_EXPORT std::string diff_page(const std::filesystem::path& before,
                                   const std::filesystem::path& after,
                                   const ViewOptions& options = {});

/// Returns nodes, ports, wires and files as a JSON object, as printed by `leapp inspect --json`.
LEAPP_EXPORT std::string to_json(const Bundle& bundle);

}  // namespace leapp
