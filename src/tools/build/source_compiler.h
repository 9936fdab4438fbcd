// Compiles a generated C++ source with a compiler of the system.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "leapp/visibility.h"

namespace leapp {

struct CompileCommand {
  /// A command or a path; empty: find_compiler().
  std::string compiler = {};
  /// Flags in addition to those for a shared object of C++20.
  std::vector<std::string> flags = {"-O2"};
};

/// Returns the first of $CXX, c++, g++ and clang++ that exists; empty if none does.
LEAPP_EXPORT std::string find_compiler();

/// Returns the first lines of a compiler's output for one option, for example "-dumpmachine".
/// Throws Error(kNoCompiler) if it cannot be run.
LEAPP_EXPORT std::string ask_compiler(const std::string& compiler, const std::string& option);

/// Compiles sources to a shared object. Waits for the compiler; uses no shell. Throws
/// Error(kNoCompiler) with the compiler's output.
LEAPP_EXPORT void compile_sources(const std::vector<std::filesystem::path>& sources,
                                  const std::filesystem::path& library,
                                  const CompileCommand& command = {});

}  // namespace leapp
