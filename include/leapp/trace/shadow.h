// A shadow run: the bundle runs next to its annotated program on the same inputs.
//
//   leapp::Shadow run("walker/walker.yaml");
//   while (walking) step();  // the program, with its annotations, as it is
//   std::cout << to_string(run.report());
//
// A short trace cannot show the program's behaviour in tick 700. While a Shadow is alive, every
// annotation outside a tracing session also feeds the bundle: each model runs on the inputs of its
// node, and every output is compared with the program's. The models run once per tick: after every
// node has finished its pass, or when one starts its next pass. The bundle keeps its own state, as
// on the robot, so wrong state shows. The first difference of a node is a warning (LP944) with
// port, tick, error and the program's line. Later outputs of a node with its own state would differ
// for the same reason, so it is not compared again before a reset. Other nodes are still compared:
// they receive the program's values.
//
// The program may start a new episode and call reset(). If it never does, a node whose outputs
// agree with its initial state is treated as reset, with a warning (LP945) unless an annotated
// state shows the same.
//
// One at a time per process, and none while a session is tracing (LP946). Any thread may annotate;
// create and end the run while none does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "leapp/bundle.h"
#include "leapp/comparison.h"
#include "leapp/visibility.h"

namespace leapp {

namespace shadow {
class ShadowRun;
}

struct ShadowOptions {
  Tolerance tolerance = {};
  BundleOptions bundle = {};  ///< trust in the bundle
};

/// First difference between program and bundle.
struct ShadowDifference {
  std::string port = {};       ///< name as annotated; empty if the node ran at another time
  std::uint64_t tick = 0;      ///< pass of the node in this run, counted from 1
  std::string where = {};      ///< the program's line; may be empty
  std::string text = {};       ///< description of the difference
  Comparison comparison = {};  ///< `traced` is the program's value, `exported` the bundle's
};

/// Results of one node.
struct ShadowNodeReport {
  std::string node;
  std::uint64_t ticks = 0;      ///< passes that the program completed
  std::uint64_t compared = 0;   ///< of these
  std::uint64_t differing = 0;  ///< passes in which an output, a state or an input differed
  std::uint64_t unjudged = 0;   ///< passes after a difference that the state carries on
  std::uint64_t abandoned = 0;  ///< passes that were begun but not completed
  std::uint64_t resets = 0;     ///< resets of its state that were followed
  std::string not_compared;     ///< why nothing was compared; otherwise empty
  std::optional<ShadowDifference> first;
};

struct ShadowReport {
  std::vector<ShadowNodeReport> nodes;  ///< nodes as in the bundle
  std::vector<std::string> unknown;     ///< nodes of the program that are missing in the bundle

  /// Returns whether every node was compared and none differed. Nodes that cannot be compared are
  /// ignored.
  LEAPP_EXPORT bool passed() const noexcept;
};

/// Returns the report as text.
LEAPP_EXPORT std::string to_string(const ShadowReport& report);
/// Returns a JSON document with everything.
LEAPP_EXPORT std::string to_json(const ShadowReport& report);

class LEAPP_EXPORT Shadow {
 public:
  /// Loads each node of the bundle separately, and begins. Throws the errors of loading, and
  /// kNotShadowed while a session or another shadow run is active.
  explicit Shadow(const std::filesystem::path& yaml, const ShadowOptions& options = {});
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// Reports that the program has set its state to its initial values.
  void reset();

  /// Ends the run; annotations then have no effect. A second call does nothing.
  void stop();

  /// Returns the results so far.
  ShadowReport report() const;

 private:
  std::unique_ptr<shadow::ShadowRun> run_;
};

}  // namespace leapp
