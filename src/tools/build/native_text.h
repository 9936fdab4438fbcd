// How generated C++ is compiled: flags, variants for processors.
#pragma once

#include <string>
#include <vector>

namespace leapp {

/// The same source for one kind of processor.
struct NativeVariant {
  std::string name;  ///< part of symbols
  std::vector<std::string> flags;
  std::string condition;  ///< C++ that holds where it can run; empty: everywhere
};

/// Returns the variants for a target, the simplest first; one variant if the flags select a
/// processor.
std::vector<NativeVariant> native_variants(const std::string& target,
                                           const std::vector<std::string>& flags);

/// Returns flags that optimise for speed. Code may ignore errno and the floating-point exception
/// flags; numbers follow IEEE 754.
std::vector<std::string> native_flags();

}  // namespace leapp
