// The operators of PyTorch that an untrusted model may use: those that compute tensors and numbers
// from tensors and numbers, and have no other effect. docs/explanation/security.md explains the
// purpose.
#pragma once

#include <string_view>

#include "leapp/visibility.h"

namespace leapp {

/// Returns whether an operator of the namespaces `aten` and `prim`, such as "add" or "add_", is on
/// the list.
LEAPP_EXPORT bool only_computes(std::string_view name) noexcept;

/// Returns whether a word of TorchScript that is not an operator does more than compute: "print",
/// "fork".
LEAPP_EXPORT bool is_action(std::string_view word) noexcept;

}  // namespace leapp
