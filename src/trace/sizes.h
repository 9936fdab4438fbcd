// Data-dependent shapes during recording.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <functional>
#include <optional>
#include <vector>

#include "trace/dynamic_dims.h"
#include "trace/tape.h"

namespace leapp::trace {

// The warning for a data-dependent size that becomes a constant.
inline constexpr const char* kSizeRead =
    "the program reads the size of a tensor with a data-dependent shape (len(), .shape, .numel()). "
    "The size during tracing is exported as a constant. Use torch.where() or a sum over the mask "
    "to keep sizes fixed.";
inline constexpr const char* kFixedSize =
    " reads a tensor with a data-dependent shape and works only with the traced number of "
    "elements, so the model is specialised to that number. Use torch.where() or a sum over the "
    "mask to keep sizes fixed.";
inline constexpr const char* kDynamicPort =
    " has a data-dependent shape, so the model is specialised to the traced shape. Use "
    "torch.where() or a sum over the mask to keep sizes fixed.";

/// The sizes of a call's results that depend on traced values: requested before the call runs,
/// computed after it without a lock, then stored on the tape.
class SizeQuestion {
 public:
  SizeQuestion(torch::jit::Stack arguments, std::vector<DynamicDims> dynamic)
      : arguments_(std::move(arguments)), dynamic_(std::move(dynamic)) {}

  /// Computes the sizes from `stack`, which ends with the operator's results.
  void answer(const c10::OperatorHandle& op, const torch::jit::Stack& stack);
  /// Marks the results. Returns whether any size varies.
  bool note(Tape& tape) const;

 private:
  torch::jit::Stack arguments_;
  std::vector<DynamicDims> dynamic_;
  torch::jit::Stack returned_;
  SizeTrial trial_;
};

/// Returns the request, if the call needs one. `is_state` identifies tensors that nodes write to,
/// because a mask of the program may be one of them.
std::optional<SizeQuestion> ask_sizes(Tape& tape, const c10::OperatorHandle& op,
                                      const c10::IValue* arguments,
                                      const std::function<bool(const at::Tensor&)>& is_state);

/// Returns whether the operator is index_put in one of its forms.
bool writes_by_index(const c10::OperatorHandle& op);

/// Returns the values before a squeeze, as far as index_put accepts them: `y[mask] = values` drops
/// leading dimensions of size one in `values`, also if that size is only the number of elements
/// that the mask selected in this run.
VarId before_squeeze(Tape& tape, const c10::IValue* arguments, VarId values);

}  // namespace leapp::trace
