// Records the operators inside an operator's implementation, to decompose one without converter.
//
// An operator of the user's own (torch.library, a C++ extension) reaches the recorder whole. Where
// a backend has no word for it, its implementation is run once more on copies of its arguments, and
// the operators that it calls are recorded on a tape of their own.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <memory>
#include <optional>

#include "trace/recording.h"

namespace leapp::trace {

struct Inside {
  std::unique_ptr<CaptureTable> captures;  ///< of the recording's tape
  /// Inputs: every tensor among the arguments, kNoId for absent ones; outputs: every result,
  /// those in lists one by one.
  Recording recording;
  std::vector<int> list_sizes;  ///< of each result; -1 for a tensor
};

/// Returns whether the operator is the user's and not PyTorch's.
bool is_users(const c10::OperatorHandle& op);

/// Returns whether it may be decomposed by record_inside(): composites decompose by themselves, and
/// kernels of PyTorch's use private memory, but for those that run another operator for each of a
/// list.
bool can_look_inside(const c10::OperatorHandle& op);

/// Records what the operator runs on such arguments; the calls get the frame of the one it stands
/// for. Nothing where the operators inside do not say how the results come about: the
/// implementation works on memory by itself, reads values, draws random numbers, or returns
/// something else than tensors. Throws what the implementation throws.
std::optional<Inside> record_inside(const c10::OperatorHandle& op,
                                    const torch::jit::Stack& arguments, FrameRef frame);

}  // namespace leapp::trace
