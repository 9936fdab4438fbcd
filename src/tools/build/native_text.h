// Compiler flags for generated C++, and variants for processors.
#pragma once

#include <string>
#include <vector>

namespace leapp {

/// A variant of the library for a kind of processor, compiled from the same source.
struct NativeVariant {
  std::string name;  ///< used in symbols
  std::vector<std::string> flags;
  std::string condition;  ///< C++ condition for processors that can run it; empty: all
};

/// Returns the variants for a target, the simplest first, or only one if the flags select a
/// processor.
std::vector<NativeVariant> native_variants(const std::string& target,
                                           const std::vector<std::string>& flags);

/// Returns flags that optimise for speed. Code may ignore errno and the floating-point exception
/// flags; arithmetic follows IEEE 754.
std::vector<std::string> native_flags();

}  // namespace leapp
