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

/// Those for a target, the simplest first. One where the flags choose a processor themselves.
std::vector<NativeVariant> native_variants(const std::string& target,
                                           const std::vector<std::string>& flags);

/// Optimised for speed. Nothing reads errno or the floating-point exception flags, and vectors need
/// not keep them; the numbers are those of IEEE 754 all the same.
std::vector<std::string> native_flags();

}  // namespace leapp
