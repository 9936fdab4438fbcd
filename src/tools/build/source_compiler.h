// Compiles a generated C++ source with a compiler of the system's.
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

/// Returns the first that is there of $CXX, c++, g++ and clang++; empty when none is.
LEAPP_EXPORT std::string find_compiler();

/// Returns the first lines of what a compiler says to one option, "-dumpmachine" say. Throws
/// Error(kNoCompiler) when it cannot be run.
LEAPP_EXPORT std::string ask_compiler(const std::string& compiler, const std::string& option);

/// Makes a shared object of sources. Waits for the compiler; no shell is involved. Throws
/// Error(kNoCompiler) with what the compiler said.
LEAPP_EXPORT void compile_sources(const std::vector<std::filesystem::path>& sources,
                                  const std::filesystem::path& library,
                                  const CompileCommand& command = {});

}  // namespace leapp
