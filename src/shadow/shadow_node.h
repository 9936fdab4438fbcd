// One node of a shadow run: its model, its inputs, and its latest outputs.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leapp/engine.h"
#include "leapp/tensor.h"
#include "leapp/trace/shadow.h"

namespace leapp::shadow {

/// Returns the tensor's elements on the host, contiguous; shares them if they are there already.
at::Tensor on_host(const at::Tensor& tensor);

/// Owns its buffers; the engine's bindings are made once. The model must outlive it. Guarded by the
/// run's lock.
class ShadowNode {
 public:
  /// The index of an output, and the program's value of it.
  using ExpectedOutput = std::pair<std::size_t, at::Tensor>;

  /// The source of an input that the program does not give.
  struct IncomingWire {
    std::size_t node = 0;
    std::size_t output = 0;
    bool feedback = false;
    bool last_tick =
        false;  ///< the source runs earlier in the tick; the wire carries its former value
  };
  /// Origin of an input's value in the pass under way.
  enum class Given : std::uint8_t { kNothing, kInput, kState };

  ShadowNode(const Model& model, std::unique_ptr<Engine> engine);
  ShadowNode(ShadowNode&&) = default;

  const Model& model() const noexcept { return *model_; }
  /// Returns the index of a port by its annotated name: "h" also stands for "h_in" and "h_out".
  std::optional<std::size_t> find_input(const std::string& name) const;
  std::optional<std::size_t> find_output(const std::string& name) const;

  /// Begins a pass without any input.
  void open();
  /// Sets an input to the program's value. A value that does not fit the port becomes `misfit`.
  void give(std::size_t input, const at::Tensor& value, Given as);
  void set_input(std::size_t input, const Tensor& value);
  /// Keeps a copy of the program's value of an output; there may be several of one output.
  void expect_output(std::size_t output, const at::Tensor& value);
  std::span<const ExpectedOutput> expected() const noexcept {
    return {expected_.data(), expected_count_};
  }

  /// Runs the model on the present inputs. Its outputs count from commit() on.
  Result<void> run() noexcept { return bindings_[next()]->run(); }
  void commit() noexcept { ++ran; }
  const Tensor& result(std::size_t output) const { return outputs_[next()][output]; }
  /// Returns the output of the last committed run, or of the one before; nullptr if there was none
  /// since the reset.
  const Tensor* put_out(std::size_t output, bool before) const;

  ShadowNodeReport report;
  std::vector<std::optional<IncomingWire>> incoming_wires;  ///< by input
  std::vector<std::optional<Tensor>> initial;               ///< by input: of feedback
  std::vector<Tensor> inputs;
  std::vector<Given> given;                ///< by input
  std::optional<ShadowDifference> misfit;  ///< an input that the model cannot take
  bool is_open = false;
  bool waits = false;     ///< the program completed a pass that the bundle has not run yet
  bool lost = false;      ///< its state differs from the program's
  bool returned = false;  ///< in this pass an annotated state was at its initial value again
  bool agreed = true;     ///< the outputs agreed in the last tick
  bool differs = false;   ///< some output differs in this tick
  std::uint64_t ran = 0;  ///< committed runs since the reset

 private:
  std::size_t next() const noexcept { return ran % 2; }

  const Model* model_;
  std::unique_ptr<Engine> engine_;
  std::vector<ExpectedOutput> expected_;  // reuses the memory of earlier passes
  std::size_t expected_count_ = 0;
  std::array<std::vector<Tensor>, 2> outputs_;
  std::array<std::unique_ptr<Binding>, 2> bindings_;
};

}  // namespace leapp::shadow
