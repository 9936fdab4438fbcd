// One node of a shadow run: its model, its inputs, and its latest outputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leapp/tensor.h"
#include "leapp/trace/shadow.h"
#include "runtime/engines/node_executor.h"

namespace leapp::shadow {

/// The model and the executor, which runs it, must outlive it. Guarded by the run's lock.
class ShadowNode {
 public:
  /// The index of an output, and the program's value for it.
  using ExpectedOutput = std::pair<std::size_t, at::Tensor>;

  /// Origin of an input's value in the current pass.
  enum class Given : std::uint8_t { kNothing, kInput, kState };

  /// Shadows the model with that index in the bundle.
  ShadowNode(const Model& model, NodeExecutor& executor, std::size_t index);

  const Model& model() const noexcept { return *model_; }
  /// Returns the index of a port by its annotated name: "h" also stands for "h_in" and "h_out".
  std::optional<std::size_t> find_input(const std::string& name) const;
  std::optional<std::size_t> find_output(const std::string& name) const;

  /// Begins a pass without any input.
  void open();
  /// Begins a further pass in the same tick, on the inputs of the first one.
  void open_again();
  /// Sets an input to the program's value. A value that does not match the port is stored in
  /// `misfit`.
  void give(std::size_t input, const at::Tensor& value, Given as);
  void set_input(std::size_t input, const Tensor& value);
  const Tensor& input(std::size_t input) const { return executor_->input({index_, input}); }
  /// Keeps a copy of the program's value of an output; there may be several of one output.
  void expect_output(std::size_t output, const at::Tensor& value);
  std::span<const ExpectedOutput> expected() const noexcept {
    return {expected_.data(), expected_count_};
  }

  /// Runs the model on the current inputs. Its outputs take effect at commit().
  Result<void> run() noexcept { return executor_->run(index_); }
  void commit() noexcept { executor_->commit(index_); }
  const Tensor& result(std::size_t output) const { return executor_->result({index_, output}); }
  /// Returns the number of committed runs since the reset.
  std::uint64_t runs() const noexcept { return executor_->runs(index_); }
  void forget_runs() noexcept { executor_->forget(index_); }
  PortIndex at(std::size_t port) const noexcept { return {index_, port}; }

  ShadowNodeReport report;
  std::vector<Given> given;                ///< by input
  std::optional<ShadowDifference> misfit;  ///< an input that the model does not accept
  /// The node that plays its chunks (compile/playback.h). The program's outputs are those of that
  /// node, and its passes in which this one is not due are played.
  std::optional<std::size_t> player;
  bool is_open = false;
  bool waits = false;      ///< the program completed a pass that the bundle has not run yet
  std::int64_t turns = 0;  ///< number of these passes: several with a repeat in the schedule
  bool lost = false;       ///< its state differs from the program's
  bool returned = false;   ///< an annotated state had its initial value again in this pass
  bool agreed = true;      ///< the outputs agreed in the last tick
  bool differs = false;    ///< an output differs in this tick

 private:
  const Model* model_;
  NodeExecutor* executor_;
  std::size_t index_;
  std::vector<ExpectedOutput> expected_;  // reuses the memory of earlier passes
  std::size_t expected_count_ = 0;
};

}  // namespace leapp::shadow
