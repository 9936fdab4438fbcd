// Replays calls of a recording on other tensors; used by purify() and Replay.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "trace/recording.h"

namespace leapp::trace {

/// Maps variables to tensors while the calls of a recording are replayed. The recording and the
/// slots must outlive it. For one replay, on one thread.
class Replayer {
 protected:
  Replayer(const Recording& recording, const std::vector<StateSlot>& slots);
  ~Replayer() = default;

  /// Returns a tensor with these elements that calls may write to.
  virtual at::Tensor writable(const at::Tensor& content) = 0;
  /// Returns the program's name for a tensor, for messages; may be empty.
  virtual std::string name_of(const at::Tensor& tensor) const = 0;

  /// Returns the value with the variable's strides, so that a recorded as_strided() refers to the
  /// same elements.
  at::Tensor laid_out(VarId var, const at::Tensor& value) const;
  at::Tensor tensor_of(VarId var);
  /// Returns the content of an external tensor during tracing.
  at::Tensor tensor_content(VarId var) const;
  torch::jit::Stack arguments_of(std::int32_t index);
  void assign(const CallResult& result, const c10::IValue& value);

  const Recording& recording_;
  const std::vector<StateSlot>& slots_;
  const Tape& tape_;
  std::map<VarId, at::Tensor> values_;  // the tensor of each variable during the replay
  std::map<Site, std::size_t> given_;   // sites that read that slot
  std::vector<at::Tensor> slot_inputs_;

 private:
  void find_written_stores();
  at::Tensor tensor_at(const Site& site, VarId var);
  c10::IValue argument_of(const Site& site, const Arg& arg, const c10::Argument& declared);

  std::vector<bool> written_;  // per store: true if a replayed call writes to it
};

/// Runs a recording in ATen on other inputs: the reference for the exported model.
class Replay final : private Replayer {
 public:
  /// Prepares the replay of `recording` with its calls; see calls_for().
  Replay(const Recording& recording, const std::vector<StateSlot>& slots)
      : Replayer(recording, slots) {}

  struct Values {
    std::vector<at::Tensor> outputs;  ///< of the recorded ports
    std::vector<at::Tensor> after;    ///< values of each slot; undefined if the pass only reads it
  };
  /// Runs once with one tensor for each recorded input and each slot, which it does not change.
  /// Throws c10::Error if an operator rejects them.
  Values run(const std::vector<at::Tensor>& inputs, const std::vector<at::Tensor>& states) &&;

 private:
  at::Tensor writable(const at::Tensor& content) override;
  std::string name_of(const at::Tensor&) const override { return {}; }
};

}  // namespace leapp::trace
