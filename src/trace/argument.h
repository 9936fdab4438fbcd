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

/// Returns the text of an argument; "3 tensors" for a list of tensors.
std::string text_of(const Arg& arg);

}  // namespace leapp::trace
