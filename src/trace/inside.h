// Records the operators inside an operator's implementation, to decompose one without a converter.
//
// An operator of the user's own (torch.library, a C++ extension) reaches the recorder whole. If a
// backend does not support it, its implementation runs once more on copies of its arguments, and
// the operators that it calls are recorded on a separate tape.
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
  std::vector<int> list_sizes;  ///< for each result; -1 for a tensor
};

/// Returns whether the operator is in libtorch, which every TorchScript model needs anyway.
bool is_aten(const c10::OperatorHandle& op);

/// Returns whether the operator is a custom one, and neither in libtorch nor in PyTorch's Python
/// package.
bool is_users(const c10::OperatorHandle& op);

/// Returns whether record_inside() may decompose it. Composites decompose by themselves, and
/// PyTorch's kernels use private memory, except those that run another operator for each item of a
/// list.
bool can_look_inside(const c10::OperatorHandle& op);

/// Records the operators that the implementation runs on such arguments; the calls get the frame of
/// the original call. Returns nothing if these operators do not determine the results: the
/// implementation accesses memory directly, reads values, draws random numbers, or returns
/// something other than tensors. Throws the errors of the implementation.
std::optional<Inside> record_inside(const c10::OperatorHandle& op,
                                    const torch::jit::Stack& arguments, FrameRef frame);

}  // namespace leapp::trace
