// A shadow run: the annotated program goes on, and its bundle runs beside it on the same inputs.
//
//   leapp::Shadow run("walker/walker.yaml");
//   while (walking) step();  // the program, with its annotations, as it is
//   std::cout << to_string(run.report());
//
// A short trace cannot show what a program does in tick 700. While a Shadow is alive every
// annotation outside of a tracing session also feeds the bundle: each model runs on the inputs that
// its node took in, and every output is compared with the program's. They run together once a tick:
// when every node was passed, or one begins its next pass. State is the bundle's own, as it is on
// the robot, so that a wrong one shows. The first difference of a node is a warning (LP944) with
// port, tick, error and the program's line. What a node with state of its own puts out after that
// would differ for the same reason, so it is not judged again before a reset. Other nodes go on
// being compared: they take in what the program hands them.
//
// The program may begin an episode anew. Where it says so, by reset(), its word counts. Where it
// never does, a node whose outputs agree once its state is at its initial values again was reset:
// this is followed, with a warning (LP945) unless an annotated state shows the same.
//
// One at a time per process, and none while a session is tracing (LP946). Any thread may annotate;
// begin and end it while none does.
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
  BundleOptions bundle = {};  ///< how far the bundle is trusted
};

/// Where program and bundle came apart.
struct ShadowDifference {
  std::string port;            ///< of the node, as it was annotated
  std::uint64_t tick = 0;      ///< of the node in this run, counted from 1
  std::string where = {};      ///< the program's line; may be empty
  std::string text = {};       ///< what happened
  Comparison comparison = {};  ///< `traced` is the program's value, `exported` the bundle's
};

/// What was seen of one node.
struct ShadowNodeReport {
  std::string node;
  std::uint64_t ticks = 0;      ///< passes that the program completed
  std::uint64_t compared = 0;   ///< of these
  std::uint64_t differing = 0;  ///< of these: an output, a state or an input did
  std::uint64_t unjudged = 0;   ///< ran after a difference that the state had carried on
  std::uint64_t abandoned = 0;  ///< passes that were begun and not completed
  std::uint64_t resets = 0;     ///< of its state, that were followed
  std::string not_compared;     ///< why nothing was; empty otherwise
  std::optional<ShadowDifference> first;
};

struct ShadowReport {
  std::vector<ShadowNodeReport> nodes;  ///< as in the bundle
  std::vector<std::string> unknown;     ///< nodes of the program that the bundle does not have

  /// Every node was compared, and none differed. Nodes that cannot be compared do not count.
  LEAPP_EXPORT bool passed() const noexcept;
};

/// Lines for people.
LEAPP_EXPORT std::string to_string(const ShadowReport& report);
/// A JSON document with everything.
LEAPP_EXPORT std::string to_json(const ShadowReport& report);

class LEAPP_EXPORT Shadow {
 public:
  /// Loads the bundle, each node by itself, and begins. Throws Error: what loading throws, and
  /// kNotShadowed while a session or another shadow run is on.
  explicit Shadow(const std::filesystem::path& yaml, const ShadowOptions& options = {});
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// The program has set its state to its initial values.
  void reset();

  /// Ends the run; annotations do nothing again. A second call does nothing.
  void stop();

  /// What was seen so far.
  ShadowReport report() const;

 private:
  std::unique_ptr<shadow::ShadowRun> run_;
};

}  // namespace leapp
