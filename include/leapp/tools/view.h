// A bundle to look at: one HTML page that needs nothing but a browser.
//
//   std::ofstream("walker.html") << leapp::view_page("walker/walker.yaml");
//
// The page holds the drawing of the pipeline, with pan, zoom and search; for each node its
// operators with the user's source lines, its ports with what they mean, and its weights with
// histograms; for each wire what flows through it, where the bundle has golden traces or a
// recording is given; and how the models agreed with what was traced. It fetches nothing, and
// nothing that a bundle holds can make it run anything: names are text, and the page's own policy
// allows its one script alone.
//
// No model is run and none is loaded by an engine. For desks: allocates, reads files, throws Error.
// Thread-safe; drawings wait for each other.
#pragma once

#include <filesystem>
#include <string>

#include "leapp/bundle.h"
#include "leapp/visibility.h"

namespace leapp {

/// Additional content of the page. An empty path means none.
struct ViewOptions {
  BundleOptions bundle = {};
  std::filesystem::path bench = {};      ///< what `leapp bench --json` printed
  std::filesystem::path recording = {};  ///< of a Controller or a Supervisor: an MCAP file
  std::string policy = {};               ///< of a supervisor's recording: whose ports are shown
  std::filesystem::path robot = {};      ///< the robot's description, for the binding
};

/// Returns the page of a bundle. Throws Error: what read_bundle() throws; LP961 for an invalid
/// bench report; LP651 and LP655 for a robot and a recording. Unreadable models and a failed
/// drawing are remarks on the page.
LEAPP_EXPORT std::string view_page(const std::filesystem::path& yaml,
                                   const ViewOptions& options = {});

/// Returns the page of the second bundle, with everything in which it differs from the first.
LEAPP_EXPORT std::string diff_page(const std::filesystem::path& before,
                                   const std::filesystem::path& after,
                                   const ViewOptions& options = {});

/// Nodes, ports, wires and files as a JSON object, for programs: what `leapp inspect --json`
/// prints.
LEAPP_EXPORT std::string to_json(const Bundle& bundle);

}  // namespace leapp
