// One node of a shadow run: its model, what it takes in, and what it put out lately.
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
#include "leapp/shadow.h"
#include "leapp/tensor.h"

namespace leapp::shadow {

/// The tensor's elements on the host, contiguous; shared where they are already.
at::Tensor on_host(const at::Tensor& tensor);

/// Owns its buffers; the engine's bindings are made once. The model must outlive it. Guarded by the
/// run's lock.
class ShadowNode {
 public:
  /// An output, and what the program has for it.
  using Told = std::pair<std::size_t, at::Tensor>;

  /// Where an input comes from that the program does not hand over.
  struct Inlet {
    std::size_t node = 0;
    std::size_t output = 0;
    bool feedback = false;
    bool last_tick = false;  ///< the source runs earlier in a tick, so its value before is meant
  };
  /// What an input holds in the pass under way.
  enum class Given : std::uint8_t { kNothing, kInput, kState };

  ShadowNode(const Model& model, std::unique_ptr<Engine> engine);
  ShadowNode(ShadowNode&&) = default;

  const Model& model() const noexcept { return *model_; }
  /// The index of a port, by its name as annotated: "h" also stands for "h_in", "h_out".
  std::optional<std::size_t> find_input(const std::string& name) const;
  std::optional<std::size_t> find_output(const std::string& name) const;

  /// Begins a pass: nothing is given.
  void open();
  /// Takes in what the program hands over. What does not fit the port is kept as `misfit`.
  void give(std::size_t input, const at::Tensor& value, Given as);
  void set_input(std::size_t input, const Tensor& value);
  /// Keeps a copy of what the program puts out; a second one for the same output counts as well.
  void tell(std::size_t output, const at::Tensor& value);
  std::span<const Told> told() const noexcept { return {told_.data(), told_count_}; }

  /// Runs the model on the inputs as they are; what it puts out counts from commit() on.
  Result<void> run() noexcept { return bindings_[next()]->run(); }
  void commit() noexcept { ++ran; }
  const Tensor& result(std::size_t output) const { return outputs_[next()][output]; }
  /// What it put out in the last committed run, or in the one before; null where there was none
  /// since the reset.
  const Tensor* put_out(std::size_t output, bool before) const;

  ShadowNodeReport report;
  std::vector<std::optional<Inlet>> inlets;    ///< by input
  std::vector<std::optional<Tensor>> initial;  ///< by input: of feedback
  std::vector<Tensor> inputs;
  std::vector<Given> given;                ///< by input
  std::optional<ShadowDifference> misfit;  ///< an input that the model cannot take
  bool is_open = false;
  bool waits = false;     ///< the program completed a pass that was not run yet
  bool lost = false;      ///< its state differs from the program's
  bool returned = false;  ///< in this pass an annotated state was at its initial value again
  bool agreed = true;     ///< in the last tick
  bool differs = false;   ///< in this one, so that it counts once
  std::uint64_t ran = 0;  ///< committed runs since the reset

 private:
  std::size_t next() const noexcept { return ran % 2; }

  const Model* model_;
  std::unique_ptr<Engine> engine_;
  std::vector<Told> told_;  // keeps the memory of passes before
  std::size_t told_count_ = 0;
  std::array<std::vector<Tensor>, 2> outputs_;
  std::array<std::unique_ptr<Binding>, 2> bindings_;
};

}  // namespace leapp::shadow
