// Arguments of calls: comparison between two passes, and text.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

#include "trace/tape.h"

namespace leapp::trace {

/// Returns whether two values that are not tensors of a tape are equal. NaN equals NaN, and a
/// number wrapped in a tensor is compared by its elements.
bool same_argument(const c10::IValue& a, const c10::IValue& b);

/// Returns "0.5", "a tensor".
std::string text_of(const c10::IValue& value);

/// Does the same for an argument; "3 tensors" for a list of them.
std::string text_of(const Arg& arg);

}  // namespace leapp::trace
