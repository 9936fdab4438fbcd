// Arguments of calls, compared between two passes and put in words.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

#include "trace/tape.h"

namespace leapp::trace {

/// Returns whether two values that are not tensors of a tape are equal. NaN equals NaN, and a
/// number wrapped in a tensor is compared by its elements.
bool same_argument(const c10::IValue& a, const c10::IValue& b);

/// "0.5", "a tensor".
std::string text_of(const c10::IValue& value);

/// Likewise; "3 tensors" for a list of them.
std::string text_of(const Arg& arg);

}  // namespace leapp::trace
