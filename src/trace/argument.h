// Arguments of calls, compared between two passes and put in words.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>

#include "trace/tape.h"

namespace leapp::trace {

/// Whether two values that are no tensors of a tape are the same. One that is not a number is the
/// same as another; a number in a tensor's clothes goes by its elements.
bool same_argument(const c10::IValue& a, const c10::IValue& b);

/// "0.5", "a tensor".
std::string text_of(const c10::IValue& value);

/// Likewise; "3 tensors" for a list of them.
std::string text_of(const Arg& arg);

}  // namespace leapp::trace
