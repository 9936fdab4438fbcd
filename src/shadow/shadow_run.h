// A running shadow run: the nodes of the bundle, and the reaction to each annotation.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "leapp/trace/shadow.h"
#include "runtime/loader.h"
#include "session/shadowing.h"
#include "shadow/shadow_node.h"
#include "trace/source.h"

namespace leapp::shadow {

/// A shadow run. The models run when the program has completed a pass of every node, or starts a
/// second one of a node: engines and PyTorch compete for the processor's caches, and alternating at
/// each annotation costs more than the models. With a schedule, they run when the program starts
/// the next tick: with a node that ran in this tick, or that runs before one that did. One lock
/// protects everything. Warnings are logged after its release, because the program's line is read
/// from Python's frames.
class ShadowRun final : public session::Shadowing {
 public:
  /// Throws the errors of loading.
  ShadowRun(const std::filesystem::path& yaml, const ShadowOptions& options);

  void inputs(const std::string& node, const NamedTensors& tensors) override;
  void states(const std::string& node, const NamedTensors& tensors) override;
  void updates(const std::string& node, const NamedTensors& tensors) override;
  void outputs(const std::string& node, const NamedTensors& tensors,
               const NamedTensors& static_outputs) override;
  void abandon(const std::string& node) noexcept override;

  void reset();
  /// Runs all pending nodes.
  void finish();
  ShadowReport report();

 private:
  // A pass that the program completed, and its line.
  struct Pass {
    std::size_t node = 0;
    trace::FrameRef where;
  };

  // A message that is logged after the lock is released.
  struct Remark {
    std::size_t node = 0;
    Code code = Code::kShadowDiffers;
    std::string text;
    trace::FrameRef where;
  };

  void load(const RuntimeOptions& options);
  void find_players();
  ShadowNode* find(const std::string& node);
  bool is_initial(const ShadowNode& node, std::size_t input, const ConstTensorView& value) const;
  bool close(const ConstTensorView& program, const ConstTensorView& bundle) const;
  void follow_state(ShadowNode& node, std::size_t input);
  void check_wire(ShadowNode& node, std::size_t input);
  bool fill_state(ShadowNode& node);
  bool set_hidden_to_initial(ShadowNode& node);
  void step(ShadowNode& node);
  std::optional<ShadowDifference> judge(const ShadowNode& node) const;
  bool was_reset(ShadowNode& node);
  bool draws_random_numbers(ShadowNode& node);
  void differ(ShadowNode& node, ShadowDifference difference, std::string text);
  void say(const ShadowNode& node, Code code, std::string text);
  bool starts_tick(const ShadowNode& node) const;
  std::vector<Remark> run_passes();
  void run_tick();
  void differ_in_time(ShadowNode& node, bool ran);
  void hand_out(const std::vector<Remark>& remarks);

  Bundle bundle_;
  NodeExecutor executor_;
  Tolerance tolerance_;
  std::mutex mutex_;
  std::vector<ShadowNode> nodes_;
  std::vector<std::string> unknown_;
  std::vector<Pass> passes_;  // completed, but not run yet
  trace::FrameRef where_;     // line of the pass that is being run
  std::vector<Remark> remarks_;
  bool reports_resets_ = false;  // the program reports resets itself
};

}  // namespace leapp::shadow
